"""A synthetic Paris: a week of calls that adds up to published figures.

The figures are those of Acs and Castelluccia, *A Case Study: Privacy Preserving Release of
Spatio-temporal Density in Paris*, KDD 2014. The public map never changes. Events depend on the
seed, and add up to the published figures whatever the seed is. See docs/researchers/cities.md.
"""

from datetime import date
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.errors import PlanError
from hushway.families.density.city import ground
from hushway.families.density.city.city import CityVisits, DensityCity
from hushway.families.density.city.ground import areas_of, towers_of
from hushway.families.density.city.people import (
    GATHERINGS,
    GRID,
    People,
    TowerField,
    people_of,
    tower_field,
)
from hushway.families.density.city.rhythms import HOURS, Kind, Place, calling, places
from hushway.numerics.chance import generator, largest, pick, shuffle
from hushway.numerics.compiled import compiled

# The published figures that the synthetic Paris is matched to.
#
# They are those of Acs and Castelluccia, KDD 2014, sections 4 and 5.2.

PEOPLE: Final = 1_992_846
TOWERS: Final = 1_303
AREAS: Final = 989
MEAN_VISITS: Final = 13.55
DEVIATION_OF_VISITS: Final = 18.33
MOST_VISITS: Final = 732
COVER: Final = 826
MEAN_COUNT_OF_AREAS: Final = 91

# With fewer people, one with the most visits would weigh too much in the deviation.
FEWEST_WITH_MOST: Final = 100_000

ZONE: Final = "Europe/Paris"
FIRST_DAY: Final = date(2007, 9, 10)
LAST_DAY: Final = date(2007, 9, 16)


__all__ = ["CityVisits", "DensityCity", "paris"]

_SIZES = {"people": (100, 20_000_000), "towers": (20, 3_000), "areas": (10, 2_500)}

# Streams of a seed.
_ACTIVITY, _TOWERS, _PEOPLE, _CALLS = range(4)


def paris(
    seed: int, *, people: int = PEOPLE, towers: int = TOWERS, areas: int = AREAS
) -> DensityCity:
    """Returns a synthetic Paris: 1,992,846 people, 1,303 towers, 989 areas, 27,003,063 visits.

    A visit is a distinct (person, tower, hour). Visits of a person have the mean 13.55 and the
    deviation 18.33. From 100,000 people on, the most visits of a person are exactly 732; with fewer
    people they are what the same law gives.

    Args:
        people: How many people, from 100 to 20,000,000.
        towers: How many towers, from 20 to 3,000.
        areas: How many areas, from 10 to 2,500.

    Raises:
        PlanError: A size is out of range.
    """
    _check(seed, people=people, towers=towers, areas=areas)
    places, position_m = towers_of(towers)
    field = tower_field(position_m, generator(seed, _TOWERS))
    visits = visits_of_people(people, generator(seed, _ACTIVITY))
    crowd = people_of(visits, field, generator(seed, _PEOPLE))
    person, tower, second = events_of(crowd, field, generator(seed, _CALLS))
    return DensityCity(
        name="Paris (synthetic)",
        zone=ZONE,
        first_day=FIRST_DAY,
        last_day=LAST_DAY,
        areas=areas_of(areas),
        towers=places,
        people=people,
        person=person,
        tower=tower,
        second=second,
    )


def _check(seed: int, **sizes: int) -> None:
    if seed < 0:
        raise PlanError("A seed cannot be negative.", advice="Give 0 or any larger whole number.")
    for name, size in sizes.items():
        fewest, most = _SIZES[name]
        if not fewest <= size <= most:
            raise PlanError(
                f"The city cannot have {size} {name}.",
                advice=f"Give a number from {fewest:,} to {most:,}.",
            )


_ROUNDS = 15
_BEND = 300.0


def visits_of_people(people: int, rng: np.random.Generator) -> IntArray:
    """Returns the visits of each person, at least 1: with the published mean and deviation.

    But for what rounding left over, the numbers are the same for every seed; who has them is drawn.
    From 100,000 people on, exactly the published maximum occurs.
    """
    visits = _quantiles(people)
    missing = round(MEAN_VISITS * people) - int(visits.sum())
    # What rounding left over goes to people in the middle, one visit each: the deviation stays.
    middle = np.flatnonzero((visits > 2) & (visits < 30))
    count = min(abs(missing), len(middle))
    if count:
        visits[middle[largest(rng.random(len(middle)), count)]] += np.sign(missing)
    return visits[shuffle(rng, people)]


