"""OD tables of people over weeks, judged by all of their trips.

Every release protects a person with the same epsilon. "auto" is the default; a number is a limit
that a steward gives, completed too; "Gaussian" is the default with that noise and a delta of 1e-6,
and "capped" chooses how many trips of a person may be in one cell as well; "as counted" is the same
table as the default without completion, at the limit that keeps nearly all trips. What a
practitioner would write: clip at a limit and scale by a noisy total; a large limit with a
threshold. Errors are shares of all trips (L1), RMSE or CPC; "top" are the 200 busiest cells. The
last columns say how often 95% intervals hold: rows of two errors and more, and measured sums. Run
by hand: `python benchmarks/people.py [runs] [epsilons] [scenes]`; the last is a part of their
names.
"""

import statistics
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from harness import keep, positional
from hushway.engine.key import BoundingKey
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.learned import od_learned
from hushway.families.od.mechanism.people import CAPS, LearnedPeople
from hushway.families.od.mechanism.shares import learned_shares, worth_measuring
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Mechanism
from people_scenes import PeopleScene, scenes

Counts = NDArray[np.float64]
Release = Callable[[PeopleScene, Fraction, int], tuple[Counts, ODTable | None]]
LIMITS, TOP = (2, 4, 8, 16, 32), 200
_TOTAL_SHARE = Fraction(5, 100)


def _counter(
    scene: PeopleScene,
    most: int,
    seed: int,
    ladder: tuple[int, ...] = (),
    caps: tuple[int, ...] = (),
) -> ArrayCounter:
    return ArrayCounter(
        cells=scene.cells,
        unit=Unit.PERSON,
        max_trips=most,
        ladder=ladder,
        caps=caps,
        key=BoundingKey.draw(SeededSource(seed)),
        period=scene.trips.period,
        origin=scene.trips.origin,
        destination=scene.trips.destination,
        person=scene.trips.person,
    )


def _run(
    mechanism: Mechanism[ODCells, ODTable], counter: ArrayCounter, scene: PeopleScene, seed: int
) -> tuple[Counts, ODTable]:
    curator = Curator(counter=counter, budget=StudyBudget(), source=SeededSource(seed + 1000))
    table = mechanism.fit(mechanism.measure(curator, scene.cells), scene.cells)
    counts = np.zeros(scene.cells.size)
    counts[table.cells] = table.counts
    return counts, table


def completed(
    limit: int | None, budget: Callable[[Fraction], Loss] = PureLoss, caps: tuple[int, ...] = ()
) -> Release:
    """Returns the default, with a limit that is chosen or given."""

    def release(scene: PeopleScene, epsilon: Fraction, seed: int) -> tuple[Counts, ODTable]:
        mechanism = LearnedPeople(
            universe=scene.cells,
            features=scene.features,
            budget=budget(epsilon),
            limit=limit,
            caps=caps,
        )
        counter = _counter(scene, limit or 1, seed, mechanism.ladder, caps)
        return _run(mechanism, counter, scene, seed)

    return release


def as_counted(scene: PeopleScene, epsilon: Fraction, seed: int) -> tuple[Counts, ODTable]:
    """Returns a table that learns of the trips within a limit that keeps 97% of them."""
    most, budget = _large_limit(scene), PureLoss(epsilon)
    bound = Bound.of_records(most)
    features = worth_measuring(scene.features, budget, bound)
    shares = learned_shares(features, budget, bound)
    mechanism = od_learned(scene.cells, features, budget=budget, shares=shares)
    return _run(mechanism, _counter(scene, most, seed), scene, seed)


def _large_limit(scene: PeopleScene) -> int:
    each = np.bincount(scene.trips.person)  # type: ignore[arg-type]
    return next(
        m for m in (1 << k for k in range(20)) if np.minimum(each, m).sum() > 0.97 * each.sum()
    )


def clipped_and_scaled(scene: PeopleScene, epsilon: Fraction, seed: int) -> tuple[Counts, None]:
    """Noise on cells at a small limit, clipped, and scaled to a noisy total at a large one."""
    source, few, many = SeededSource(seed + 1000), 4, _large_limit(scene)
    noisy = _exact(scene, few, seed) + DiscreteLaplace(few / (epsilon * (1 - _TOTAL_SHARE))).draw(
        source, scene.cells.size
    )
    whole = _exact(scene, many, seed).sum() + int(
        DiscreteLaplace(many / (epsilon * _TOTAL_SHARE)).draw(source, 1)[0]
    )
    counts = np.maximum(noisy, 0.0)
    return counts * max(float(whole), 0.0) / max(float(counts.sum()), 1.0), None


