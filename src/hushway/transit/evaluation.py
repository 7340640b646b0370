"""Sizes the fleet that a release asks for, and compares it with the fleet of the exact trips."""

from dataclasses import dataclass
from pathlib import Path

from hushway.errors import PlanError
from hushway.geography.itineraries import Itineraries, itineraries
from hushway.geography.transit import TransitNetwork
from hushway.privacy.measured import Internal
from hushway.progress import Progress
from hushway.transit.day_demand import DayDemand, Hours, published_day, read_od_table, true_day
from hushway.transit.fleet import MEAN_WAIT_S
from hushway.transit.judge import FleetVerdict, drivers, judge_fleet
from hushway.transit.network.file import read_network
from hushway.transit.network.gtfs import gtfs_network
from hushway.transit.operations import ServiceRules, operate
from hushway.transit.shifts import Shifts

_RULES = ServiceRules()
_HOUR_S = 3600
_READING = "Reading the release"


@dataclass(frozen=True, kw_only=True)
class FleetQuestion:
    """What is asked of a release.

    Attributes:
        gtfs: A feed to take them from instead. With neither, shuttles drive everywhere.
        plan: The plan of the release, to compare with the exact trips.
        mean_wait_s: The longest mean wait for a shuttle, in every zone.
        shift_hours: How many hours a driver's shift may last; without any, none are planned.
    """

    network: Path | None = None
    gtfs: Path | None = None
    plan: Path | None = None
    draws: int = 20
    day: str | None = None
    hours: Hours | None = None
    mean_wait_s: int = MEAN_WAIT_S
    shift_hours: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.network is not None and self.gtfs is not None:
            raise PlanError(
                "There are two networks: a network file and a feed.",
                advice="Give one of them, or neither for shuttles alone.",
            )
        if self.mean_wait_s < 0:
            raise PlanError("A wait cannot be negative.", advice="Give 0 seconds or more.")


@dataclass(frozen=True, kw_only=True, eq=False)
class FleetEvaluation:
    """The answer.

    Attributes:
        drivers: The shifts of the release's fleet on the first day drawn from it, if asked for.
    """

    verdict: Internal[FleetVerdict]
    drivers: Shifts | None
    demand: DayDemand
    routes: Itineraries

    def picture(self, title: str) -> bytes:
        """Returns the network with the fleet of the first day drawn from the release, as PNG.

        Privacy:
            Drawn from the release and the public network alone.
        """
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.transit.picture.picture import draw_network

        return draw_network(
            self.verdict.value.first,
            self.routes.network,
            title=title,
            routes=self.routes,
            trips=self.demand.draw(0),
        )


def evaluate_fleet(
    release: Path, question: FleetQuestion, *, progress: Progress
) -> FleetEvaluation:
    """Sizes the fleet that a release asks for; with a plan, also the one of the exact trips.

    Privacy:
        Without a plan it reads a published release and public files. With a plan all exact trips
        are counted, nobody's bounded and without noise: nothing is spent, since nothing is
        released, and the verdict is Internal.
    """
    progress(_READING)
    published = read_od_table(release)
    demand = published_day(published, day=question.day, hours=question.hours)
    _refuse_long_shifts(demand, question)
    routes = itineraries(_network(demand, question))
    truth = None
    if question.plan is not None:
        truth = true_day(
            question.plan, published, day=question.day, hours=question.hours, progress=progress
        )
    verdict = judge_fleet(
        demand,
        routes,
        truth=truth,
        draws=question.draws,
        rules=_RULES,
        mean_wait_s=question.mean_wait_s,
        progress=progress,
    )
    return FleetEvaluation(
        verdict=verdict,
        drivers=_drivers(demand, routes, verdict.value, question),
        demand=demand,
        routes=routes,
    )


def _refuse_long_shifts(demand: DayDemand, question: FleetQuestion) -> None:
    """Makes sure that some shift fits, before the work of sizing is done."""
    start_s, end_s = demand.window_s
    service_h = -(-(end_s - start_s) // _HOUR_S)
    if question.shift_hours and min(question.shift_hours) > service_h:
        raise PlanError(
            f"No shift fits into {service_h} hours of service.",
            advice="Name shorter shifts, or longer hours.",
        )


def _network(demand: DayDemand, question: FleetQuestion) -> TransitNetwork:
    locations, periods = demand.universe.locations, demand.universe.periods
    if question.network is not None:
        return read_network(question.network, locations)
    if question.gtfs is not None:
        window = periods.opens, periods.closes
        return gtfs_network(question.gtfs, locations, day=periods.first_day, window=window)
    return TransitNetwork(locations=locations, hubs=(), lines=())


def _drivers(
    demand: DayDemand, routes: Itineraries, verdict: FleetVerdict, question: FleetQuestion
) -> Shifts | None:
    if not question.shift_hours:
        return None
    day = operate(routes, demand.draw(0), verdict.sizes, rules=_RULES, window_s=demand.window_s)
    return drivers(day, question.shift_hours)