def _quantiles(people: int) -> IntArray:
    """Returns ascending numbers of visits: evenly spaced quantiles of a log-normal law."""
    from scipy.special import ndtri

    normal = np.asarray(ndtri((np.arange(people) + 0.5) / people), dtype=np.float64)
    spread = DEVIATION_OF_VISITS / MEAN_VISITS
    location, scale = np.log(9.0), 1.0
    for _ in range(_ROUNDS):
        visits = _cut(np.exp(location + scale * normal), people)
        mean, deviation = visits.mean(), visits.std()
        location += np.log(MEAN_VISITS / mean)
        step = spread / (deviation / mean)
        location -= scale**2 * (step - 1) * 0.5
        scale *= 1 + 0.5 * (step - 1)
    return visits


def _cut(visits: FloatArray, people: int) -> IntArray:
    # Beyond the bend the tail runs up to the maximum without piling up there.
    room = MOST_VISITS - 1 - _BEND
    bent = _BEND + room * -np.expm1(-np.maximum(visits - _BEND, 0.0) / room)
    whole = np.maximum(1, np.rint(np.where(visits > _BEND, bent, visits))).astype(np.int64)
    if people >= FEWEST_WITH_MOST:
        whole[-1] = MOST_VISITS
    return whole


# A uniform draw is cut into so many steps, and each step has its answer in a table.
STEPS = 1 << 16


class Week(NamedTuple):
    """When people call and from which of their places.

    Attributes:
        hour: The hour at each step, one row for each rhythm.
        place: Cumulative shares of places, by kind and hour.
    """

    hour: NDArray[np.uint8]
    place: NDArray[np.float32]
    meet_first: IntArray
    meet_hours: IntArray


class Net(NamedTuple):
    """The towers; see `TowerField`.

    Attributes:
        east: How far east of the middle: the oval lies between -1 and 1.
        anywhere: The tower at each step, for calls from anywhere.
    """

    east: FloatArray
    north: FloatArray
    neighbours: NDArray[np.int16]
    spread: NDArray[np.float32]
    whim: NDArray[np.float32]
    grid: NDArray[np.int16]
    anywhere: NDArray[np.int16]
    meet_at: IntArray


def week_of() -> Week:
    """Returns the week that all cities share."""
    rhythms = [calling(kind, heavy=heavy) for kind in Kind for heavy in (False, True)]
    return Week(
        hour=np.array([_stepped(rhythm) for rhythm in rhythms], dtype=np.uint8),
        place=np.cumsum([places(kind) for kind in Kind], axis=2).astype(np.float32),
        meet_first=np.array([each.first_hour for each in GATHERINGS], dtype=np.int64),
        meet_hours=np.array([each.hours for each in GATHERINGS], dtype=np.int64),
    )


def net_of(towers: TowerField) -> Net:
    """Returns towers as plain arrays."""
    parts = (towers.homes, towers.offices, towers.outings, towers.errands, towers.stations)
    everything = np.sum([part / part.sum() for part in parts], axis=0)
    meet_at = [towers.nearest(each.east_m, each.north_m) for each in GATHERINGS]
    return Net(
        east=towers.position_m[:, 0] / ground.HALF_WIDTH_M,
        north=towers.position_m[:, 1] / ground.HALF_HEIGHT_M,
        neighbours=towers.neighbours,
        spread=towers.spread,
        whim=towers.whim,
        grid=towers.grid,
        anywhere=_stepped(everything).astype(np.int16),
        meet_at=np.array(meet_at, dtype=np.int64),
    )


def _stepped(weights: FloatArray) -> IntArray:
    return pick(np.cumsum(weights), (np.arange(STEPS) + 0.5) / STEPS)


# Plain numbers for the compiled loops.
_HOME, _WORK = int(Place.HOME), int(Place.WORK)
_TRACK, _ANYWHERE = int(Place.TRACK), int(Place.ANYWHERE)

# Share of the calls of those who go to a gathering that they make there, and how many at most.
_PULL, _MOST_THERE = 0.25, 3.0
# People with many calls get around more: this share of calls from anywhere, for each visit.
_ROAMING, _MOST_ROAMING = 0.0012, 0.6
_OFF_TRACK = 0.05
# Share of visits that another event follows within the hour, beyond those that happen to.
_AGAIN = 0.12
_MOST_AGAIN = 250
# After so many draws in vain people call from anywhere on any day, so that drawing ends. Long
# before, events at a known tower and hour no longer count as repeated.
_PATIENCE, _ATTENTION = 300, 20


def events_of(
    people: People, towers: TowerField, rng: np.random.Generator
) -> tuple[Int32Array, NDArray[np.int16], Int32Array]:
    """Returns person, tower and second of all events, ordered by person and time."""
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(people.visits)])
    cell, again = _visits(start, people, week_of(), net_of(towers), rng)
    return _events(start, cell, again, rng)