def threshold(scene: PeopleScene, epsilon: Fraction, seed: int) -> tuple[Counts, None]:
    """Noise on cells at a large limit; cells below a threshold are left out."""
    most = _large_limit(scene)
    scale = most / epsilon
    noisy = _exact(scene, most, seed) + DiscreteLaplace(scale).draw(
        SeededSource(seed + 1000), scene.cells.size
    )
    least = float(scale) * np.log(scene.cells.size / 200)
    return np.where(noisy >= least, noisy, 0.0), None


def _exact(scene: PeopleScene, most: int, seed: int) -> Counts:
    found = _counter(scene, most, seed).count(Query(name="trips", cells=scene.cells))
    counts = np.zeros(scene.cells.size)
    counts[found.cells] = found.values
    return counts


def _gaussian(epsilon: Fraction) -> Loss:
    return ZCDPLoss(rho_for(epsilon, Fraction(1, 10**6)))


RELEASES: dict[str, Release] = {
    "auto": completed(None),
    "Gaussian": completed(None, _gaussian),
    "capped": completed(None, _gaussian, CAPS),
    **{str(limit): completed(limit) for limit in LIMITS},
    "as counted": as_counted,
    "clip and scale": clipped_and_scaled,
    "threshold": threshold,
}


def errors(scene: PeopleScene, counts: Counts, table: ODTable | None) -> dict[str, float]:
    """Returns how far a release is off all trips, and how often its intervals hold."""
    truth = scene.truth
    off, trips = counts - truth, truth.sum()
    busiest = np.argsort(-truth)[:TOP]
    origins = scene.cells.decode(np.arange(scene.cells.size))
    by_origin = origins[0] * len(scene.cells.locations) + origins[1]
    found = {
        "total": float(off.sum() / trips),
        "rmse": float(np.sqrt(np.mean(off**2))),
        "L1": float(np.abs(off).sum() / trips),
        "CPC": float(2 * np.minimum(counts, truth).sum() / max(counts.sum() + trips, 1)),
        "top": float(np.abs(off[busiest]).sum() / truth[busiest].sum()),
        "origins": float(np.abs(np.bincount(by_origin, weights=off)).sum() / trips),
    }
    return found if table is None else found | _coverage(table, counts, truth)


def _coverage(table: ODTable, counts: Counts, truth: Counts) -> dict[str, float]:
    known = table.counts >= 2 * table.standard_errors
    held = np.abs(table.counts - truth[table.cells]) <= 1.96 * table.standard_errors
    found = {"rows": float(held[known].mean())} if known.any() else {}
    every = np.arange(table.universe.size)
    for margin in table.margins:
        if margin.errors is None:
            continue
        element = margin.feature.of(every)
        size = margin.feature.size
        error = np.abs(np.bincount(element, counts - truth, minlength=size))
        found[f"{margin.feature.title} held"] = float(np.mean(error <= 1.96 * margin.errors))
    return found


def main(
    runs: int = 2, epsilons: tuple[str, ...] = ("1", "4"), which: str = ""
) -> list[dict[str, object]]:
    """Prints a line for every scene, budget and release, and returns them."""
    rows: list[dict[str, object]] = []
    for name, scene in scenes():
        if which not in name:
            continue
        each = np.bincount(scene.trips.person)  # type: ignore[arg-type]
        print(
            f"\n{name}: {len(each):,} people, {each.sum():,} trips, quantiles of trips "
            f"{np.quantile(each, [0.5, 0.9, 1]).astype(int).tolist()}, {scene.cells.size:,} cells"
        )
        for epsilon in epsilons:
            for words, release in RELEASES.items():
                found = [
                    errors(scene, *release(scene, Fraction(epsilon), run)) for run in range(runs)
                ]
                mean = {
                    key: statistics.mean(one.get(key, np.nan) for one in found) for key in found[0]
                }
                rows.append({"scene": name, "epsilon": epsilon, "release": words, **mean})
                text = " ".join(f"{key} {value:.3g}" for key, value in mean.items())
                print(f"epsilon {epsilon} {words:<15} {text}", flush=True)
    return rows


if __name__ == "__main__":
    runs, epsilons, which = positional("3", "1,4", "")
    keep("people", main(int(runs), tuple(epsilons.split(",")), which))
