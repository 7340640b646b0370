"""OD tables of people month by month: alone, learning from months before, and revised.

Every release protects a person; twelve months share one budget in zCDP, an epsilon of the year at a
delta of 1e-6, with the default mechanism and a limit that is chosen. "First" learns from the noisy
answers of months before, "revised" from those of all other months too. What a practitioner would
write: at most 16 trips of a person, Gaussian noise on cells, a threshold that 1 empty cell in
10,000 passes, scaled to a noisy total; and a Kalman filter for each cell of the same noisy cells,
whose drift is the most likely one, above the same threshold. Bikes, aircraft and generated cards
stand for people. Errors are those of all trips; "origins" are trips by origin and period; "rows"
says how often 95% intervals of rows of two errors and more hold, "sums" those of measured sums. In
scenes "with changes" the busiest station closes in month 9, and the second busiest opens then;
"places" is the RMSE of their cells. Run by hand: `python benchmarks/series.py [runs] [epsilons]
[scenes] [ours,peers]`.
"""

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness import keep, positional
from hushway.engine.key import BoundingKey
from hushway.families.od.files.others import noisy_answers
from hushway.families.od.fit.learning.series import NoisyStep
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.people import CAPS, LearnedPeople
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Measurements
from hushway.release.others import OtherStep
from people import errors
from people_scenes import PeopleScene, series_scenes

Counts = NDArray[np.float64]
DELTA, MONTHS, LIMIT, CHANGE = Fraction(1, 10**6), 12, 16, 8
FALSE, TOTAL_SHARE = 3.72, 0.05
DRIFTS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
FIGURES = ("rmse", "L1", "CPC", "origins", "rows", "sums")


@dataclass(frozen=True, kw_only=True, eq=False)
class Month:
    """A month as it was measured."""

    scene: PeopleScene
    mechanism: LearnedPeople
    measured: Measurements

    def fitted(self, others: Sequence[tuple[int, "Month"]]) -> ODTable:
        """Fits the month again with what other months, so many away, say."""
        steps = tuple(
            OtherStep(stated={"steps_away": away}, answers=partial(_answers, other))
            for away, other in others
        )
        return replace(self.mechanism, others=steps).fit(self.measured, self.scene.cells)


def _answers(month: Month, cells: ODCells, features: Sequence[Feature]) -> NoisyStep:
    return noisy_answers(month.mechanism, month.measured, cells, features)


def counter_of(scene: PeopleScene, seed: int, mechanism: LearnedPeople | None) -> ArrayCounter:
    """Counts the trips of a month, at any limit that may be asked for."""
    return ArrayCounter(
        cells=scene.cells,
        unit=Unit.PERSON,
        max_trips=LIMIT,
        ladder=() if mechanism is None else mechanism.ladder,
        caps=() if mechanism is None else mechanism.caps,
        key=BoundingKey.draw(SeededSource(seed)),
        period=scene.trips.period,
        origin=scene.trips.origin,
        destination=scene.trips.destination,
        person=scene.trips.person,
    )


def measured(scene: PeopleScene, rho: Fraction, seed: int) -> Month:
    """Measures a month with the default mechanism."""
    mechanism = LearnedPeople(
        universe=scene.cells,
        features=scene.features,
        budget=ZCDPLoss(rho),
        limit=None,
        caps=CAPS,
    )
    curator = Curator(
        counter=counter_of(scene, seed, mechanism),
        budget=StudyBudget(),
        source=SeededSource(seed + 1),
    )
    return Month(scene=scene, mechanism=mechanism, measured=mechanism.measure(curator, scene.cells))


