"""From a person's positions to trips: split where somebody was not heard of, and cleaned.

A trip ends where another is stated, after a long silence, and where somebody is suddenly elsewhere
and goes on from there. Of positions at one time the first counts. A position that nobody could have
got to is left out if the next one is back where it could be.

Where the ends of trips get noise of their own, all of this would ask where the true end was. Trips
are then told by ids and times alone, and only what lies between the ends is cleaned.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import DataError
from hushway.families.links.matching.traces import Traces
from hushway.families.links.rows.rows import PeoplePositions
from hushway.geography.areas import Plane
from hushway.numerics.compiled import compiled_for_threads

_US = 1e6
_FEWEST = 2


@dataclass(frozen=True, kw_only=True)
class Splitting:
    """Public numbers by which positions become trips.

    Attributes:
        gap_s: A silence of more than so many seconds ends a trip.
        most_speed: Nobody is faster than so many metres a second.
    """

    gap_s: float = 300.0
    most_speed: float = 70.0

    def __post_init__(self) -> None:
        if not (self.gap_s > 0 and self.most_speed > 0):
            raise DataError(
                "The longest gap and the highest speed of a trip must be above 0.",
                advice="Leave them at 300 seconds and 70 metres a second.",
            )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Trips:
    """Trips of some people, one person after the other.

    Attributes:
        person: Index of each trip's person, ascending.
    """

    person: IntArray
    traces: Traces

    def only(self, kept: IntArray) -> "Trips":
        """Returns some of the trips, in their order."""
        start, traces = self.traces.start, self.traces
        length = np.diff(start)[kept]
        begin = np.concatenate([[0], np.cumsum(length)])
        at = np.repeat(start[kept] - begin[:-1], length) + np.arange(begin[-1])
        return Trips(
            person=self.person[kept],
            traces=Traces(start=begin, x=traces.x[at], y=traces.y[at], seconds=traces.seconds[at]),
        )


def split_trips(people: PeoplePositions, plane: Plane, splitting: Splitting) -> Trips:
    """Returns the trips of people, with at least two positions each.

    Privacy:
        What becomes of a person's positions depends on these positions and public numbers alone.
    """
    x, y = _metres(people, plane)
    seconds = people.since_us / _US
    number = np.empty(len(x), dtype=np.int64)
    for_each_trip = _split(
        people.start, people.trip, x, y, seconds, splitting.gap_s, splitting.most_speed, number
    )
    length = np.bincount(number[number >= 0], minlength=len(for_each_trip))
    kept = np.flatnonzero((number >= 0) & (length >= _FEWEST)[number])
    long = length >= _FEWEST
    return Trips(
        person=for_each_trip[long],
        traces=Traces(
            start=np.concatenate([[0], np.cumsum(length[long])]),
            x=x[kept],
            y=y[kept],
            seconds=seconds[kept],
        ),
    )


def timed_trips(people: PeoplePositions, plane: Plane, splitting: Splitting) -> Trips:
    """Returns the trips of people with all of their positions, and at least two times each.

    A trip ends where another is stated and after a silence, nowhere else. Nothing is cleaned:
    several positions at one time are all there.

    Privacy:
        Which positions are a trip, and which of them are its first and its last in time, depends
        on that person's stated trips and times and on a public number; not on any place.
    """
    x, y = _metres(people, plane)
    seconds = people.since_us / _US
    owner = np.repeat(np.arange(len(people.salt)), np.diff(people.start))
    fresh = np.ones(len(x), dtype=np.bool_)
    fresh[1:] = (
        (owner[1:] != owner[:-1])
        | (people.trip[1:] != people.trip[:-1])
        | (np.diff(seconds) > splitting.gap_s)
    )
    start = np.append(np.flatnonzero(fresh), len(x))
    trips = Trips(person=owner[start[:-1]], traces=Traces(start=start, x=x, y=y, seconds=seconds))
    return trips.only(np.flatnonzero(seconds[start[1:] - 1] > seconds[start[:-1]]))


def possible(traces: Traces, most_speed: float) -> BoolArray:
    """Says which positions stay when trips are cleaned without splitting them.

    Of positions at one time the first stays, and none that nobody could have got to; where a trip
    goes on elsewhere, both parts stay.

    Privacy:
        What becomes of a trip's positions depends on these positions and a public number alone.
    """
    number = np.empty(len(traces.x), dtype=np.int64)
    stated = np.zeros(len(traces.x), dtype=np.int64)
    _split(traces.start, stated, traces.x, traces.y, traces.seconds, np.inf, most_speed, number)
    kept: BoolArray = number >= 0
    return kept


def _metres(people: PeoplePositions, plane: Plane) -> tuple[FloatArray, FloatArray]:
    where = plane.to_metres(people.lon, people.lat)
    return np.ascontiguousarray(where[:, 0]), np.ascontiguousarray(where[:, 1])


@compiled_for_threads
def _split(  # noqa: PLR0913, PLR0917  one argument for each array
    start: IntArray,
    stated: IntArray,
    x: FloatArray,
    y: FloatArray,
    seconds: FloatArray,
    gap_s: float,
    most_speed: float,
    number: IntArray,
) -> IntArray:
    """Numbers the trip of each position, -1 if it is left out, and returns each trip's person."""
    person_of = np.empty(len(x), dtype=np.int64)
    trips = 0
    for person in range(len(start) - 1):
        last = -1  # the last position that was kept of the current trip
        for i in range(start[person], start[person + 1]):
            number[i] = -1
            if i > start[person] and stated[i] == stated[i - 1] and seconds[i] == seconds[i - 1]:
                continue
            fresh = last < 0 or stated[i] != stated[last] or seconds[i] - seconds[last] > gap_s
            if not fresh and not _reached(x, y, seconds, last, i, most_speed):
                after = _next_time(seconds, stated, i, start[person + 1])
                # Back in reach, or nowhere: then this one was wrong. Else the trip jumped.
                if (
                    after < 0
                    or _reached(x, y, seconds, last, after, most_speed)
                    or not _reached(x, y, seconds, i, after, most_speed)
                ):
                    continue
                fresh = True
            if fresh:
                person_of[trips] = person
                trips += 1
            number[i] = trips - 1
            last = i
    return person_of[:trips].copy()


@compiled_for_threads
def _next_time(seconds: FloatArray, stated: IntArray, i: int, end: int) -> int:
    """Returns the next position of the stated trip at another time; -1 if there is none."""
    after = i + 1
    while after < end and stated[after] == stated[i]:
        if seconds[after] > seconds[i]:
            return after
        after += 1
    return -1


@compiled_for_threads
def _reached(  # noqa: PLR0917  one argument for each array
    x: FloatArray, y: FloatArray, seconds: FloatArray, a: int, b: int, most_speed: float
) -> bool:
    apart = np.hypot(x[b] - x[a], y[b] - y[a])
    return bool(apart <= most_speed * (seconds[b] - seconds[a]))
