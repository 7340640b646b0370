"""What a year of OD tables will be wrong by, step by step and in sums: tried on invented trips.

A year is invented at once and dealt out to its steps by chance, so that people and habits stay, and
counts of a pair vary from step to step as chance has it. Every step is measured as planned, fitted
with the steps before it, and once more with all others, as a release and its revision would be.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.files.others import noisy_answers
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.people import LearnedPeople
from hushway.families.od.planning.forecast import MOST_TRIPS, ROWS, compared, figures
from hushway.families.od.planning.stand_in import stand_in
from hushway.families.od.planning.trial import ODScene, TripArrays, trips_scene
from hushway.families.od.public.cells import ODCells
from hushway.numerics.chance import generator
from hushway.privacy.curator import Curator
from hushway.privacy.query import ExactCounts
from hushway.privacy.randomness import SeededSource
from hushway.progress import Progress
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.forecast.series import SeriesForecast, SumError
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.job import Job
from hushway.release.mechanism import Measurements
from hushway.release.others import OtherStep

# Of a longer year so many steps are measured. Every other one of that many is fitted, since fits
# take long, and sums over more steps follow from those.
_MOST_STEPS: Final = 12
_MOST_FITTED: Final = 6
# So many cells in all steps are measured and fitted in about half a minute.
_MOST_CELLS: Final = 1 << 20
# Fewer numbers may all be right by luck.
_FEWEST: Final = 4
_SEED: Final = 1


@dataclass(frozen=True, kw_only=True, eq=False)
class _Step:
    """A step as it was measured."""

    scene: ODScene
    mechanism: Any
    measured: Measurements

    @property
    def learns(self) -> bool:
        """Whether its fit may learn from other steps."""
        return isinstance(self.mechanism, Learned | LearnedPeople) and not self.mechanism.lazy

    def fitted(self, others: Sequence[tuple[int, "_Step"]]) -> ODTable:
        """Fits it with what other steps, so many away, say."""
        steps = tuple(
            OtherStep(
                stated={"steps_away": away},
                answers=partial(noisy_answers, other.mechanism, other.measured),
            )
            for away, other in others
        )
        learning = replace(self.mechanism, others=steps) if steps else self.mechanism
        table: ODTable = learning.fit(self.measured, self.scene.cells)
        return table


def forecast_series(
    job: Job, crowd: ExpectedPopulation, lengths: Mapping[str, int], *, progress: Progress
) -> SeriesForecast:
    """Publishes invented steps as the plan says, and says how far off they and their sums are.

    Privacy:
        Reads no row and spends nothing: the trips are invented, and so is the budget.

    Args:
        job: One step.
        crowd: A public guess of its trips and people.
        lengths: How many steps sums have, by what they are called, the longest last.

    Raises:
        PlanError: The guess is not that of a city.
    """
    cells, year = job.geography, max(lengths.values())
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    count = min(year, _MOST_STEPS)
    if cells.size * count > _MOST_CELLS or crowd.trips * count > MOST_TRIPS:
        reason = (
            f"A year is tried for at most {_MOST_CELLS // count:,} cells and "
            f"{MOST_TRIPS // count:,} trips a step: by noise alone, sums of n independent steps "
            "are wrong by the root of n times as much, and what a fit expects by n times."
        )
        return SeriesForecast(errors=(), notes=(reason,))
    steps = [_measured(job, scene, n) for n, scene in enumerate(_scenes(job, crowd, count))]
    first, revised = _tables(job, steps, progress)
    some = [steps[number] for number in _fitted(steps)]
    tried = {number for number in lengths.values() if number <= len(some)} | {len(some)}
    once = {number: _compared(some, first, number) for number in tried}
    again = {number: _compared(some, revised, number) for number in tried}
    errors = (
        SumError(
            figure=figure,
            length=length,
            size=number * once[1][figure].size,
            first=_error(once, figure, number),
            revised=_error(again, figure, number) if steps[0].learns else None,
        )
        for figure in once[1]
        for length, number in lengths.items()
    )
    return SeriesForecast(errors=tuple(errors), notes=tuple(_notes(steps, year)))


def _scenes(job: Job, crowd: ExpectedPopulation, count: int) -> Iterator[ODScene]:
    """Yields the trips of each step: those of a year, dealt out by chance."""
    cells, mechanism = job.geography, job.mechanism
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    assert isinstance(mechanism, ODMechanism)  # noqa: S101  likewise
    people = crowd.trips if crowd.people is None else crowd.people
    if not job.plan.privacy.unit.has_many_records:
        people = crowd.trips * count
    trips = stand_in(cells, trips=crowd.trips * count, people=people)
    step = np.argsort(generator(_SEED, 1).random(len(trips.period))) % count
    for number in range(count):
        here = step == number
        _, person = np.unique(np.asarray(trips.person)[here], return_inverse=True)
        yield trips_scene(
            cells,
            figures(cells, mechanism.totals),
            TripArrays(
                period=trips.period[here],
                origin=trips.origin[here],
                destination=trips.destination[here],
                person=person,
            ),
            unit=job.plan.privacy.unit,
            max_trips=job.bound.total,
            ladder=mechanism.ladder,
            caps=mechanism.caps,
        )


def _measured(job: Job, scene: ODScene, number: int) -> _Step:
    source = SeededSource(_SEED + number)
    curator = Curator(counter=scene.counter, budget=StudyBudget(), source=source)
    measured = job.mechanism.measure(curator, scene.cells)
    return _Step(scene=scene, mechanism=job.mechanism, measured=measured)


def _fitted(steps: Sequence[_Step]) -> range:
    """Returns the numbers of the steps that are fitted, which are spread over all of them."""
    return range(0, len(steps), math.ceil(len(steps) / _MOST_FITTED))


def _tables(
    job: Job, steps: Sequence[_Step], progress: Progress
) -> tuple[list[ODTable], list[ODTable]]:
    """Returns the tables of the steps that are fitted, as they are published first and revised."""
    series = job.plan.series
    from_before = series is not None and series.learn_from is not None
    first, revised = [], []
    for number in _fitted(steps):
        progress("Trying a year on invented trips", number / len(steps))
        step = steps[number]
        others = [(number - at, other) for at, other in enumerate(steps) if at != number]
        before = [one for one in others if one[0] > 0 and from_before and step.learns]
        first.append(step.fitted(before))
        revised.append(step.fitted(others) if step.learns else first[-1])
    return first, revised


@dataclass(frozen=True, kw_only=True)
class _Off:
    """What a figure is off by on average, and how large it is."""

    error: float
    size: float


def _compared(steps: Sequence[_Step], tables: Sequence[ODTable], number: int) -> dict[str, _Off]:
    """Compares sums of so many steps, one after the other, with those of the invented trips."""
    parts: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
    for start in range(0, len(steps) - number + 1, number):
        some = slice(start, start + number)
        scene = _summed([one.scene for one in steps[some]])
        for figure, off, true in compared(scene, _added(tables[some])):
            # Which rows there are is up to the table.
            if len(off) >= _FEWEST and figure != ROWS:
                parts.setdefault(figure, []).append((off, true))
    return {
        figure: _Off(
            error=float(np.mean(np.concatenate([off for off, _ in each]))),
            size=float(np.mean(np.concatenate([true for _, true in each]))),
        )
        for figure, each in parts.items()
    }


def _summed(scenes: Sequence[ODScene]) -> ODScene:
    cells, values = _sum([(one.truth.cells, one.truth.values) for one in scenes])
    return replace(scenes[0], truth=ExactCounts(cells=cells, values=values))


def _added(tables: Sequence[ODTable]) -> ODTable:
    cells, counts = _sum([(one.cells, one.counts) for one in tables])
    # Errors are measured here, so those that tables state are of no use.
    stated = np.zeros(len(cells))
    universe = tables[0].universe
    return ODTable(
        universe=universe, cells=cells, counts=counts, standard_errors=stated, threshold=None
    )


def _sum(parts: Sequence[tuple[IntArray, IntArray]]) -> tuple[IntArray, IntArray]:
    """Adds up sparse counts."""
    cells, which = np.unique(np.concatenate([cells for cells, _ in parts]), return_inverse=True)
    values = np.zeros(len(cells), dtype=np.int64)
    np.add.at(values, which, np.concatenate([values for _, values in parts]))
    return cells, values


def _error(tried: Mapping[int, Mapping[str, _Off]], figure: str, number: int) -> float:
    """Returns the error of a sum over so many steps, also over more than were tried.

    Of its square a part grows with the number of steps, and what steps have in common with its
    square. One step and all that were tried tell how large each is.
    """
    if number in tried:
        return tried[number][figure].error
    most = max(tried)
    one, every = (tried[steps][figure].error ** 2 for steps in (1, most))
    common = min(max((every - most * one) / (most**2 - most), 0.0), one)
    return math.sqrt(number * (one - common) + number**2 * common)


def _notes(steps: Sequence[_Step], year: int) -> Iterator[str]:
    yield (
        "This assumes the same people, habits and places in every step, and steps that differ by "
        "chance alone; where a city changes, less is learnt. The mean over a first year, on "
        "invented trips: a forecast, not a guarantee."
    )
    if not steps[0].learns:
        yield "Tables of this mechanism, or of so many cells, are not revised."
    if year > len(_fitted(steps)):
        yield f"Sums over more than {len(_fitted(steps))} steps are extrapolated."
