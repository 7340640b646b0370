"""What the table of a plan will be wrong by, for a guessed crowd: tried on a synthetic stand-in.

Everything follows from public files and the guess, so it costs nothing and may be printed anywhere.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.planning.stand_in import stand_in
from hushway.families.od.planning.trial import ODScene, difference, run_once, trips_scene
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    destinations_feature,
    origins_feature,
    period_feature,
    total_feature,
    without_idle,
)
from hushway.privacy.measured import Internal
from hushway.privacy.query import Counter, Query
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.crowd import CrowdForecast, ExpectedError, ExpectedPopulation
from hushway.release.job import Job

# Learning a table of so many cells takes about ten seconds.
MOST_CELLS: Final = 1 << 21
# Inventing and counting so many trips takes about as long.
MOST_TRIPS: Final = 4_000_000
# Small tables are tried several times, so that luck counts less; large ones once.
_CELLS_TRIED: Final = 1 << 19
_MOST_RUNS: Final = 4
ROWS: Final = "one cell with a row"
_BUSIEST: Final = 0.1
# What a draw of noise is usually off by, in standard deviations: .71 for Laplace, .80 for Gaussian.
_USUAL: Final = 0.7

_INVENTED = "Tried on invented trips of that number over your places: a forecast, not a guarantee."


def forecast_od(job: Job, crowd: ExpectedPopulation) -> CrowdForecast:
    """Publishes invented trips of about that number as the plan says, and says how far off it is.

    Privacy:
        Reads no row and spends nothing: the trips are invented, and so is the budget.

    Raises:
        PlanError: The guess is not that of a city.
    """
    cells, mechanism = job.geography, job.mechanism
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    assert isinstance(mechanism, ODMechanism)  # noqa: S101  what an OD plan makes
    # One person for each trip: then a limit leaves nothing out that nobody guessed.
    people = crowd.trips if crowd.people is None else crowd.people
    if reason := refused_size(cells, crowd):
        return CrowdForecast(crowd=crowd, errors=(), left_out=None, notes=(reason,))
    scene = trips_scene(
        cells,
        figures(cells, mechanism.totals),
        stand_in(cells, trips=crowd.trips, people=people),
        unit=job.plan.privacy.unit,
        max_trips=job.bound.total,
        ladder=mechanism.ladder,
        caps=mechanism.caps,
    )
    errors = typical_errors(mechanism, scene, seeds=range(runs_for(cells))).value
    left_out = _left_out(job, crowd, scene)
    notes = (_INVENTED, *_cap_notes(job, left_out))
    return CrowdForecast(crowd=crowd, errors=errors, left_out=left_out, notes=notes)


def runs_for(cells: ODCells) -> int:
    """Returns how often a table of that size is tried."""
    return max(1, min(_MOST_RUNS, _CELLS_TRIED // cells.size))


def figures(cells: ODCells, measured: tuple[Feature, ...]) -> tuple[Feature, ...]:
    """Returns the sums that readers look up, titled in words; none of them twice."""
    return without_idle(
        (
            replace(total_feature(cells), title="all trips"),
            replace(origins_feature(cells), title="an origin's total", periods=None),
            replace(destinations_feature(cells), title="a destination's total", periods=None),
            replace(period_feature(cells), title="a period's total"),
            *(replace(feature, title=_words(feature)) for feature in measured),
        )
    )


def _words(feature: Feature) -> str:
    by_period = feature.periods is not None and feature.pairs is not None
    return f"one of {feature.title}{' in one period' if by_period else ''}"


def typical_errors(
    mechanism: ODMechanism, scene: ODScene, *, seeds: range
) -> Internal[tuple[ExpectedError, ...]]:
    """Publishes a scene once for each seed and compares figures that readers look up.

    These are cells with a row, the busiest tenth of the cells that hold trips, and the elements of
    every feature of the scene.
    """
    found: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
    for seed in seeds:
        table = run_once(mechanism, scene, SeededSource(seed))
        for figure, off, true in compared(scene, table):
            if len(off):
                found.setdefault(figure, []).append((off, true))
    return Internal(
        tuple(
            ExpectedError(
                figure=figure,
                size=float(np.mean(np.concatenate([true for _, true in parts]))),
                error=float(np.mean(np.concatenate([off for off, _ in parts]))),
            )
            for figure, parts in found.items()
        )
    )


def compared(scene: ODScene, table: ODTable) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yields figures with their absolute errors and what they should be."""
    cells, too_much = difference(scene.truth, table)
    off, true = np.abs(too_much).astype(np.float64), np.zeros(len(cells))
    true[np.searchsorted(cells, scene.truth.cells)] = scene.truth.values
    rows, busy = np.isin(cells, table.cells, assume_unique=True), _busiest(true)
    yield ROWS, off[rows], true[rows]
    yield "one of the busiest tenth of cells", off[busy], true[busy]
    for feature in scene.features:
        element = feature.of(cells)
        missed = np.abs(np.bincount(element, too_much, feature.size).astype(np.float64))
        whole = np.bincount(element, true, feature.size).astype(np.float64)
        yield feature.title, _not_by_luck(feature, missed, table), whole