def plain(scene: PeopleScene, rho: Fraction, rng: np.random.Generator) -> tuple[Counts, float]:
    """Returns cells within the limit with Gaussian noise, scaled to a noisy total, and its error.

    The noise of peers is drawn as floats: they are no releases.
    """
    found = counter_of(scene, 1, None).count(Query(name="trips", cells=scene.cells))
    counts = np.bincount(found.cells, found.values, scene.cells.size)
    sigma = LIMIT / math.sqrt(2 * float(rho) * (1 - TOTAL_SHARE))
    each = np.bincount(scene.trips.person)  # type: ignore[arg-type]
    # What all make and what is counted, each by a noisy total.
    few, many = (
        float(np.minimum(each, most).sum())
        + most / math.sqrt(float(rho) * TOTAL_SHARE) * rng.standard_normal()
        for most in (LIMIT, 4 * LIMIT)
    )
    noisy = counts + sigma * rng.standard_normal(len(counts))
    scale = min(max(many / max(few, 1.0), 1.0), 4.0)
    return noisy * scale, sigma * scale


def thresholded(noisy: Sequence[tuple[Counts, float]]) -> list[Counts]:
    """Returns the cells of each month that stand out of the noise."""
    return [np.where(cells > FALSE * sigma, cells, 0.0) for cells, sigma in noisy]


def filtered(noisy: Sequence[tuple[Counts, float]]) -> list[Counts]:
    """Returns a Kalman filter of every cell, with the most likely drift."""

    def run(drift: float) -> tuple[float, list[Counts]]:
        mean, variance, likely, found = np.zeros_like(noisy[0][0]), np.inf, 0.0, []
        for cells, sigma in noisy:
            if np.isinf(variance):
                mean, variance = cells.copy(), sigma**2
            else:
                variance += drift * sigma**2
                whole = variance + sigma**2
                likely -= float(np.sum((cells - mean) ** 2 / whole + math.log(whole)))
                mean = mean + variance / whole * (cells - mean)
                variance *= sigma**2 / whole
            found.append(np.where(mean > FALSE * math.sqrt(variance), mean, 0.0))
        return likely, found

    return max((run(drift) for drift in DRIFTS), key=lambda one: one[0])[1]


def busiest(months: Sequence[PeopleScene]) -> Any:
    """Returns the two busiest stations."""
    places = len(months[0].cells.locations)
    starts = sum(np.bincount(one.trips.origin, minlength=places) for one in months)
    return np.argsort(-np.asarray(starts))[:2]


def changed(months: Sequence[PeopleScene]) -> list[PeopleScene]:
    """Closes the busiest station in month 9, and has the second busiest open then."""
    closes, opens = busiest(months)
    found = []
    for number, month in enumerate(months):
        away = closes if number >= CHANGE else opens
        trips = month.trips
        stays = (trips.origin != away) & (trips.destination != away)
        assert trips.person is not None  # noqa: S101  these are trips of people
        _, person = np.unique(trips.person[stays], return_inverse=True)
        rest = type(trips)(
            person=person,
            period=trips.period[stays],
            origin=trips.origin[stays],
            destination=trips.destination[stays],
        )
        found.append(replace(month, trips=rest))
    return found


def dense(table: ODTable) -> Counts:
    """Returns the counts of all cells."""
    counts = np.zeros(table.universe.size)
    counts[table.cells] = table.counts
    return counts


def judged(
    scene: PeopleScene, counts: Counts, table: ODTable | None, places: Any
) -> dict[str, float]:
    """Returns the figures of a month."""
    found = errors(scene, counts, table)
    told = {name: found[name] for name in FIGURES if name in found}
    sums = [value for name, value in found.items() if name.endswith(" held")]
    _, origin, destination = scene.cells.decode(np.arange(scene.cells.size))
    some = np.isin(origin, places) | np.isin(destination, places)
    off = float(np.sqrt(np.mean((counts - scene.truth)[some] ** 2)))
    return told | {"places": off} | ({"sums": statistics.mean(sums)} if sums else {})


def ours(
    months: Sequence[PeopleScene], rho: Fraction, run: int
) -> Iterator[tuple[str, int, Counts, ODTable | None]]:
    """Yields our releases of every month: which it is, the month, its counts and its table."""
    all_of = [measured(scene, rho, 1000 * run + 10 * number) for number, scene in enumerate(months)]
    for number, month in enumerate(all_of):
        before = [(number - other, all_of[other]) for other in range(number)]
        after = [(number - other, all_of[other]) for other in range(number + 1, len(all_of))]
        alone = month.fitted(())
        first = month.fitted(before) if before else alone
        revised = month.fitted([*before, *after]) if after else first
        for name, table in (("alone", alone), ("first", first), ("revised", revised)):
            yield name, number, dense(table), table


