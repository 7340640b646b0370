"""Evaluates a trip table by the fleet sized from it, and by how that fleet serves the true trips.

A table leaves open when in its period a trip begins, and an average day has parts of trips. So days
are drawn from it, a fleet is sized for each, and their spread is told with the answer. Against the
truth the question is not whether numbers agree but what riders would notice: how long they would
wait, on the true day, for the fleet that was bought by the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from statistics import fmean, median_high

import numpy as np

from hushway.errors import PlanError
from hushway.geography.itineraries import Itineraries
from hushway.privacy.measured import Internal
from hushway.progress import Progress
from hushway.transit.day_demand import DayDemand
from hushway.transit.fleet import FleetPlan, size_fleet
from hushway.transit.legs import RiderTrips
from hushway.transit.operations import Operations, ServiceRules, operate
from hushway.transit.shifts import Shifts, fewest_shifts

_HOUR_S = 3600


@dataclass(frozen=True)
class Drawn:
    """Shuttles that were found enough, one number for each day that was drawn."""

    shuttles: tuple[int, ...]

    @property
    def median(self) -> int:
        """The one in the middle; the larger of two."""
        return median_high(self.shuttles)

    @property
    def least(self) -> int:
        """The fewest."""
        return min(self.shuttles)

    @property
    def most(self) -> int:
        """The most."""
        return max(self.shuttles)


@dataclass(frozen=True, kw_only=True)
class ZoneVerdict:
    """The shuttles of one zone.

    Attributes:
        fleet: How many the table asks for.
        at_least: How many any dispatching needs on the first day that was drawn.
    """

    zone: str
    fleet: Drawn
    at_least: int
    truth: Drawn | None


@dataclass(frozen=True, kw_only=True)
class Service:
    """What riders and vehicles of a fleet see on the true days, on average over those drawn."""

    fleet: tuple[int, ...]
    mean_leg_wait_s: float
    mean_trip_wait_s: float
    mean_in_vehicle_s: float
    mean_idle_s: float
    unserved_legs: float
    unserved_trips: float


@dataclass(frozen=True, kw_only=True)
class TrueDays:
    """What the true trips say.

    Attributes:
        by_table: What happens on the true days with the fleet that the table asks for.
        by_truth: What happens with their own.
    """

    fleet: Drawn
    by_table: Service
    by_truth: Service


@dataclass(frozen=True, kw_only=True)
class FleetVerdict:
    """The fleet that a table asks for, and what comes of it.

    Attributes:
        zones: The shuttles of each zone, in the order of their names.
        first: The fleet of the first day that was drawn, with its proven bounds.
    """

    fleet: Drawn
    zones: tuple[ZoneVerdict, ...]
    first: FleetPlan
    truth: TrueDays | None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shuttles of each zone, the median of its draws; they may add up to another total."""
        return tuple(zone.fleet.median for zone in self.zones)

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        words = f"fleet {self.fleet.median} vehicles"
        draws = len(self.fleet.shuttles)
        if draws > 1:
            words += f", {self.fleet.least}-{self.fleet.most} over {draws} draws"
        return words if self.truth is None else f"{words}; truth {self.truth.fleet.median}"


_AVERAGED = tuple(field.name for field in fields(Service) if field.name != "fleet")


def judge_fleet(
    demand: DayDemand,
    routes: Itineraries,
    *,
    truth: DayDemand | None = None,
    draws: int,
    rules: ServiceRules,
    mean_wait_s: int,
    progress: Progress,
) -> Internal[FleetVerdict]:
    """Sizes the fleet for days drawn from a table, and tries it on the true days if known.

    Privacy:
        With a truth the verdict depends on exact trips: it is for the steward's own eyes. Without
        one it depends on the table alone.

    Args:
        truth: The same day of the exact table.
        draws: How many days are drawn of each.
        mean_wait_s: The longest mean wait for a shuttle, in every zone.
    """
    _check(demand, routes, truth, draws)
    study = _Study(
        routes=routes, draws=draws, rules=rules, mean_wait_s=mean_wait_s, progress=progress
    )
    plans = study.size(demand, "Sizing the fleet")
    true_plans = [] if truth is None else study.size(truth, "Sizing the fleet of the true trips")
    zones = tuple(
        ZoneVerdict(
            zone=zone.zone,
            fleet=_of_zone(plans, number),
            at_least=zone.bound.shuttles,
            truth=_of_zone(true_plans, number) if true_plans else None,
        )
        for number, zone in enumerate(plans[0].zones)
    )
    return Internal(
        FleetVerdict(
            fleet=_of_all(plans),
            zones=zones,
            first=plans[0],
            truth=None if truth is None else _true_days(study, truth, true_plans, zones),
        )
    )