def _busiest(true: FloatArray) -> IntArray:
    """Returns which cells are the busiest tenth of those that hold trips."""
    occupied = np.flatnonzero(true)
    most = int(np.ceil(_BUSIEST * len(occupied)))
    return occupied[np.argsort(-true[occupied], kind="stable")[:most]]


def _not_by_luck(feature: Feature, missed: FloatArray, table: ODTable) -> FloatArray:
    """Returns the errors of a feature; that of a single figure is at least its usual noise.

    A few draws of one figure may all be right by luck, which no release can count on.
    """
    if feature.size > 1:
        return missed
    noise = [one.standard_error for one in table.margins if one.feature.size == 1]
    return np.maximum(missed, _USUAL * max(noise, default=0.0))


def refused_size(cells: ODCells, crowd: ExpectedPopulation) -> str | None:
    """Returns why a plan is not tried on invented trips, if that takes too long."""
    if cells.size > MOST_CELLS:
        return (
            f"No forecast is made for tables of more than {MOST_CELLS:,} cells, and this one has "
            f"{cells.size:,}."
        )
    if crowd.trips > MOST_TRIPS:
        return f"No forecast is made from a guess of more than {MOST_TRIPS:,} trips."
    return None


def _left_out(job: Job, crowd: ExpectedPopulation, scene: ODScene) -> float | None:
    """Returns which share of the invented trips the limit leaves out, if people were guessed."""
    if not job.plan.privacy.unit.has_many_records:
        return 0.0
    if crowd.people is None:
        return None
    counted = scene.counter.count(Query(name=scene.cells.name, cells=scene.cells))
    return float(1 - counted.values.sum() / scene.truth.values.sum())


def _cap_notes(job: Job, left_out: float | None) -> tuple[str, ...]:
    if left_out is None:
        unknown = (
            "Without a guess of people, the trips that the contribution limit leaves out are not "
            "in these errors."
        )
        return (unknown,)
    if left_out == 0:
        return ()
    if job.settled_terms is not None:
        return ("Counts estimate all trips; what the contribution limit leaves out is added.",)
    low = (
        f"The contribution limit of {job.bound.total} leaves out {left_out:.0%} of the trips: "
        "errors count that "
        "in, and sums come out too low by about as much."
    )
    return (low,)


def invented_od(job: Job, crowd: ExpectedPopulation) -> Counter:
    """Returns who counts invented trips of about that number, each unit bounded as planned.

    Privacy:
        Reads no row: the trips follow from public places and the guess.

    Raises:
        PlanError: The guess is not that of a city, or takes too long to try.
    """
    return invented_scene(job, crowd).counter


def invented_scene(job: Job, crowd: ExpectedPopulation) -> ODScene:
    """Returns invented trips of about that number, bounded as planned, and their exact counts.

    Raises:
        PlanError: The guess is not that of a city, or takes too long to try.
    """
    cells = job.geography
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    if reason := refused_size(cells, crowd):
        raise PlanError(reason, advice="Try a smaller guess, fewer periods or coarser places.")
    people = crowd.trips if crowd.people is None else crowd.people
    trips = stand_in(cells, trips=crowd.trips, people=people)
    unit = job.plan.privacy.unit
    mechanism = job.mechanism
    assert isinstance(mechanism, ODMechanism)  # noqa: S101  what an OD plan makes
    return trips_scene(
        cells,
        (),
        trips,
        unit=unit,
        max_trips=job.bound.total,
        ladder=mechanism.ladder,
        caps=mechanism.caps,
    )
