"""Traces of people and fleets on a road network, with the truth: docs/researchers/cities.md."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.links.city.plans import (
    DAY_S,
    Devices,
    Ground,
    Habits,
    Journeys,
    People,
    ground_of,
    journeys_of,
    people_of,
)
from hushway.families.links.city.positions import (
    Courses,
    Positions,
    Times,
    courses_of,
    positions_of,
    times_of,
    waits_of,
)
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.matching.traces import Reason, Ways
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.chance import generator, standard_normal
from hushway.numerics.compiled import compiled

__all__ = ["Devices", "Habits", "TraceCity", "simulate_traces", "trace_parts"]

# Parts do not depend on each other, so that memory is bounded and a few people are made quickly.
PEOPLE_OF_PART: Final = 5_000

_NAME = "Road city (synthetic)"
_STREAM = 150


def simulate_traces(
    roads: RoadNetwork,
    seed: int,
    *,
    people: int,
    habits: Habits | None = None,
    devices: Devices | None = None,
    name: str = _NAME,
) -> TraceCity:
    """Returns the traces of so many people and vehicles.

    Args:
        people: How many persons, vehicles of fleets included.

    Raises:
        PlanError: The seed is negative, or there are no people.
    """
    parts = trace_parts(roads, seed, people=people, habits=habits, devices=devices, name=name)
    return joined(list(parts))


def trace_parts(
    roads: RoadNetwork,
    seed: int,
    *,
    people: int,
    habits: Habits | None = None,
    devices: Devices | None = None,
    name: str = _NAME,
) -> Iterator[TraceCity]:
    """Yields what `simulate_traces` returns in parts of 5,000 people, as memory may not hold all.

    Raises:
        PlanError: The seed is negative, or there are no people.
    """
    if seed < 0:
        raise PlanError("A seed cannot be negative.", advice="Give 0 or any larger whole number.")
    if people < 1:
        raise PlanError("The number of people is below 1.", advice="Give at least one person.")
    scene = Scene(
        ground=ground_of(roads, generator(seed, _STREAM)),
        seed=seed,
        habits=habits or Habits(),
        devices=devices or Devices(),
        name=name,
    )
    for part, first in enumerate(range(0, people, PEOPLE_OF_PART)):
        yield traces_of_part(scene, part, first, min(PEOPLE_OF_PART, people - first))


# Each part has streams of its own, from the first one on.
_FIRST_STREAM = 1_000
_PEOPLE, _PLANS, _WAITS, _DEVICES = range(4)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """What all parts of a city share."""

    ground: Ground
    seed: int
    habits: Habits
    devices: Devices
    name: str


@dataclass(frozen=True, kw_only=True, eq=False)
class _Driven:
    """Journeys with their ways and times."""

    plans: Journeys
    courses: Courses
    times: Times


def traces_of_part(scene: Scene, part: int, first: int, count: int) -> TraceCity:
    """Returns the traces of so many people, the first of whom has the number `first`."""
    stream = _FIRST_STREAM + 4 * part
    crowd = people_of(
        scene.ground, count, scene.habits, scene.devices, generator(scene.seed, stream + _PEOPLE)
    )
    plans = journeys_of(crowd, scene.habits, generator(scene.seed, stream + _PLANS))
    driven = _driven(scene, crowd, plans, generator(scene.seed, stream + _WAITS))
    return _recorded(scene, crowd, driven, first, generator(scene.seed, stream + _DEVICES))


def _driven(scene: Scene, crowd: People, plans: Journeys, rng: np.random.Generator) -> _Driven:
    ground = scene.ground
    ends = plans.origin, plans.destination
    courses = courses_of(ground, scene.seed, ends, crowd.taste[plans.person], plans.second)
    possible = np.diff(courses.start) > 0
    plans, courses = plans.only(possible), _only(courses, possible)
    waits = waits_of(ground.roads, courses.link, rng)
    planned = plans.person, plans.second
    times = times_of(ground.roads, courses, planned, crowd.haste[plans.person], waits)
    # What would end after the last midnight is not part of the window.
    inside = times.left[courses.start[1:] - 1] < scene.habits.days * DAY_S - 1
    links = np.repeat(inside, np.diff(courses.start))
    return _Driven(
        plans=plans.only(inside),
        courses=_only(courses, inside),
        times=Times(*(column[links] for column in times)),
    )


def _only(courses: Courses, chosen: BoolArray) -> Courses:
    size = np.diff(courses.start)
    return Courses(
        start=np.concatenate([[0], np.cumsum(size[chosen])]).astype(np.int64),
        link=courses.link[np.repeat(chosen, size)],
        begins=courses.begins[chosen],
        ends=courses.ends[chosen],
    )


def _recorded(
    scene: Scene, crowd: People, driven: _Driven, first: int, rng: np.random.Generator
) -> TraceCity:
    person, courses = driven.plans.person, driven.courses
    true = positions_of(scene.ground.roads, courses, driven.times, crowd.interval_s[person])
    sent = recorded(true, crowd.noise_m[person], crowd.reporting[person], scene.devices, rng)
    fresh = np.zeros(len(courses.link), dtype=np.bool_)
    fresh[courses.start[:-1]] = True
    habits = scene.habits
    return TraceCity(
        name=scene.name,
        roads=scene.ground.roads,
        zone=habits.zone,
        first_day=habits.first_day,
        last_day=habits.first_day + timedelta(days=habits.days - 1),
        person=first + person,
        trip=_numbers(person),
        start=sent.start,
        lon=sent.lon,
        lat=sent.lat,
        seconds=sent.seconds,
        speed=sent.speed,
        heading=sent.heading,
        truth=Ways(
            start=courses.start,
            link=courses.link,
            entered=driven.times.entered,
            left=driven.times.left,
            fresh=fresh,
            reason=np.full(len(person), Reason.MATCHED, dtype=np.int64),
            point_link=sent.link,
        ),
        first_person=first,
        fleet=crowd.fleet,
        home=crowd.home,
        work=crowd.work,
    )


def _numbers(person: IntArray) -> IntArray:
    """Returns the number of each trip among those of its person."""
    place = np.arange(len(person), dtype=np.int64)
    return place - np.searchsorted(person, person)


# Errors of positions are alike within about this time, as the same satellites are in sight.
_ALIKE_S = 60.0
_JUMP_M = (150.0, 900.0)
_GAP_S = (120.0, 300.0)
_METRES_OF_LAT = 111_195.0
_SPEED_NOISE, _HEADING_NOISE = 0.05, 6.0
_DECIMALS = 6


def recorded(
    true: Positions,
    noise_m: FloatArray,
    reporting: BoolArray,
    devices: Devices,
    rng: np.random.Generator,
) -> Positions:
    """Returns positions as devices send them. Each still has its true link."""
    size = np.diff(true.start)
    count = len(true.lon)
    east, north = (
        np.repeat(noise_m, size) * _alike(true.start, true.seconds, standard_normal(rng, count))
        for _ in range(2)
    )
    jumps = rng.random(count) < devices.jumps
    far = jumps * (_JUMP_M[0] + (_JUMP_M[1] - _JUMP_M[0]) * rng.random(count))
    angle = 2 * math.pi * rng.random(count)
    east, north = east + far * np.cos(angle), north + far * np.sin(angle)
    missing = ~np.repeat(reporting, size)
    faster = 1 + _SPEED_NOISE * standard_normal(rng, count)
    turned = true.heading + _HEADING_NOISE * standard_normal(rng, count)
    metres_of_lon = _METRES_OF_LAT * np.cos(np.radians(true.lat))
    noisy = true._replace(
        lon=np.round(true.lon + east / metres_of_lon, _DECIMALS),
        lat=np.round(true.lat + north / _METRES_OF_LAT, _DECIMALS),
        speed=np.where(missing, np.nan, np.round(np.maximum(true.speed * faster, 0), 1)),
        heading=np.where(missing, np.nan, np.round(turned) % 360.0),
    )
    times = _kept(true, devices, rng).astype(np.int64)
    times += (times > 0) & (rng.random(count) < devices.duplicates)
    return _repeated(noisy, times)


def _kept(true: Positions, devices: Devices, rng: np.random.Generator) -> BoolArray:
    """Returns which positions do not fall into a gap. The ends of a trip never do."""
    size = np.diff(true.start)
    trips = len(size)
    first, last = true.seconds[true.start[:-1]], true.seconds[true.start[1:] - 1]
    lasts = _GAP_S[0] + (_GAP_S[1] - _GAP_S[0]) * rng.random(trips)
    begins = first + (last - first) * rng.random(trips)
    lasts[rng.random(trips) >= devices.gaps] = 0.0
    since = true.seconds - np.repeat(begins, size)
    inside = (since > 0) & (since < np.repeat(lasts, size))
    inside[true.start[:-1]] = False
    inside[true.start[1:] - 1] = False
    return ~inside


def _repeated(positions: Positions, times: IntArray) -> Positions:
    row = np.repeat(np.arange(len(times)), times)
    counts = np.concatenate([[0], np.cumsum(times)])
    columns = {name: column[row] for name, column in positions._asdict().items() if name != "start"}
    return Positions(start=counts[positions.start], **columns)


@compiled
def _alike(start: IntArray, seconds: FloatArray, fresh: FloatArray) -> FloatArray:
    """Returns draws of deviation 1 that forget the one before with time."""
    drawn = fresh.copy()
    for trip in range(len(start) - 1):
        for i in range(start[trip] + 1, start[trip + 1]):
            kept = np.exp((seconds[i - 1] - seconds[i]) / _ALIKE_S)
            drawn[i] = kept * drawn[i - 1] + np.sqrt(1.0 - kept * kept) * fresh[i]
    return drawn


_OF_POSITIONS = ("lon", "lat", "seconds", "speed", "heading")
_OF_TRIPS = ("person", "trip")
_OF_PERSONS = ("fleet", "home", "work")
_OF_WAY_LINKS = ("link", "entered", "left", "fresh")


def joined(parts: Sequence[TraceCity]) -> TraceCity:
    """Returns the traces of parts of one city, given in the order of persons."""

    def row(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part, name) for part in parts])

    def way_row(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part.truth, name) for part in parts])

    links = {name: way_row(name) for name in (*_OF_WAY_LINKS, "reason", "point_link")}
    truth = Ways(start=_starts([part.truth.start for part in parts]), **links)  # type: ignore[arg-type]
    columns = {name: row(name) for name in (*_OF_POSITIONS, *_OF_TRIPS, *_OF_PERSONS)}
    start = _starts([part.start for part in parts])
    return replace(parts[0], start=start, truth=truth, **columns)  # type: ignore[arg-type]


def some_trips(city: TraceCity, chosen: BoolArray) -> TraceCity:
    """Returns a city with some of its trips. They keep their numbers, and all persons stay."""
    points = np.repeat(chosen, np.diff(city.start))
    links = np.repeat(chosen, np.diff(city.truth.start))
    truth = Ways(
        start=_lengths_kept(city.truth.start, chosen),
        reason=city.truth.reason[chosen],
        point_link=city.truth.point_link[points],
        **{name: getattr(city.truth, name)[links] for name in _OF_WAY_LINKS},
    )
    columns = {name: getattr(city, name)[points] for name in _OF_POSITIONS}
    columns |= {name: getattr(city, name)[chosen] for name in _OF_TRIPS}
    return replace(city, start=_lengths_kept(city.start, chosen), truth=truth, **columns)


def _lengths_kept(start: IntArray, chosen: BoolArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.diff(start)[chosen])]).astype(np.int64)


def _starts(starts: list[IntArray]) -> IntArray:
    sizes = np.concatenate([np.diff(start) for start in starts])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
