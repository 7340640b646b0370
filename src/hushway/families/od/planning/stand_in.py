"""A synthetic stand-in: invented trips over somebody's own public geography.

To choose a mechanism, or to foresee its errors, one needs something like the data, and looking at
the data costs budget. A synthetic stand-in knows the places, the periods and a guess of how many
people travel; everything else is the general shape of cities: a few busy places, short trips more
likely than long ones, pairs of places that suit each other and pairs that do not, a morning peak
out and an evening peak back, habits that repeat.
"""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.od.planning.trial import TripArrays
from hushway.families.od.public.cells import ODCells
from hushway.numerics.chance import draw, generator

# Popularity of the place of rank r goes as 1/r: the busy few of most stop and zone data.
_RANK_POWER = 1.0
# How well two places suit each other is the cube of a uniform number. Without that, and with a
# power of 0.8 above, bike share trips filled half as many cells as their stand-in, and taxi trips a
# third.
_SUIT_POWER = 3.0
# How many habitual corridors a traveller has, on average.
_CORRIDORS = 2.5
# Trips are spread over people with a long tail: how keen they are follows a Weibull law of this
# shape.
_TAIL_SHAPE = 0.8
_PEAKS_H = ((8.0, 1.2, 1.0), (13.0, 3.5, 0.5), (17.5, 1.6, 0.25))
_FLOOR = 0.02
_WAY_BACK = 0.5
_METRES_PER_DEGREE = 111_320.0


def stand_in(cells: ODCells, *, trips: int, people: int, seed: int = 1) -> TripArrays:
    """Returns invented trips of the asked number, with their persons.

    Raises:
        PlanError: The guesses are not those of a city.
    """
    if not 1 <= people <= trips:
        raise PlanError(
            "A synthetic stand-in needs at least one person, and at least as many trips as people.",
            advice="Give rough numbers: trips in the window, and people who made them.",
        )
    rng = generator(seed, 0)
    person = _travellers(rng, trips, people)
    corridor = person * round(2 * _CORRIDORS) + _habit(rng, len(person))
    used, which = np.unique(corridor, return_inverse=True)
    home, away = _ends(rng, cells, len(used))
    back = rng.random(len(person)) < _WAY_BACK
    origin = np.where(back, away[which], home[which])
    destination = np.where(back, home[which], away[which])
    hours = _hours(cells)
    period = np.where(
        back,
        draw(rng, _rhythm(hours[::-1]), len(person)),
        draw(rng, _rhythm(hours), len(person)),
    )
    return TripArrays(person=person, period=period, origin=origin, destination=destination)


def _travellers(rng: np.random.Generator, trips: int, people: int) -> IntArray:
    """Returns the person of each trip; everybody makes one, some make many."""
    eager = (-np.log(np.maximum(rng.random(people), 1e-300))) ** (1 / _TAIL_SHAPE)
    more = draw(rng, np.asarray(eager), trips - people)
    return np.concatenate([np.arange(people, dtype=np.int64), more])


def _habit(rng: np.random.Generator, count: int) -> IntArray:
    """Returns which of a person's corridors each trip takes; the first is the commonest."""
    ranks = np.arange(1, round(2 * _CORRIDORS) + 1, dtype=np.float64)
    return draw(rng, ranks**-1.5, count)


def _ends(rng: np.random.Generator, cells: ODCells, count: int) -> tuple[IntArray, IntArray]:
    """Draws corridors: likelier between popular places that are near and suit each other."""
    places = cells.locations.places
    lon = np.array([place.lon for place in places])
    lat = np.array([place.lat for place in places])
    everywhere = np.arange(len(places))
    popularity = (1.0 + np.argsort(rng.random(len(places)))) ** -_RANK_POWER
    character = rng.random(len(places))
    reach = _reach_m(rng, lon, lat)

    def weights(start: int) -> FloatArray:
        near = np.exp(-_distance_m(lon, lat, np.full_like(everywhere, start), everywhere) / reach)
        suit = ((character[start] + character) % 1.0) ** _SUIT_POWER
        allowed = cells.include_intrazonal | (everywhere != start)
        return np.asarray(popularity[start] * popularity * near * suit * allowed)

    # One place at a time: all pairs together may not fit into memory.
    home = draw(rng, np.array([weights(start).sum() for start in range(len(places))]), count)
    away = np.empty_like(home)
    for here in np.split(np.argsort(home, kind="stable"), np.cumsum(np.bincount(home))[:-1]):
        if len(here):
            away[here] = draw(rng, weights(int(home[here[0]])), len(here))
    return home, away


def _reach_m(rng: np.random.Generator, lon: FloatArray, lat: FloatArray) -> float:
    """Returns the length by which trips become rarer: half of what two places are apart."""
    uniform = np.ones(len(lon))
    start, end = draw(rng, uniform, 1000), draw(rng, uniform, 1000)
    apart = _distance_m(lon, lat, start, end)[start != end]
    return float(max(1.0, np.median(apart) / 2)) if len(apart) else 1.0


def _distance_m(lon: FloatArray, lat: FloatArray, start: IntArray, end: IntArray) -> FloatArray:
    east = (lon[end] - lon[start]) * np.cos(np.radians(lat[start]))
    return np.asarray(np.hypot(east, lat[end] - lat[start]) * _METRES_PER_DEGREE)


def _hours(cells: ODCells) -> FloatArray:
    """Returns the hour of day in the middle of each period, also where a week has them all."""
    periods = cells.periods
    middles = np.array([(part.starts + part.ends) / 2 for part in periods.day_parts])
    return np.tile(middles / 60.0 % 24.0, len(periods) // periods.parts)


def _rhythm(hours: FloatArray) -> FloatArray:
    bumps = [height * np.exp(-(((hours - at) / wide) ** 2) / 2) for at, wide, height in _PEAKS_H]
    return np.asarray(_FLOOR + np.sum(bumps, axis=0))