def drivers(operations: Operations, shift_hours: tuple[int, ...]) -> Shifts:
    """Returns the shifts that drive a day's shuttles for the least pay, hour by hour.

    In an hour a driver is needed for every shuttle that has a rider on board, or drives to one, in
    any part of it: from the moment when a leg is asked for, which is when its shuttle is told,
    until the rider leaves. Hours are counted from the beginning of the window, and the last may be
    a shorter one; rides that end after the window are driven to their end by those on duty.
    """
    start_s, end_s = operations.window_s
    served = operations.leg[operations.leg["board_s"] >= 0]
    begins_s = np.arange(start_s, end_s, _HOUR_S)[:, None]
    ends_s = np.minimum(begins_s + _HOUR_S, end_s)
    in_use = (served["request_s"] < ends_s) & (served["leave_s"] > begins_s)
    needed = [len(np.unique(served["shuttle"][some])) for some in in_use]
    return fewest_shifts(np.array(needed, dtype=np.int64), shift_hours)


@dataclass(frozen=True, kw_only=True)
class _Study:
    """What stays the same for all days of a verdict."""

    routes: Itineraries
    draws: int
    rules: ServiceRules
    mean_wait_s: int
    progress: Progress

    def size(self, demand: DayDemand, step: str) -> list[FleetPlan]:
        """Returns the fleet of every day that is drawn."""
        return [
            size_fleet(
                self.routes,
                day,
                rules=self.rules,
                window_s=demand.window_s,
                mean_wait_s=self.mean_wait_s,
            )
            for day in self._days(demand, step)
        ]

    def serve(self, truth: DayDemand, fleet: tuple[int, ...], step: str) -> Service:
        """Returns what a fleet does on the true days, on average."""
        days = [
            operate(self.routes, day, fleet, rules=self.rules, window_s=truth.window_s)
            for day in self._days(truth, step)
        ]
        return Service(
            fleet=fleet, **{name: fmean(getattr(day, name) for day in days) for name in _AVERAGED}
        )

    def _days(self, demand: DayDemand, step: str) -> Iterator[RiderTrips]:
        for seed in range(self.draws):
            self.progress(step, seed / self.draws)
            yield demand.draw(seed)


def _true_days(
    study: _Study, truth: DayDemand, plans: list[FleetPlan], zones: tuple[ZoneVerdict, ...]
) -> TrueDays:
    of_table = tuple(zone.fleet.median for zone in zones)
    of_truth = tuple(_of_zone(plans, number).median for number in range(len(zones)))
    return TrueDays(
        fleet=_of_all(plans),
        by_table=study.serve(truth, of_table, "Trying the fleet on the true trips"),
        by_truth=study.serve(truth, of_truth, "Trying their own fleet on the true trips"),
    )


def _of_all(plans: list[FleetPlan]) -> Drawn:
    return Drawn(tuple(plan.shuttles for plan in plans))


def _of_zone(plans: list[FleetPlan], zone: int) -> Drawn:
    return Drawn(tuple(plan.sizes[zone] for plan in plans))


def _check(demand: DayDemand, routes: Itineraries, truth: DayDemand | None, draws: int) -> None:
    if draws < 1:
        raise PlanError("No day is to be drawn.", advice="Draw 1 day or more.")
    if routes.network.locations.digest != demand.universe.locations.digest:
        raise PlanError(
            "The network has other places than the table.",
            advice="Make the network over the table's list of places.",
        )
    if truth is not None and truth.universe.digest != demand.universe.digest:
        raise PlanError(
            "The true trips are not counted by the cells of the table.",
            advice="Take the same day and hours of both.",
        )
