"""OD tables that learn, beside what a practitioner would write and beside public peers.

Every release has the same budget and protects one trip, or a person with all trips. Errors are
shares of all trips (L1) unless they are RMSE or CPC (the common part of commuters, more is better);
"top" are the 200 busiest cells. Ann Arbor and two generated metros, all synthetic, always; bikes
and taxis if HUSHWAY_DATA names a folder that holds them. private-pgm (`mbi`) and inf-tda
(`InfTDA`) if they can be imported. Run by hand:
`python benchmarks/od_learning.py [runs] [epsilons] [scenes]`, scenes with `;` between them.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from harness import RESULTS, data, keep, positional
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.cbdp import od_cbdp
from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace
from hushway.families.od.mechanism.learned import od_learned, with_ends
from hushway.families.od.mechanism.measuring import cells_query
from hushway.families.od.mechanism.shares import (
    learned_shares,
    recommended_shares,
    recommended_weights,
    worth_measuring,
)
from hushway.families.od.planning.trial import ODScene
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import is_learnable
from hushway.families.od.public.features import Feature
from hushway.families.od.study.reproduce import city_scene
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Mechanism
from od_defaults import bike_share, scenes
from od_metro import generated_metro
from od_peers import inf_tda, private_pgm, rows_and_columns

TOP = 200
Counts = NDArray[np.float64]
Release = Callable[[ODScene, Fraction, int], tuple[Counts, ODTable | None]]


def protected() -> Iterator[tuple[str, ODScene]]:
    """Yields the scenes with one trip protected, and two where a person with all trips is."""
    yield from scenes()
    yield "generated metro", generated_metro()
    yield "second metro", generated_metro(stations=200, trips=150_000, minutes=120, seed=11)
    riders = city_scene(ann_arbor(seed=2018), unit=Unit.PERSON, max_trips=2)
    yield "Ann Arbor riders, 2 trips", riders
    if folder := data("bayarea_bikeshare14"):
        yield "bikes as persons, 32 trips", bike_share(folder, bikes=32)


def bound_of(scene: ODScene) -> Bound:
    return scene.counter.bound(cells_query(scene.cells))


def by_peer(release: Callable[[ODScene, Fraction, int], Counts]) -> Release:
    """Returns what a peer that protects one trip makes of a person's: so much less for each."""

    def for_persons(scene: ODScene, epsilon: Fraction, seed: int) -> tuple[Counts, None]:
        counted = replace(scene, truth=scene.counter.count(cells_query(scene.cells)))
        return release(counted, epsilon / bound_of(scene).total, seed), None

    return for_persons


def by_mechanism(make: Callable[[ODScene, PureLoss], Mechanism[ODCells, ODTable]]) -> Release:
    def release(scene: ODScene, epsilon: Fraction, seed: int) -> tuple[Counts, ODTable]:
        mechanism = make(scene, PureLoss(epsilon))
        curator = Curator(counter=scene.counter, budget=StudyBudget(), source=SeededSource(seed))
        table = mechanism.fit(mechanism.measure(curator, scene.cells), scene.cells)
        counts = np.zeros(scene.cells.size)
        counts[table.cells] = table.counts
        return counts, table

    return release


def learned(scene: ODScene, budget: PureLoss) -> Mechanism[ODCells, ODTable]:
    every = with_ends(scene.cells, scene.features)
    features = worth_measuring(every, budget, bound_of(scene))
    shares = learned_shares(features, budget, bound_of(scene))
    return od_learned(scene.cells, features, budget=budget, shares=shares)


def lazily(scene: ODScene, budget: PureLoss) -> Mechanism[ODCells, ODTable]:
    """As tables of more cells are learnt: without features of single pairs."""
    every = tuple(filter(is_learnable, with_ends(scene.cells, scene.features)))
    features = worth_measuring(every, budget, bound_of(scene))
    shares = learned_shares(features, budget, bound_of(scene))
    return od_learned(scene.cells, features, budget=budget, shares=shares, lazy=True)


def fitted(scene: ODScene, budget: PureLoss) -> Mechanism[ODCells, ODTable]:
    return od_cbdp(
        scene.cells,
        scene.features,
        budget=budget,
        shares=recommended_shares(scene.features, budget.measure),
        weights=recommended_weights(),
    )


RELEASES: dict[str, Release] = {
    "learned": by_mechanism(learned),
    "learned lazily": by_mechanism(lazily),
    "cbdp (default before)": by_mechanism(fitted),
    "cbdp O5": by_mechanism(lambda scene, b: od_cbdp(scene.cells, scene.features, budget=b)),
    "noise, clipped": by_mechanism(lambda _, budget: DenseLaplace(spend=budget)),
    "noise, threshold": by_mechanism(
        lambda _, budget: SparseLaplace(spend=budget, expected_false=100.0)
    ),
    "rows and columns": by_peer(rows_and_columns),
    "private-pgm": by_peer(private_pgm),
    "inf-tda": by_peer(inf_tda),
}


def sums(cells: ODCells, features: tuple[Feature, ...]) -> Iterator[tuple[str, NDArray[np.int64]]]:
    every = np.arange(cells.size)
    for feature in with_ends(cells, features):
        yield feature.title, feature.of(every)
    yield "pairs", every % cells.pairs
    _, origin, destination = cells.decode(every)
    yield "day origins", origin
    yield "day destinations", destination


