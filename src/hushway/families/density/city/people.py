"""The people of the synthetic Paris: what kind they are, and the towers near their places."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, Int8Array, IntArray
from hushway.families.density.city.rhythms import SHARE_OF_KIND, Kind
from hushway.families.density.city.towers import TowerField
from hushway.study.chance import pick

HEAVY = 40
# Whoever calls this often is about every day.
_ALWAYS_ABOUT = 100
_CLOSER = 0.6
_AWAY_AT_WEEKEND, _AWAY_ON_A_DAY = 0.2, 0.07
_SHIFTS = np.array([0.2, 0.5, 0.2, 0.1])
_EVERY_DAY = 0b111_1111
_WEEKEND = (5, 6)


@dataclass(frozen=True, kw_only=True, eq=False)
class People:
    """People, one entry each.

    Attributes:
        visits: How many visits they make in the week.
        rhythm: Which table of calling they follow: two for each kind, the second for many calls.
        anchors: Towers near home, work, the places where they go out and those near home.
        shift: By how many hours they are late.
        about: The days on which they are in the city: bit 0 is Monday.
        gathering: The gathering that they go to, or -1.
    """

    visits: IntArray
    rhythm: Int8Array
    anchors: NDArray[np.int16]
    shift: Int8Array
    about: Int8Array
    gathering: Int8Array


def people_of(visits: IntArray, towers: TowerField, rng: np.random.Generator) -> People:
    """Draws people who make these numbers of visits."""
    count = len(visits)
    kind = pick(np.cumsum(SHARE_OF_KIND), rng.random(count))
    home = _by_kind(
        kind,
        {Kind.COMMUTER: towers.stations, Kind.VISITOR: towers.outings + towers.stations},
        towers.homes,
        rng,
    )
    work = _close_to(
        home, towers, {Kind.STUDENT: towers.schools, Kind.NIGHT_WORKER: towers.errands}, kind, rng
    )
    out = pick(np.cumsum(towers.outings), rng.random(count))
    near = _near(home, towers, rng)
    gathering = pick(
        np.cumsum([1 - sum(each.share for each in GATHERINGS), *(g.share for g in GATHERINGS)]),
        rng.random(count),
    )
    return People(
        visits=visits,
        rhythm=(2 * kind + (visits > HEAVY)).astype(np.int8),
        anchors=np.column_stack([home, work, out, near]).astype(np.int16),
        shift=(pick(np.cumsum(_SHIFTS), rng.random(count)) - 1).astype(np.int8),
        about=_about(kind, visits, rng),
        gathering=(gathering - 1).astype(np.int8),
    )


def _by_kind(
    kind: IntArray, special: dict[Kind, FloatArray], usual: FloatArray, rng: np.random.Generator
) -> IntArray:
    """Draws a tower for everybody: by weights of their kind, or by the usual ones."""
    uniform = rng.random(len(kind))
    tower = pick(np.cumsum(usual), uniform)
    for which, weights in special.items():
        mask = kind == which
        tower[mask] = pick(np.cumsum(weights), uniform[mask])
    return tower


def _close_to(
    home: IntArray,
    towers: TowerField,
    special: dict[Kind, FloatArray],
    kind: IntArray,
    rng: np.random.Generator,
) -> IntArray:
    """Draws two places of work, and takes the closer one for most."""
    first, second = (_by_kind(kind, special, towers.offices, rng) for _ in range(2))
    swap = _closer(second, first, home, towers) & (rng.random(len(home)) < _CLOSER)
    return np.where(swap, second, first)


def _near(home: IntArray, towers: TowerField, rng: np.random.Generator) -> IntArray:
    """Draws three places for spare time, and takes the one closest to home."""
    best = pick(np.cumsum(towers.errands), rng.random(len(home)))
    for _ in range(2):
        other = pick(np.cumsum(towers.errands), rng.random(len(home)))
        best = np.where(_closer(other, best, home, towers), other, best)
    return best


def _closer(one: IntArray, other: IntArray, home: IntArray, towers: TowerField) -> BoolArray:
    """Says where one tower is closer to home than the other."""
    at = towers.position_m
    distance_m = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    return np.asarray(distance_m[home, one] < distance_m[home, other])


def _about(kind: IntArray, visits: IntArray, rng: np.random.Generator) -> Int8Array:
    """Draws the days on which people are in the city."""
    count = len(kind)
    away_at_weekend = rng.random(count) < _AWAY_AT_WEEKEND
    # Visitors stay for one to five days in a row; some came before the week.
    first = (rng.random(count) * 9).astype(np.int8) - 2
    last = np.maximum(0, first + (rng.random(count) ** 1.5 * 5).astype(np.int8))
    visiting = kind == Kind.VISITOR
    days = np.zeros(count, dtype=np.int8)
    for day in range(7):
        usual = rng.random(count) >= _AWAY_ON_A_DAY
        if day in _WEEKEND:
            usual &= ~away_at_weekend
        stays = (first <= day) & (day <= last)
        days |= np.where(visiting, stays, usual).astype(np.int8) << day
    days[(visits > _ALWAYS_ABOUT) | (days == 0)] = _EVERY_DAY
    return days


@dataclass(frozen=True, kw_only=True)
class Gathering:
    """People at one place for a few hours.

    Attributes:
        east_m: Metres east of the middle.
        north_m: Metres north of it.
        first_hour: The first hour, from Monday 00:00 on.
        hours: How many hours it lasts.
        share: Share of all people who come.
    """

    east_m: float
    north_m: float
    first_hour: int
    hours: int
    share: float


def _on(day: int, hour: int) -> int:
    return 24 * day + hour


_MARKETS: Final = (
    (2_000, 1_900),
    (-1_900, 2_900),
    (4_300, 400),
    (-3_600, -1_900),
    (700, -3_300),
    (2_900, -2_700),
    (-600, 3_300),
    (1_900, 3_500),
)

GATHERINGS: Final = (
    # A match at the stadium, and another one at the weekend.
    Gathering(east_m=-5_300, north_m=-1_500, first_hour=_on(2, 19), hours=4, share=0.008),
    Gathering(east_m=-5_300, north_m=-1_500, first_hour=_on(5, 16), hours=3, share=0.006),
    # Concerts in a hall and in a park.
    Gathering(east_m=3_500, north_m=-1_700, first_hour=_on(3, 19), hours=4, share=0.004),
    Gathering(east_m=4_300, north_m=2_900, first_hour=_on(4, 20), hours=4, share=0.003),
    Gathering(east_m=6_000, north_m=-900, first_hour=_on(6, 14), hours=4, share=0.004),
    # A march, in three places one after the other; a strike at a station.
    Gathering(east_m=2_200, north_m=-200, first_hour=_on(1, 14), hours=2, share=0.003),
    Gathering(east_m=1_500, north_m=1_300, first_hour=_on(1, 15), hours=2, share=0.003),
    Gathering(east_m=-100, north_m=1_700, first_hour=_on(1, 17), hours=2, share=0.002),
    Gathering(east_m=1_000, north_m=2_400, first_hour=_on(0, 7), hours=3, share=0.003),
    # A fair, two days; a fashion show; a night of open doors.
    Gathering(east_m=-3_000, north_m=-3_500, first_hour=_on(3, 10), hours=4, share=0.002),
    Gathering(east_m=-3_000, north_m=-3_500, first_hour=_on(4, 10), hours=4, share=0.003),
    Gathering(east_m=-800, north_m=700, first_hour=_on(4, 18), hours=2, share=0.001),
    Gathering(east_m=300, north_m=-800, first_hour=_on(5, 22), hours=3, share=0.003),
    *(
        Gathering(east_m=east, north_m=north, first_hour=_on(6, 9), hours=4, share=0.0015)
        for east, north in _MARKETS
    ),
)
