"""What the towers of the synthetic Paris see: who lives and works near, and their own whims."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray
from hushway.families.density.city import ground
from hushway.families.density.city.rhythms import HOURS

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
        homes: How many people live nearest to each tower.
        offices: How many work there.
        schools: How many study there.
        outings: How many go out there.
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
    strength = np.exp(_UNEVEN * _normal(rng, towers))
    weight = strength[neighbours] * np.exp(-distance / (_FADE * spacing))

    def seen(density: FloatArray) -> FloatArray:
        total = np.bincount(nearest, weights=density, minlength=towers)
        return np.asarray(total * np.exp(_UNEVEN * _normal(rng, towers)))

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
        own, shared = _normal(rng, towers, columns), _normal(rng, towers, columns)
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


def _normal(rng: np.random.Generator, *shape: int) -> FloatArray:
    """Draws normal numbers (Box and Muller), because only uniform draws are stable."""
    radius = np.sqrt(-2 * np.log1p(-rng.random(shape)))
    return np.asarray(radius * np.cos(2 * np.pi * rng.random(shape)))
