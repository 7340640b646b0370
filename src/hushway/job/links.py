"""The job of a links plan."""

from dataclasses import dataclass

from hushway.engine.check_traces import check_traces
from hushway.engine.movements_ends import EndTreatment, MetricEnds, NoEnds
from hushway.engine.movements_rows import AnyTraces
from hushway.engine.movements_traces import TraceMovements
from hushway.engine.movements_trips import Splitting
from hushway.engine.session import EngineSettings
from hushway.geography.movements import LinkUniverse, MovementLimits
from hushway.geography.periods import Periods
from hushway.geography.road_report import RoadsReport
from hushway.geography.zones_grid import grid_zones
from hushway.job.job import Job, Means, Wording, account_of
from hushway.job.wording import NOT_PROTECTED, plural
from hushway.plan import LinksPlan
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.releases.links.catalogue import link_counts, smaller_noise
from hushway.releases.links.counts import LinkCounts
from hushway.tables.check import Problem
from hushway.tables.policy import Policy
from hushway.tables.roads import RoadColumns, read_roads
from hushway.tables.traces import TraceColumns, TracesSource
from hushway.tables.traces_gpx import GpxTraces
from hushway.tables.traces_mds import MdsTraces

_ASSUMED_PUBLIC = (
    "The road network: its links, nodes, classes, usual speeds and zones.",
    "The window of days, the periods and the time zone.",
    "The mechanism, its parameters, how trips are split, and the contribution bound.",
)
_ENDS = (
    "Ends of trips were moved by noise before roads were found: {epsilon} for {radius} m and each "
    "end, drawn afresh for at most {trips} of a person. That is besides the claim, which does not "
    "need it. It compares two places of one end inside the surroundings of the network, all other "
    "positions and all times being the same. These were used as they are, unless they were near "
    "the noisy ends, and may point at the true ones."
)


@dataclass(frozen=True, kw_only=True)
class TraceRows:
    """The traces of a plan.

    Attributes:
        source: Where they are.
        universe: The public roads, periods and zones.
        limits: How much of one person counts.
        policy: What becomes of positions that cannot be counted.
        splitting: How positions become trips.
        ends: What is done to the ends of trips.
        report: What became of the roads of the file.
    """

    source: AnyTraces
    universe: LinkUniverse
    limits: MovementLimits
    policy: Policy
    splitting: Splitting
    ends: EndTreatment
    report: RoadsReport

    def check(self, settings: EngineSettings, *, notes: bool) -> list[Problem]:
        """Returns what is wrong with the traces; with notes also what may be."""
        found = check_traces(
            self.source,
            self.universe,
            self.policy,
            settings=settings,
            notes=notes,
            splitting=self.splitting,
        )
        return found + (self._roads() if notes else [])

    def _roads(self) -> list[Problem]:
        return [
            Problem(
                kind="roads",
                message=" ".join(self.report.sentences),
                count=None,
                severity="note",
                advice="Only roads that can be reached and left again are matched.",
            )
        ]

    def counter(self, means: Means) -> TraceMovements:
        """Returns who counts them, each person bounded."""
        return TraceMovements(
            source=self.source,
            universe=self.universe,
            limits=self.limits,
            key=means.key,
            settings=means.settings,
            progress=means.progress,
            ends=self.ends,
            bits=means.bits,
            splitting=self.splitting,
        )


def prepare_links(plan: LinksPlan) -> Job:
    """Reads the public files of a links plan and sets up its mechanism.

    Raises:
        GeographyError: The roads or the periods are wrong.
    """
    universe, report = _universe(plan)
    limits = MovementLimits(
        max_items=plan.privacy.max_items, speed_steps=plan.mechanism.speed_steps
    )
    bound = Bound(cells=limits.max_items, each=1, total=limits.max_items)
    mechanism = _mechanism(plan, limits)
    ends = _ends(plan)
    return Job(
        plan=plan,
        geography=universe,
        bound=bound,
        mechanism=mechanism,
        account=account_of(plan),
        rows=TraceRows(
            source=_source(plan),
            universe=universe,
            limits=limits,
            policy=Policy(**plan.problems.model_dump()),
            splitting=Splitting(gap_s=plan.trips.gap_s, most_speed=plan.trips.most_speed),
            ends=ends,
            report=report,
        ),
        wording=_wording(mechanism, universe, bound, ends),
        check_writable=lambda: None,
    )


