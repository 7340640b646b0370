"""Trips of riders: departure, origin and destination."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.od.public.cells import ODCells


@dataclass(frozen=True, kw_only=True, eq=False)
class RiderTrips:
    """Trips in the order of departure; one rider each.

    Attributes:
        depart_s: When each begins, in seconds after midnight, ascending.
    """

    depart_s: IntArray
    origin: IntArray
    destination: IntArray

    def __post_init__(self) -> None:
        if (np.diff(self.depart_s) < 0).any() or (self.origin == self.destination).any():
            raise PlanError(
                "Trips are not in the order of departure, or one ends where it began.",
                advice="Put them in order with in_order, and leave out trips that go nowhere.",
            )

    def __len__(self) -> int:
        return len(self.depart_s)


def in_order(depart_s: IntArray, origin: IntArray, destination: IntArray) -> RiderTrips:
    """Returns trips in the order of departure; those that begin together keep their order."""
    order = np.argsort(depart_s, kind="stable")
    return RiderTrips(
        depart_s=depart_s[order].astype(np.int64),
        origin=origin[order].astype(np.int64),
        destination=destination[order].astype(np.int64),
    )


def draw_trips(universe: ODCells, cells: IntArray, counts: IntArray, *, seed: int) -> RiderTrips:
    """Returns one trip for each that a table counts, at a moment drawn within its period.

    A table of periods does not say when in its period a trip begins: every second of it is as
    likely as any other. Trips that end where they began are left out: nobody rides them.

    Args:
        universe: The cells of the table; its periods are parts of one day.
        cells: Numbers of the cells that hold trips.
    """
    period, origin, destination = universe.decode(np.repeat(cells, counts))
    away = origin != destination
    period, origin, destination = period[away], origin[away], destination[away]
    periods = universe.periods
    part = period % periods.parts
    length_s = np.array([each.minutes * 60 for each in periods.day_parts])[part]
    rng = np.random.Generator(np.random.PCG64(seed))
    within_s = np.floor(rng.random(len(period)) * length_s).astype(np.int64)
    start_s = np.array([each.starts * 60 for each in periods.day_parts])[part]
    return in_order(start_s + within_s, origin, destination)
