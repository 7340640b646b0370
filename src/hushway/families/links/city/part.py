"""The traces of some of the people of a city, from their homes to what their devices send."""

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.families.links.city.clock import Times, times_of, waits_of
from hushway.families.links.city.devices import recorded
from hushway.families.links.city.people import Ground, People, people_of
from hushway.families.links.city.plans import DAY_S, Journeys, journeys_of
from hushway.families.links.city.positions import positions_of
from hushway.families.links.city.routes import Courses, courses_of
from hushway.families.links.city.settings import Devices, Habits
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.matching.traces import Reason, Ways
from hushway.study.chance import generator

# Each part has streams of its own, from the first one on.
_FIRST_STREAM = 1_000
_PEOPLE, _PLANS, _WAITS, _DEVICES = range(4)


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """What all parts of a city share.

    Attributes:
        ground: The roads, and where people live and work.
        seed: Chooses people and their trips.
        habits: How they live.
        devices: What their devices record.
        name: What the city is called.
    """

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
