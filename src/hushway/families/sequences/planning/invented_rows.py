"""Invented records instead of a plan's rows: its release is tried on them.

A few places are busy and many are not, and the next stop of a record is rather near the last one.
That is the general shape of journeys and no fact about anybody.
"""

from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import PlanError
from hushway.families.sequences.job import RecordRows
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.numerics.chance import distances_m, draw, generator
from hushway.privacy.query import Counter
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job

# Inventing and counting so many takes some seconds.
MOST_RECORDS: Final = 1_000_000
# Places are weighed against each other, all with all.
MOST_PLACES: Final = 3_000
_SEED: Final = 1
_STREAM: Final = 170
_GOES_ON: Final = 0.55
_METRES_PER_DEGREE: Final = 111_320.0


def invented_sequences(job: Job, crowd: ExpectedPopulation) -> Counter:
    """Returns who counts invented records of about that number, each unit bounded as planned.

    Privacy:
        Reads no row: the records follow from public places and the guess.

    Raises:
        PlanError: The guess makes no sense, or takes too long to try.
    """
    universe, rows = job.geography, job.rows
    assert isinstance(universe, SequenceUniverse)  # noqa: S101  what a sequences plan makes
    assert isinstance(rows, RecordRows)  # noqa: S101  what a sequences plan makes
    places = len(universe.taxonomy.locations)
    if crowd.trips > MOST_RECORDS or places > MOST_PLACES:
        raise PlanError(
            f"No more than {MOST_RECORDS:,} records at {MOST_PLACES:,} places are invented.",
            advice="Try a smaller guess.",
        )
    rng = generator(_SEED, _STREAM)
    start, stops = _records(rng, universe, crowd.trips, rows.rule.max_stops)
    people = crowd.trips if crowd.people is None else crowd.people
    times = universe.moments > 1
    return ArraySequences(
        taxonomy=universe.taxonomy,
        unit=job.plan.privacy.unit,
        max_records=job.bound.total,
        max_stops=rows.rule.max_stops,
        key=BoundingKey.draw(SeededSource(_SEED)),
        ladder=rows.ladder,
        start=start,
        stops=stops,
        person=np.arange(crowd.trips) % people,
        periods=universe.moments,
        period=_periods(rng, start, universe.moments) if times else None,
    )


def _records(
    rng: np.random.Generator, universe: SequenceUniverse, records: int, most: int
) -> tuple[IntArray, IntArray]:
    """Returns where records begin among the stops, and the stops: one after another."""
    popularity, following = _weights(rng, universe)
    here = draw(rng, popularity, records)
    columns, lasting = [here], np.ones((records, most), dtype=bool)
    for step in range(1, most):
        here = _next(rng, following, here)
        columns.append(here)
        lasting[:, step] = lasting[:, step - 1] & (rng.random(records) < _GOES_ON)
    stops = np.column_stack(columns)[lasting]
    return np.concatenate([[0], np.cumsum(lasting.sum(axis=1))]), stops


def _weights(rng: np.random.Generator, universe: SequenceUniverse) -> tuple[FloatArray, FloatArray]:
    """Returns how busy places are, and how likely each is to follow each."""
    points = np.array([(p.lon, p.lat) for p in universe.taxonomy.locations.places])
    points[:, 0] *= np.cos(np.radians(points[:, 1].mean()))
    apart = distances_m(points, points) * _METRES_PER_DEGREE
    popularity = np.asarray(1.0 / (1.0 + np.argsort(rng.random(len(points)))), dtype=np.float64)
    reach = max(1.0, float(np.median(apart)) / 2)
    # Somebody who stays is no journey, unless there is nowhere else to go.
    near = np.exp(-apart / reach) * (1.0 - np.eye(len(points))) + 1e-12
    return popularity, np.cumsum(popularity * near, axis=1)


def _next(rng: np.random.Generator, cumulative: FloatArray, here: IntArray) -> IntArray:
    """Draws the stop after each; all at one place together."""
    chosen = np.empty_like(here)
    order = np.argsort(here, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(here[order])) + 1):
        law = cumulative[here[group[0]]]
        chosen[group] = np.minimum(
            np.searchsorted(law, rng.random(len(group)) * law[-1], side="right"), len(law) - 1
        )
    return chosen


def _periods(rng: np.random.Generator, start: IntArray, periods: int) -> IntArray:
    """Returns the period of every stop: never before the one before it."""
    length = np.diff(start)
    first = np.repeat(np.asarray(rng.random(len(length)) * periods, dtype=np.int64), length)
    within = np.arange(start[-1]) - np.repeat(start[:-1], length)
    return np.asarray(np.minimum(first + within // 2, periods - 1), dtype=np.int64)