def _universe(plan: LinksPlan) -> tuple[LinkUniverse, RoadsReport]:
    given = plan.roads
    roads, report = read_roads(
        plan.path(given.file),
        columns=RoadColumns(**given.columns.model_dump()),
        crs=given.crs,
        service=given.service,
        speed_unit=given.speed_unit,
    )
    zone, zones = grid_zones(roads, given.zone_metres)
    periods = Periods(**plan.time.model_dump())
    return LinkUniverse(roads=roads, periods=periods, zone=zone, zones=zones), report


def _source(plan: LinksPlan) -> AnyTraces:
    data, path = plan.data, plan.path(plan.data.traces)
    if data.format == "gpx":
        return GpxTraces(path)
    if data.format == "mds":
        return MdsTraces(path)
    return TracesSource(
        path=path, columns=TraceColumns(**data.columns.model_dump()), clock=data.clock
    )


def _ends(plan: LinksPlan) -> EndTreatment:
    given = plan.ends
    # Not model_dump, which would write fractions out as text.
    return NoEnds() if given is None else MetricEnds(**dict(given))


def _mechanism(plan: LinksPlan, limits: MovementLimits) -> LinkCounts:
    chosen = plan.mechanism
    return link_counts(
        limits,
        budget=_budget(plan, limits),
        classes=chosen.classes,
        speeds=chosen.speeds,
        shown=chosen.shown,
        expect=chosen.expect,
        conserve=chosen.conserve,
    )


def _budget(plan: LinksPlan, limits: MovementLimits) -> Loss:
    privacy, noise = plan.privacy, plan.mechanism.noise
    if noise == "auto":
        return smaller_noise(privacy.epsilon, privacy.delta, limits)
    if noise == "gaussian" and privacy.delta is not None:
        return ZCDPLoss(rho_for(privacy.epsilon, privacy.delta))
    return PureLoss(privacy.epsilon)


def _wording(
    mechanism: LinkCounts, universe: LinkUniverse, bound: Bound, ends: EndTreatment
) -> Wording:
    roads = universe.roads
    errors = mechanism.forecast(universe, bound)
    moved = (
        (
            _ENDS.format(
                epsilon=ends.epsilon, radius=ends.radius, trips=plural(ends.max_trips, "trip")
            ),
        )
        if isinstance(ends, MetricEnds)
        else ()
    )
    noise = mechanism.spends.links.measure.noise
    return Wording(
        rows="traces",
        counted="persons",
        universe=f"{plural(roads.links, 'link')}, {plural(roads.nodes, 'node')}, "
        f"{plural(len(universe.periods), 'period')}, {plural(len(universe.zones), 'zone')}.",
        contribution=f"At most {plural(bound.total, 'item')} of a person in the whole window are "
        "counted, chosen uniformly at random among the distinct links of each period that the "
        "person was on and the nodes at which the person's trips began and ended; each counts "
        "once.",
        limits={"items": bound.total, "speed_steps": mechanism.limits.speed_steps},
        assumed_public=_ASSUMED_PUBLIC,
        not_protected=(*NOT_PROTECTED, *moved),
        error="Standard deviations of the noise, in persons: "
        + ", ".join(f"{one.standard_error:.3g} ({one.figure})" for one in errors)
        + ". Published counts come with standard errors of their own.",
        noise=f"The noise is {noise}: with this epsilon, delta and number of items it is the "
        "smaller one.",
    )
