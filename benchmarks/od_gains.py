"""What each part of a table that learns is worth: the same release without it.

Printed are errors of cells, origins, pairs, zones and periods over those of the whole mechanism:
above 1 what was changed was better before. One trip protected; Ann Arbor always, bike share and
green taxi if HUSHWAY_DATA names a folder that holds them. Run by hand:
`python benchmarks/od_gains.py [runs] [epsilons] [scenes]`, scenes with `;` between them.
"""

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from harness import keep, positional
from hushway.arrays import FloatArray
from hushway.families.od.fit import learned as learned_fit
from hushway.families.od.fit.learning import empirical_bayes as learning
from hushway.families.od.fit.learning import likelihood, prior, sum_errors
from hushway.families.od.fit.reconciliation.reconcile import Reconciled
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism import shares
from hushway.families.od.mechanism.learned import Learned, od_learned, with_ends
from hushway.families.od.mechanism.shares import learned_shares
from hushway.families.od.planning.trial import ODScene
from hushway.families.od.public.cells import ODCells
from hushway.privacy.loss import PureLoss
from hushway.release.mechanism import Mechanism
from od_defaults import scenes
from od_learning import bound_of, by_mechanism, errors, learned

Change = tuple[Any, str, Any]
LOOKED_AT = ("rmse", "L1", "origins", "pairs", "zones", "period")


def always_ends(scene: ODScene, budget: PureLoss) -> Learned:
    features = with_ends(scene.cells, scene.features)
    split = learned_shares(features, budget, bound_of(scene))
    return od_learned(scene.cells, features, budget=budget, shares=split)


def never_ends(scene: ODScene, budget: PureLoss) -> Learned:
    split = learned_shares(scene.features, budget, bound_of(scene))
    return od_learned(scene.cells, scene.features, budget=budget, shares=split)


def apart(mean: FloatArray, _variance: FloatArray, sums: Any, **_: Any) -> Reconciled:
    totals = tuple(each.partition.sums(mean) for each in sums)
    return Reconciled(values=mean, totals=totals, bound=0.0, steps=0)


def one_factor(lines: int) -> FloatArray:
    weights = np.zeros((lines, likelihood.COLUMNS))
    weights[:, likelihood.UNCHANGED] = 1.0
    return weights


class NoLines(learning.LineMixture):
    """Lines without a factor of their own."""

    def run_em(self, likelihood: FloatArray) -> FloatArray:
        """Returns the factor 1 for all."""
        return one_factor(len(likelihood))

    def weights(self, likelihood: FloatArray) -> FloatArray:
        """Returns the factor 1 for all."""
        return one_factor(len(likelihood))

    @staticmethod
    def start(expected: FloatArray, laws: FloatArray) -> "NoLines":
        """Returns lines that learn nothing."""
        started = _START(expected, laws)
        return NoLines(
            kind=started.kind, laws=started.laws, shares=started.shares, often=started.often
        )


_START = learning.LineMixture.start


def no_empty_cells(*reach: int) -> FloatArray:
    """Returns the laws without those that leave most counts empty."""
    return _LAWS(*reach)[:5]


_LAWS = likelihood.mixture_components

Make = Callable[[ODScene, PureLoss], Mechanism[ODCells, ODTable]]

PARTS: dict[str, tuple[Make, tuple[Change, ...]]] = {
    "whole": (learned, ()),
    "no factor of pairs": (learned, ((learning, "LineMixture", NoLines),)),
    "no zero inflation": (learned, ((learning, "mixture_components", no_empty_cells),)),
    "no distances": (learned, ((prior, "_ROUNDS_OF_DISTANCE", 0),)),
    "no coarse share": (learned, ((prior, "_COARSE", 0.0),)),
    "no surprises": (learned, ((likelihood, "_SURPRISE", 1e-200),)),
    "ends always measured": (always_ends, ()),
    "ends never measured": (never_ends, ()),
    "sums not joined": (learned, ((learned_fit, "reconcile", apart),)),
    "cells give way freely": (learned, ((sum_errors, "_FIRM", 0.0),)),
    "cells always .55": (learned, ((shares, "_CELLS_AT_ONE", 0.55), (shares, "_CELLS_GROW", 0.0))),
    "cells always .92": (learned, ((shares, "_CELLS_AT_ONE", 0.92), (shares, "_CELLS_GROW", 0.0))),
}


@contextmanager
def changed(changes: tuple[Change, ...]) -> Iterator[None]:
    before = [(where, name, getattr(where, name)) for where, name, _ in changes]
    for where, name, value in changes:
        setattr(where, name, value)
    try:
        yield
    finally:
        for where, name, value in before:
            setattr(where, name, value)


def measured(scene: ODScene, epsilon: Fraction, part: str, runs: int) -> dict[str, float]:
    make, changes = PARTS[part]
    release = by_mechanism(make)
    with changed(changes):
        found = [errors(scene, release(scene, epsilon, run)[0], None) for run in range(runs)]
    return {key: statistics.mean(one[key] for one in found) for key in LOOKED_AT}


def main(
    runs: int = 3, epsilons: tuple[str, ...] = ("0.1", "1", "4"), only: str = ""
) -> list[dict[str, object]]:
    """Prints a table for every scene and budget, and returns all rows."""
    rows: list[dict[str, object]] = []
    for name, scene in scenes():
        if only and name not in only.split(";"):
            continue
        for epsilon in epsilons:
            print(f"\n{name}, epsilon {epsilon} ({runs} runs)", flush=True)
            whole = measured(scene, Fraction(epsilon), "whole", runs)
            for part in PARTS:
                found = measured(scene, Fraction(epsilon), part, runs)
                ratios = {key: found[key] / whole[key] for key in LOOKED_AT}
                rows.append({"scene": name, "epsilon": epsilon, "part": part, **ratios})
                text = " ".join(f"{key} {value:.3f}" for key, value in ratios.items())
                print(f"{part:<26} {text}", flush=True)
    return rows


if __name__ == "__main__":
    how_often, budgets, which = positional("3", "0.1,1,4", "")
    keep("od_gains", main(int(how_often), tuple(budgets.split(",")), which))
