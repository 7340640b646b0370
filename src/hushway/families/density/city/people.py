"""The people of the synthetic Paris and what its towers see: who lives, works and calls near."""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, Int8Array, IntArray
from hushway.families.density.city import ground
from hushway.families.density.city.rhythms import HOURS, SHARE_OF_KIND, Kind
from hushway.numerics.chance import pick, standard_normal

NEIGHBOURS = 12
GRID = 128
_SPOTS_EACH = 40
# Calls go to a tower less often by a factor of e with every such distance, in tower spacings.
_FADE = 0.5
_UNEVEN = 0.25

# Deviations of the logarithm of a tower's own rhythm: by hour of the day, by day, hour by hour.
_OWN_CLOCK, _OWN_DAYS, _OWN_HOURS = 0.08, 0.06, 0.08
_SHARED_M = 500.0
_FURTHEST = 0.42
_OUTAGES_PER_TOWER = 0.006


@dataclass(frozen=True, kw_only=True, eq=False)
class TowerField:
    """Towers, and how people and calls spread over them.

    Attributes:
        position_m: Metres east and north of the middle.
        errands: How many are there in their spare time by day.
        stations: How many come and go there by train.
        neighbours: The nearest towers of each, itself first.
        spread: Cumulative shares of calls near each tower that go to them.
        whim: How likely a tower takes part in each hour, from 0 to 1.
        grid: The tower nearest to the middle of each square of a grid.
    """

    position_m: FloatArray
    homes: FloatArray
    offices: FloatArray
    schools: FloatArray
    outings: FloatArray
    errands: FloatArray
    stations: FloatArray
    neighbours: NDArray[np.int16]
    spread: NDArray[np.float32]
    whim: NDArray[np.float32]
    grid: NDArray[np.int16]

    def nearest(self, east_m: float, north_m: float) -> int:
        """Returns the tower nearest to a point."""
        return int(np.argmin(np.hypot(*(self.position_m - (east_m, north_m)).T)))


def tower_field(position_m: FloatArray, rng: np.random.Generator) -> TowerField:
    """Returns what the towers at these positions see."""
    from scipy.spatial import cKDTree

    towers = len(position_m)
    tree = cKDTree(position_m)
    at = ground.spots(_SPOTS_EACH * towers)
    nearest = np.asarray(tree.query(at)[1], dtype=np.int64)
    distance, neighbours = tree.query(position_m, k=min(NEIGHBOURS, towers))
    spacing = distance[:, 1:4].mean(axis=1, keepdims=True)
    strength = np.exp(_UNEVEN * standard_normal(rng, towers))
    weight = strength[neighbours] * np.exp(-distance / (_FADE * spacing))

    def seen(density: FloatArray) -> FloatArray:
        total = np.bincount(nearest, weights=density, minlength=towers)
        return np.asarray(total * np.exp(_UNEVEN * standard_normal(rng, towers)))

    return TowerField(
        position_m=position_m,
        homes=seen(ground.homes(at)),
        offices=seen(ground.offices(at)),
        schools=seen(ground.schools(at)),
        outings=seen(ground.outings(at)),
        errands=seen(ground.errands(at)),
        stations=seen(ground.stations(at)),
        neighbours=neighbours.astype(np.int16),
        spread=_cumulative(weight),
        whim=_whims(position_m, rng),
        grid=np.asarray(tree.query(_squares())[1], dtype=np.int16),
    )


def _squares() -> FloatArray:
    line = (np.arange(GRID) + 0.5) / GRID * 2 - 1
    east, north = np.meshgrid(ground.HALF_WIDTH_M * line, ground.HALF_HEIGHT_M * line)
    return np.column_stack([east.ravel(), north.ravel()])


def _cumulative(weight: FloatArray) -> NDArray[np.float32]:
    shares = np.cumsum(weight, axis=1)
    return (shares / shares[:, -1:]).astype(np.float32)


def _whims(position_m: FloatArray, rng: np.random.Generator) -> NDArray[np.float32]:
    """Returns factors that vary by tower and hour beyond any few patterns.

    Half of their variance is shared with towers nearby. They change smoothly from hour to hour,
    with every tower's own clock, days and moods. A few towers fail for some hours.
    """
    towers = len(position_m)
    gap = position_m[:, None] - position_m[None]
    near = np.exp(-0.5 * np.sum(gap**2, axis=2) / _SHARED_M**2)
    near /= np.sqrt(np.sum(near**2, axis=1, keepdims=True))

    def field(columns: int) -> FloatArray:
        own, shared = standard_normal(rng, towers, columns), standard_normal(rng, towers, columns)
        return np.asarray((own + near @ shared) / np.sqrt(2))

    clock = np.tile(_smooth(field(24), 2.0), 7)
    days = np.repeat(field(7), 24, axis=1)
    hours = _smooth(field(HOURS), 1.0)
    log = _OWN_CLOCK * clock + _OWN_DAYS * days + _OWN_HOURS * hours
    whim = np.exp(np.clip(log, -_FURTHEST, _FURTHEST) - _FURTHEST)
    for tower, first, length in _outages(towers, rng):
        whim[tower, first : first + length] = 0.0
    return whim.astype(np.float32)


def _outages(towers: int, rng: np.random.Generator) -> list[tuple[int, int, int]]:
    count = round(_OUTAGES_PER_TOWER * towers)
    tower, first, length = rng.random((3, count)) * [[towers], [HOURS - 12], [10]]
    return [(int(t), int(f), 2 + int(n)) for t, f, n in zip(tower, first, length, strict=True)]


def _smooth(field: FloatArray, width: float) -> FloatArray:
    """Returns a field smoothed along its rows, around the end, with the same variance."""
    columns = field.shape[1]
    off = (np.arange(columns) + columns // 2) % columns - columns // 2
    bell = np.exp(-0.5 * (off / width) ** 2)
    bell /= np.sqrt(np.sum(bell**2))
    mixed = np.fft.irfft(np.fft.rfft(field, axis=1) * np.fft.rfft(bell), n=columns, axis=1)
    return np.asarray(mixed)


HEAVY = 40
# Whoever calls this often is about every day.
_ALWAYS_ABOUT = 100
_CLOSER = 0.6
_AWAY_AT_WEEKEND, _AWAY_ON_A_DAY = 0.2, 0.07
_SHIFTS = np.array([0.2, 0.5, 0.2, 0.1])
_EVERY_DAY = 0b111_1111
_WEEKEND = (5, 6)


class People(NamedTuple):
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
        first_hour: The first hour, from Monday 00:00 on.
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