def peers(
    months: Sequence[PeopleScene], rho: Fraction, run: int
) -> Iterator[tuple[str, int, Counts, None]]:
    """Yields what a practitioner would publish of every month."""
    rng = np.random.default_rng(run)
    noisy = [plain(scene, rho, rng) for scene in months]
    for name, found in (("threshold", thresholded(noisy)), ("Kalman", filtered(noisy))):
        for number, counts in enumerate(found):
            yield name, number, counts, None


MAKERS: dict[str, Callable[..., Iterator[tuple[str, int, Counts, ODTable | None]]]] = {
    "ours": ours,
    "peers": peers,
}


def main(
    runs: int, epsilons: tuple[str, ...], which: tuple[str, ...], makers: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Prints lines for every scene, budget and release, and returns them."""
    rows: list[dict[str, Any]] = []
    for name, months in series_scenes():
        for words, some in ((name, months), (f"{name} with changes", changed(months))):
            if not any(part in words for part in which):
                continue
            trips = sum(len(one.trips.period) for one in some)
            print(f"\n{words}: {trips:,} trips in {len(some)} months, {some[0].cells.size:,} cells")
            for epsilon in epsilons:
                rows += _lines(words, some, (epsilon, runs), makers, busiest(months))
    return rows


def _lines(
    words: str,
    months: Sequence[PeopleScene],
    asked: tuple[str, int],
    makers: tuple[str, ...],
    places: Any,
) -> list[dict[str, Any]]:
    epsilon, runs = asked
    rho = rho_for(Fraction(epsilon), DELTA) / MONTHS
    found: dict[str, list[list[dict[str, float]]]] = {}
    years: dict[str, list[Counts]] = {}
    for run, maker in ((run, maker) for run in range(runs) for maker in makers):
        for name, number, counts, table in MAKERS[maker](months, rho, run):
            each = found.setdefault(name, [[] for _ in months])
            each[number].append(judged(months[number], counts, table, places))
            year = years.setdefault(name, [])
            if number == 0:
                year.append(np.zeros_like(counts))
            year[-1] += counts
    truth = np.asarray(sum(one.truth for one in months))
    rows: list[dict[str, Any]] = []
    for name, each in found.items():
        mean = [_mean(month) for month in each]
        late = _mean(mean[5:])
        of_year = [float(np.abs(year - truth).sum() / truth.sum()) for year in years[name]]
        late["year L1"] = statistics.mean(of_year)
        rows.append({"scene": words, "epsilon": epsilon, "release": name, "months": mean} | late)
        print(f"epsilon {epsilon} {name:<9}, months 6 to 12: {_text(late)}", flush=True)
    alone = next((row["months"] for row in rows if row["release"] == "alone"), None)
    for row in rows[1:3] if alone else ():
        print(f"epsilon {epsilon} {row['release']:<9}, alone over it: {_gains(alone, row)}")
    return rows


def _mean(figures: Sequence[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in figures for name in one)
    return {name: statistics.mean(one[name] for one in figures if name in one) for name in names}


def _text(figures: dict[str, float]) -> str:
    return " ".join(f"{name} {value:.3g}" for name, value in figures.items())


def _gains(alone: Any, row: dict[str, Any]) -> str:
    """Returns how many times smaller the errors of each month are."""
    months = row["months"]
    return "; ".join(
        name
        + " "
        + " ".join(
            f"{one[name] / other[name]:.2f}" for one, other in zip(alone, months, strict=True)
        )
        for name in ("rmse", "L1", "places")
    )


if __name__ == "__main__":
    runs, *lists = positional("2", "1,4", "", "ours,peers")
    epsilons, which, makers = (tuple(one.split(",")) for one in lists)
    keep("series", main(int(runs), epsilons, which, makers))