def errors(scene: ODScene, counts: Counts, table: ODTable | None) -> dict[str, float]:
    truth = np.zeros(scene.cells.size)
    truth[scene.truth.cells] = scene.truth.values
    off, trips = counts - truth, truth.sum()
    busiest = np.argsort(-truth)[:TOP]
    found = {
        "rmse": float(np.sqrt(np.mean(off**2))),
        "L1": float(np.abs(off).sum() / trips),
        "CPC": float(2 * np.minimum(counts, truth).sum() / max(counts.sum() + trips, 1)),
        "top": float(np.abs(off[busiest]).sum() / truth[busiest].sum()),
    }
    for title, element in sums(scene.cells, scene.features):
        found[title] = float(np.abs(np.bincount(element, weights=off)).sum() / trips)
    if table is not None and table.estimates is not None:
        found |= coverage(table, truth)
    return found


def coverage(table: ODTable, truth: Counts) -> dict[str, float]:
    """Returns how often 1.96 standard errors hold the truth: rows by size, and each kind of sum."""
    held = np.abs(table.counts - truth[table.cells]) <= 1.96 * table.standard_errors
    found = {"cover rows": float(held.mean())}
    for name, low, high in (("1-5", 1, 5), ("6-20", 6, 20), ("21+", 21, np.inf)):
        some = (table.counts >= low) & (table.counts <= high)
        if some.any():
            found[f"cover rows {name}"] = float(held[some].mean())
    # A cell without a row is published as 0, and almost surely is: at most 1 is within its error.
    missed = np.ones(len(truth), dtype=bool)
    missed[table.cells] = held
    without = np.setdiff1d(np.flatnonzero(truth), table.cells)
    missed[without] = False
    found["cover all cells"] = float(missed.mean())
    every = np.arange(table.universe.size)
    for margin in table.margins:
        if margin.errors is not None:
            true = np.bincount(margin.feature.of(every), weights=truth)
            own = np.bincount(
                margin.feature.of(table.cells), weights=table.counts, minlength=len(true)
            )
            found[f"cover {margin.feature.title}"] = float(
                np.mean(np.abs(own - true) <= 1.96 * margin.errors)
            )
    return found


def as_markdown(rows: list[dict[str, object]]) -> str:
    """Returns a table for every scene and budget, and one of how often intervals hold."""
    lines: list[str] = []
    for scene, epsilon in dict.fromkeys((row["scene"], row["epsilon"]) for row in rows):
        here = [row for row in rows if (row["scene"], row["epsilon"]) == (scene, epsilon)]
        lines += [f"**{scene}, ε = {epsilon}**", ""]
        lines += _table(here, [key for key in here[0] if _is_error(key)])
    lines += ["**How often 1.96 standard errors hold the truth**", ""]
    kinds = ("rows", "rows 1-5", "rows 6-20", "rows 21+", "all cells", "total", "period", "zones")
    held = [row for row in rows if row["release"] == "learned"]
    named = [{**row, "release": f"{row['scene']}, ε = {row['epsilon']}"} for row in held]
    lines += _table(named, [f"cover {kind}" for kind in kinds])
    return "\n".join(lines)


def _is_error(key: str) -> bool:
    return key not in ("scene", "epsilon", "release") and not key.startswith("cover")


def _table(rows: list[dict[str, object]], keys: list[str]) -> list[str]:
    names = [key.removeprefix("cover ") for key in keys]
    lines = [f"| | {' | '.join(names)} |", f"| --- |{' ---: |' * len(keys)}"]
    for row in rows:
        values = (f"{row[key]:.3g}" if key in row else "" for key in keys)
        lines.append(f"| {row['release']} | {' | '.join(values)} |")
    return [*lines, ""]


def main(
    runs: int = 2, epsilons: tuple[str, ...] = ("0.1", "1", "4"), only: str = ""
) -> list[dict[str, object]]:
    """Prints a table for every scene and budget, and returns all rows."""
    rows: list[dict[str, object]] = []
    for name, scene in protected():
        if only and name not in only.split(";"):
            continue
        for epsilon in epsilons:
            print(f"\n{name}, epsilon {epsilon} ({runs} runs)", flush=True)
            for words, release in RELEASES.items():
                found, seconds = [], []
                try:
                    for run in range(runs):
                        start = time.perf_counter()
                        counts, table = release(scene, Fraction(epsilon), run)
                        seconds.append(time.perf_counter() - start)
                        found.append(errors(scene, counts, table))
                except ImportError:
                    print(f"{words:<22} is not installed")
                    continue
                mean = {key: statistics.mean(one[key] for one in found) for key in found[0]}
                rows.append({"scene": name, "epsilon": epsilon, "release": words, **mean})
                text = " ".join(f"{key} {value:.3g}" for key, value in mean.items())
                print(f"{words:<22} {statistics.mean(seconds):6.2f} s  {text}", flush=True)
    return rows


if __name__ == "__main__":
    runs, epsilons, only = positional("10", "0.1,1,4", "")
    results = main(int(runs), tuple(epsilons.split(",")), only)
    keep("od_learning", results)
    (RESULTS / "od_learning.md").write_text(as_markdown(results), encoding="utf-8")
