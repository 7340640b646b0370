"""How good a density is for crowds of 500 to 2,000,000, beside simple ways to spend the budget.

Errors are roots of mean squares over all areas and bins of a typical week, against the truth. An
interval is 1.96 standard errors; what it holds is told by size of the true count, and by size of
the published one with the mean error of these. Real sets run if HUSHWAY_DATA names a folder that
holds them. Run by hand: `python benchmarks/density_crowds.py [runs [set ...]]`, or with
`--intervals` for these alone.

The default chooses limits and noise by itself. Peers have limits that suit each set, and whichever
noise is quieter for these.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from density_peers import PEERS
from density_sets import Crowd, held_out, sets, unseen
from harness import keep
from hushway.arrays import FloatArray
from hushway.families.density.mechanism.people import DensityPeople, quieter_budget
from hushway.families.density.planning.trial import BoundedCity
from hushway.privacy.loss import ZCDPLoss

EPSILONS = ("0.3", "1", "4")
DELTA = Fraction(2, 10**6)
SIZES = {"0": (0, 0.5), "1-5": (0.5, 5.5), "6-20": (5.5, 20.5), "21-100": (20.5, 100.5)}
SIZES["more"] = (100.5, float("inf"))
OURS = "default"
# Counts of one size, below which nothing is said about them.
FEWEST = 30


def rmse(truth: FloatArray, counts: FloatArray) -> float:
    return float(np.sqrt(((truth - counts) ** 2).mean()))


def held(
    truth: FloatArray, counts: FloatArray, errors: FloatArray, *, by: FloatArray
) -> dict[str, float]:
    """Returns the share of counts within 1.96 standard errors, by size of some numbers."""
    return by_size(np.abs(truth - counts) <= 1.96 * errors, by)


def by_size(numbers: NDArray[Any], by: FloatArray) -> dict[str, float]:
    """Returns means of numbers by size of others, where there are enough of that size."""
    classes = {name: (by >= low) & (by < high) for name, (low, high) in SIZES.items()}
    return {name: float(numbers[of].mean()) for name, of in classes.items() if of.sum() >= FEWEST}


def default(crowd: Crowd, epsilon: str) -> tuple[DensityPeople, BoundedCity]:
    """Returns the mechanism of a plan that says nothing of it, and visits bounded as it chooses."""
    budget = quieter_budget(Fraction(epsilon), DELTA, None)
    people = DensityPeople(budget=budget, max_visits=None, max_visits_in_total=None)
    return people, crowd.bounded(people.limits, people.ladder)


def study(crowd: Crowd, epsilon: str, runs: int) -> dict[str, Any]:
    budget = quieter_budget(Fraction(epsilon), DELTA, crowd.city.limits.max_visits)
    city = crowd.bounded(replace(crowd.city.limits, one_in_a_bin=isinstance(budget, ZCDPLoss)))
    found: dict[str, list[float]] = {name: [] for name in (OURS, *PEERS)}
    mechanism, ours = default(crowd, epsilon)
    kept: list[dict[str, float]] = []
    totals = []
    truth = crowd.truth.sum(axis=1)
    for seed in range(runs):
        table = mechanism.fit(ours.measured(mechanism, seed), ours.universe)
        found[OURS].append(rmse(crowd.truth, table.counts))
        kept.append(held(crowd.truth, table.counts, table.standard_error, by=crowd.truth))
        totals.append(np.abs(table.counts.sum(axis=1) - truth).sum() / truth.sum())
        for name, peer in PEERS.items():
            found[name].append(rmse(crowd.truth, peer(city, budget, seed)))
    return {
        "rmse": {name: float(np.mean(errors)) for name, errors in found.items()},
        "held": mean_of(kept),
        "area totals off": float(np.mean(totals)),
    }


def mean_of(found: list[dict[str, float]]) -> dict[str, float]:
    """Returns means over runs of what each size has, by size."""
    return {
        size: float(np.mean([one[size] for one in found if size in one]))
        for size in SIZES
        if any(size in one for one in found)
    }


def intervals(runs: int = 3, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Prints what intervals hold, of every set unless some are named; returns all rows."""
    rows = []
    for name, make in (*sets(), *held_out(), *unseen()):
        if names and name not in names:
            continue
        crowd = make()
        for epsilon in EPSILONS:
            mechanism, ours = default(crowd, epsilon)
            true, published, width = [], [], []
            for seed in range(100, 100 + runs):
                table = mechanism.fit(ours.measured(mechanism, seed), ours.universe)
                counts, errors = table.counts, table.standard_error
                true.append(held(crowd.truth, counts, errors, by=crowd.truth))
                published.append(held(crowd.truth, counts, errors, by=counts))
                width.append(by_size(errors, counts))
            found = {
                "true": mean_of(true),
                "published": mean_of(published),
                "error": mean_of(width),
            }
            rows.append({"set": name, "epsilon": epsilon, **found})
            told = (
                f"{size} {found['published'][size]:.0%} (error {found['error'][size]:.1f})"
                for size in found["published"]
            )
            by_truth = (f"{size} {share:.0%}" for size, share in found["true"].items())
            print(f"{name}, epsilon {epsilon}: published {', '.join(told)}; ", end="")
            print(f"true {', '.join(by_truth)}", flush=True)
    return rows


def main(runs: int = 3, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Prints a table of every set; returns all rows."""
    rows = []
    kinds = {"chosen on": sets, "looked at": held_out, "unseen": unseen}
    for kind, named in kinds.items():
        for name, make in named():
            if names and name not in names:
                continue
            crowd = make()
            areas, bins = crowd.truth.shape
            print(
                f"\n{name} ({kind}): {crowd.people:,} people, {crowd.visits:.1f} visits each, "
                f"{areas} areas x {bins} periods"
            )
            for epsilon in EPSILONS:
                found = study(crowd, epsilon, runs)
                rows.append({"set": name, "kind": kind, "epsilon": epsilon, **found})
                print_study(epsilon, found)
    for kind in kinds:
        if some := [row for row in rows if row["kind"] == kind]:
            print_summary(kind, some)
    return rows


def print_study(epsilon: str, found: dict[str, Any]) -> None:
    errors = found["rmse"]
    best = min(PEERS, key=errors.__getitem__)
    ours = f"{OURS} {errors[OURS]:.4g} = {errors[OURS] / errors[best]:.2f}"
    holds = ", ".join(f"{size}: {share:.2f}" for size, share in found["held"].items())
    peers = sorted(PEERS, key=errors.__getitem__)
    print(f"  epsilon {epsilon}: {ours} of the best peer ({best}); held {holds}", flush=True)
    print("      " + ", ".join(f"{peer} {errors[peer]:.4g}" for peer in peers))


def print_summary(kind: str, rows: list[dict[str, Any]]) -> None:
    ratios = [row["rmse"][OURS] / min(row["rmse"][peer] for peer in PEERS) for row in rows]
    behind = sum(ratio > 1.02 for ratio in ratios)
    clipped = sum(row["rmse"][OURS] > row["rmse"]["clipped"] for row in rows)
    empty = sum(row["rmse"][OURS] > row["rmse"]["empty"] for row in rows)
    print(
        f"{kind}: {np.median(ratios):.2f} of the best peer in the median, at most "
        f"{max(ratios):.2f}, more than 1.02 in {behind} of {len(rows)}; worse than clipped noise "
        f"in {clipped}, than an empty table in {empty}"
    )


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--intervals"]
    times = int(given[0]) if given else 3
    if "--intervals" in sys.argv:
        keep("density_intervals", intervals(times, given[1:]))
    else:
        keep("density_crowds", main(times, given[1:]))
