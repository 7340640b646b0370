"""The job of a density plan."""

from dataclasses import dataclass, replace

from hushway.engine.settings import EngineSettings
from hushway.families.density.mechanism.catalogue import MECHANISMS, DensitySetting
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.terms import DensityMechanism, density_terms, settled_terms
from hushway.families.density.plan import DensityPlan
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import DensityUniverse, VisitLadder, VisitLimits
from hushway.families.density.rows.check import check_events
from hushway.families.density.rows.counter import EngineVisits
from hushway.families.density.rows.rows import EventColumns, EventsSource
from hushway.privacy.bound import Bound, Unit
from hushway.release.job import CountingContext, Job, Wording, window_of_days
from hushway.release.plans.places import listed_places
from hushway.release.wording import plural
from hushway.tables.areas import AreaColumns, read_areas
from hushway.tables.check import Policy, RowsChecked


@dataclass(frozen=True, kw_only=True)
class EventRows:
    """The events of a plan.

    Attributes:
        limits: How much of one person counts; what is usual where it is to be chosen.
        ladder: The limits to choose from, if they are.
    """

    source: EventsSource
    universe: DensityUniverse
    limits: VisitLimits
    ladder: VisitLadder | None
    unit: Unit
    policy: Policy

    def check(self, settings: EngineSettings, *, notes: bool) -> RowsChecked:
        """Returns what is wrong with the events; with notes also what may be."""
        return check_events(
            self.source,
            self.universe,
            self.policy,
            settings=settings,
            notes=notes,
            limits=self.limits if self.ladder is None else None,
        )

    def counter(self, context: CountingContext) -> EngineVisits:
        """Returns who counts them, each person bounded."""
        return EngineVisits(
            source=self.source,
            universe=self.universe,
            limits=self.limits,
            ladder=self.ladder,
            unit=self.unit,
            key=context.key,
            settings=context.settings,
            progress=context.progress,
        )


def prepare_density(plan: DensityPlan, *, like: Job | None = None) -> Job:
    """Reads the public files of a density plan and sets up its mechanism.

    Args:
        like: A job of the same public files, which are then not read again.

    Raises:
        GeographyError: The areas, the towers or the window are wrong.
    """
    universe = _universe(plan) if like is None else _same_universe(like)
    setting = DensitySetting(plan=plan, universe=universe)
    mechanism: DensityMechanism = MECHANISMS[plan.mechanism.name].from_plan(setting)
    people = mechanism if isinstance(mechanism, DensityPeople) else None
    limits, unit = mechanism.limits, plan.privacy.unit
    visits = limits.of_a_person(universe)
    bound = Bound(cells=visits, each=1 if limits.one_in_a_bin else visits, total=visits)
    return Job(
        plan=plan,
        geography=universe,
        bound=bound,
        mechanism=mechanism,
        terms=density_terms(mechanism, universe, unit=unit),
        settled_terms=None
        if people is None
        else lambda found: settled_terms(people, found, universe, unit),
        window=window_of_days(
            plan.time.first_day, plan.time.last_day, plan.time.zone, clock=plan.data.clock
        ),
        rows=EventRows(
            source=_source(plan),
            universe=universe,
            limits=limits,
            ladder=None if people is None else people.ladder,
            unit=unit,
            policy=Policy(**dict(plan.problems)),
        ),
        wording=_wording(universe),
    )


def _universe(plan: DensityPlan) -> DensityUniverse:
    areas, towers = plan.areas, plan.places
    universe = density_universe(
        read_areas(
            plan.path(areas.file),
            AreaColumns(id=areas.id, name=areas.name),
            crs=areas.crs,
            dissolve=areas.dissolve,
        ),
        plan.time.periods,
        None if towers is None else listed_places(plan, towers, towers.file),
        outside="refuse" if towers is None else towers.outside,
        cache=None if areas.cache is None else plan.path(areas.cache),
    )
    if not plan.time.average:
        return universe
    return replace(
        universe, average_types=plan.time.types(), holidays=plan.time.days_off(plan.path)
    )


def _same_universe(job: Job) -> DensityUniverse:
    universe = job.geography
    assert isinstance(universe, DensityUniverse)  # noqa: S101  what a density plan makes
    return universe


def _source(plan: DensityPlan) -> EventsSource:
    named = plan.data.columns
    return EventsSource(
        path=plan.rows_path(plan.data.events),
        columns=EventColumns(location=named.place, **named.model_dump(exclude={"place"})),
        clock=plan.data.clock,
        time_format=plan.data.time_format,
        encoding=plan.data.encoding,
    )


def _wording(universe: DensityUniverse) -> Wording:
    seen = "" if universe.sites is None else f"{plural(universe.site_count, 'site')}, "
    return Wording(
        rows="events",
        counted="visits",
        universe=f"{plural(len(universe.areas), 'area')}, {seen}{plural(universe.bins, 'period')}, "
        f"{plural(len(universe.cover), 'cell')} of the cover.",
    )
