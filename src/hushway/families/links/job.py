"""The job of a links plan."""

from dataclasses import dataclass, replace

from hushway.engine.settings import EngineSettings
from hushway.families.links.mechanism.catalogue import MECHANISMS, LinksSetting, limits_of
from hushway.families.links.mechanism.people import LinkPeople
from hushway.families.links.mechanism.terms import LinksMechanism, links_terms
from hushway.families.links.plan import LinksPlan
from hushway.families.links.public.cleaning import RoadsReport
from hushway.families.links.public.lines import RoadColumns
from hushway.families.links.public.read import read_roads
from hushway.families.links.public.roads import grid_zones
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.families.links.rows.check import check_traces
from hushway.families.links.rows.gpx import GpxTraces
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.noisy import EndTreatment, MetricEnds, NoEnds
from hushway.families.links.rows.rows import AnyTraces, MdsTraces, TraceColumns, TracesSource
from hushway.families.links.rows.trips import Splitting
from hushway.privacy.bound import Bound, Unit
from hushway.release.job import CountingContext, Job, Wording, window_of_days
from hushway.release.wording import plural
from hushway.tables.check import Policy, Problem, RowsChecked


@dataclass(frozen=True, kw_only=True)
class TraceRows:
    """The traces of a plan."""

    source: AnyTraces
    universe: LinkUniverse
    limits: MovementLimits
    unit: Unit
    policy: Policy
    splitting: Splitting
    ends: EndTreatment
    report: RoadsReport

    def check(self, settings: EngineSettings, *, notes: bool) -> RowsChecked:
        """Returns what is wrong with the traces; with notes also what may be."""
        checked = check_traces(
            self.source,
            self.universe,
            self.policy,
            settings=settings,
            notes=notes,
            splitting=self.splitting,
            limits=None if self.limits.choices else self.limits,
        )
        return replace(checked, problems=(*checked.problems, *self._roads())) if notes else checked

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

    def counter(self, context: CountingContext) -> TraceMovements:
        """Returns who counts them, each person bounded."""
        return TraceMovements(
            source=self.source,
            universe=self.universe,
            limits=self.limits,
            unit=self.unit,
            key=context.key,
            settings=context.settings,
            progress=context.progress,
            ends=self.ends,
            bits=context.bits,
            splitting=self.splitting,
        )


def prepare_links(plan: LinksPlan, *, like: Job | None = None) -> Job:
    """Reads the public files of a links plan and sets up its mechanism.

    Args:
        like: A job of the same public files, which are then not read again.

    Raises:
        GeographyError: The roads or the periods are wrong.
    """
    universe, report = _universe(plan) if like is None else _same_universe(like)
    limits = limits_of(plan.privacy.max_items, **plan.mechanism.limits)
    bound = Bound(cells=limits.max_items, each=1, total=limits.max_items)
    setting = LinksSetting(plan=plan, limits=limits)
    mechanism: LinksMechanism = MECHANISMS[plan.mechanism.name].from_plan(setting)
    people, unit = mechanism if isinstance(mechanism, LinkPeople) else None, plan.privacy.unit
    source, made = _source(plan), mechanism.preparation
    return Job(
        plan=plan,
        geography=universe,
        bound=bound,
        mechanism=mechanism,
        terms=links_terms(mechanism, universe, unit=unit),
        settled_terms=None
        if people is None
        else lambda found: links_terms(people.settled(found), universe, unit=unit),
        window=window_of_days(
            plan.time.first_day, plan.time.last_day, plan.time.zone, clock=source.clock
        ),
        rows=TraceRows(
            source=source,
            universe=universe,
            limits=limits,
            unit=unit,
            policy=Policy(**dict(plan.problems)),
            splitting=Splitting(gap_s=made.gap_s, most_speed=made.most_speed),
            ends=NoEnds() if made.ends is None else MetricEnds(**vars(made.ends)),
            report=report,
        ),
        wording=_wording(mechanism, universe),
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
    return LinkUniverse(roads=roads, periods=plan.time.periods, zone=zone, zones=zones), report


def _same_universe(job: Job) -> tuple[LinkUniverse, RoadsReport]:
    rows = job.rows
    assert isinstance(rows, TraceRows)  # noqa: S101  what a links plan makes
    return rows.universe, rows.report


def _source(plan: LinksPlan) -> AnyTraces:
    data, path = plan.data, plan.rows_path(plan.data.traces)
    if data.format == "gpx":
        return GpxTraces(path)
    if data.format == "mds":
        return MdsTraces(path)
    return TracesSource(
        path=path,
        columns=TraceColumns(**data.columns.model_dump()),
        clock=data.clock,
        time_format=data.time_format,
        encoding=data.encoding,
    )


def _wording(mechanism: LinksMechanism, universe: LinkUniverse) -> Wording:
    roads = universe.roads
    noise = mechanism.losses[0].measure.noise
    number = "a usual number" if isinstance(mechanism, LinkPeople) else "this number"
    return Wording(
        rows="traces",
        counted="travellers",
        universe=f"{plural(roads.links, 'link')}, {plural(roads.nodes, 'node')}, "
        f"{plural(len(universe.periods), 'period')}, {plural(len(universe.zones), 'zone')}.",
        noise=f"The noise is {noise}: with this epsilon and delta, and {number} of items, it is "
        "the smaller one.",
    )
