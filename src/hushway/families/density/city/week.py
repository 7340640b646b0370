"""The tables that the events of the synthetic Paris are looked up in, as plain arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray, Int8Array, IntArray
from hushway.families.density.city import ground
from hushway.families.density.city.gatherings import GATHERINGS
from hushway.families.density.city.people import People
from hushway.families.density.city.rhythms import Kind, calling, places
from hushway.families.density.city.towers import TowerField
from hushway.study.chance import pick

# A uniform draw is cut into so many steps, and each step has its answer in a table.
STEPS = 1 << 16


class Who(NamedTuple):
    """The people, one entry each; see `People`."""

    rhythm: Int8Array
    anchors: NDArray[np.int16]
    shift: Int8Array
    about: Int8Array
    gathering: Int8Array


class Week(NamedTuple):
    """When people call and from which of their places.

    Attributes:
        hour: The hour at each step, one row for each rhythm.
        place: Cumulative shares of places, by kind and hour.
        meet_first: The first hour of each gathering.
        meet_hours: How many hours it lasts.
    """

    hour: NDArray[np.uint8]
    place: NDArray[np.float32]
    meet_first: IntArray
    meet_hours: IntArray


class Net(NamedTuple):
    """The towers; see `TowerField`.

    Attributes:
        east: How far east of the middle: the oval lies between -1 and 1.
        north: How far north of the middle.
        neighbours: The nearest towers of each, itself first.
        spread: Cumulative shares of calls near each tower that go to them.
        whim: How likely a tower takes part in each hour.
        grid: The tower nearest to the middle of each square of a grid.
        anywhere: The tower at each step, for calls from anywhere.
        meet_at: The tower nearest to each gathering.
    """

    east: FloatArray
    north: FloatArray
    neighbours: NDArray[np.int16]
    spread: NDArray[np.float32]
    whim: NDArray[np.float32]
    grid: NDArray[np.int16]
    anywhere: NDArray[np.int16]
    meet_at: IntArray


def who_of(people: People) -> Who:
    """Returns people as plain arrays."""
    return Who(
        rhythm=people.rhythm,
        anchors=people.anchors,
        shift=people.shift,
        about=people.about,
        gathering=people.gathering,
    )


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