@compiled
def _visits(  # noqa: C901, PLR0912 - calls that hand on the tables take longer than draws
    start: IntArray, who: People, week: Week, net: Net, rng: np.random.Generator
) -> tuple[Int32Array, NDArray[np.uint8]]:
    """Returns the distinct (tower, hour) of every person, and how often each was repeated."""
    towers = len(net.east)
    cell = np.empty(start[-1], dtype=np.int32)
    again = np.zeros(start[-1], dtype=np.uint8)
    # The last visit at each tower and hour: the person's own if it is not before their first.
    last = np.full(towers * HOURS, -1, dtype=np.int64)
    for person in range(len(who.rhythm)):
        made, wanted = start[person], start[person + 1]
        rhythm, meets = who.rhythm[person], who.gathering[person]
        roaming = min(_MOST_ROAMING, _ROAMING * (wanted - made))
        pull = min(_PULL, _MOST_THERE / (wanted - made)) if meets >= 0 else 0.0
        tries = 0
        while made < wanted:
            tries += 1
            if rng.random() < pull:
                hour = week.meet_first[meets] + int(rng.random() * week.meet_hours[meets])
                middle = net.meet_at[meets]
            else:
                drawn = week.hour[rhythm, int(rng.random() * STEPS)]
                hour = (drawn + who.shift[person]) % HOURS
                if not (who.about[person] >> (hour // 24)) & 1 and tries <= _PATIENCE:
                    continue
                place = _ANYWHERE
                if rng.random() >= roaming:
                    place = _first_above(week.place[rhythm // 2, drawn], rng.random())
                if place == _ANYWHERE or tries > _PATIENCE:
                    middle = net.anywhere[int(rng.random() * STEPS)]
                elif place == _TRACK:
                    home, work = who.anchors[person, _HOME], who.anchors[person, _WORK]
                    way, aside = rng.random(), _OFF_TRACK * (rng.random() - 0.5)
                    east = net.east[home] + way * (net.east[work] - net.east[home]) + aside
                    north = net.north[home] + way * (net.north[work] - net.north[home]) - aside
                    middle = net.grid[_square(north) * GRID + _square(east)]
                else:
                    middle = who.anchors[person, place]
            tower = net.neighbours[middle, _first_above(net.spread[middle], rng.random())]
            if rng.random() >= net.whim[tower, hour]:
                continue
            before = last[tower * HOURS + hour]
            if before < start[person]:
                last[tower * HOURS + hour] = made
                cell[made] = tower * HOURS + hour
                while rng.random() < _AGAIN and again[made] < _MOST_AGAIN:
                    again[made] += 1
                made += 1
                tries = 0
            elif tries <= _ATTENTION and again[before] < _MOST_AGAIN:
                again[before] += 1
    return cell, again


@compiled
def _first_above(cumulative: NDArray[np.float32], share: float) -> int:
    """Returns an index by cumulative shares; there are few, and the first are the likeliest."""
    index = 0
    while index < len(cumulative) - 1 and share >= cumulative[index]:
        index += 1
    return index


@compiled
def _square(offset: float) -> int:
    """Returns the row or column of the grid for an offset from the middle."""
    return min(max(int((offset + 1) / 2 * GRID), 0), GRID - 1)


@compiled
def _events(
    start: IntArray, cell: Int32Array, again: NDArray[np.uint8], rng: np.random.Generator
) -> tuple[Int32Array, NDArray[np.int16], Int32Array]:
    """Draws when events happen within their hours, and puts those of a person in order."""
    most, total = 0, 0
    for who in range(len(start) - 1):
        count = 0
        for visit in range(start[who], start[who + 1]):
            count += 1 + again[visit]
        most = max(most, count)
        total += count
    person = np.empty(total, dtype=np.int32)
    tower = np.empty(total, dtype=np.int16)
    second = np.empty(total, dtype=np.int32)
    # Time and tower in one number can be sorted at once.
    packed = np.empty(most, dtype=np.int64)
    at = 0
    for who in range(len(start) - 1):
        count = 0
        for visit in range(start[who], start[who + 1]):
            for _ in range(1 + again[visit]):
                when = (cell[visit] % HOURS) * 3_600 + int(rng.random() * 3_600)
                packed[count] = (when << 16) + cell[visit] // HOURS
                count += 1
        packed[:count].sort()
        for event in range(count):
            person[at] = who
            second[at] = packed[event] >> 16
            tower[at] = packed[event] & 0xFFFF
            at += 1
    return person, tower, second
