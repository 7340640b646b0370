"""The job of an OD plan."""

from dataclasses import dataclass

from hushway.engine.settings import EngineSettings
from hushway.families.od.files.guard import check_sizes
from hushway.families.od.job_features import asked_features, asked_labels
from hushway.families.od.job_taps import taps_source, with_unknown
from hushway.families.od.mechanism.catalogue import MECHANISMS
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.people import LearnedPeople
from hushway.families.od.mechanism.setting import NoiseChoice, ODSetting
from hushway.families.od.mechanism.terms import TripKind, od_terms
from hushway.families.od.plan import ODPlan
from hushway.families.od.public.area_places import places_of_areas
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import trip_bound
from hushway.families.od.rows.check import check_trips
from hushway.families.od.rows.counter import EngineTrips
from hushway.families.od.rows.trips import (
    AnyTrips,
    FareColumns,
    FareTaps,
    MdsTrips,
    TripColumns,
    TripsSource,
)
from hushway.geography.areas import Areas
from hushway.geography.clock import microseconds
from hushway.geography.grouped_places import grouped, label_column
from hushway.geography.locations import Locations
from hushway.privacy.bound import Unit
from hushway.privacy.certificate import Terms
from hushway.privacy.ledger import Window
from hushway.release.contribution.crowd import USUAL_RECORDS
from hushway.release.job import CountingContext, Job, Wording, window_of_periods
from hushway.release.plans.places import listed_places
from hushway.tables.areas import AreaColumns, read_areas
from hushway.tables.check import Policy, RowsChecked


@dataclass(frozen=True, kw_only=True)
class TripRows:
    """The trips of a plan.

    Attributes:
        source: Where they are.
        cells: The public universe.
        unit: Who is protected.
        max_trips: Most trips of one person that are counted where nothing else is asked.
        ladder: Other limits that may be asked for.
        caps: Limits of trips in one cell that may be.
        policy: What becomes of trips that cannot be counted.
    """

    source: AnyTrips
    cells: ODCells
    unit: Unit
    max_trips: int
    ladder: tuple[int, ...]
    caps: tuple[int, ...]
    policy: Policy

    def check(self, settings: EngineSettings, *, notes: bool) -> RowsChecked:
        """Returns what is wrong with the trips; with notes also what may be."""
        return check_trips(
            self.source,
            self.cells,
            self.policy,
            settings=settings,
            notes=notes,
            unit=self.unit,
            max_trips=None if self.ladder else self.max_trips,
        )

    def counter(self, context: CountingContext) -> EngineTrips:
        """Returns who counts them, each unit bounded."""
        return EngineTrips(
            source=self.source,
            cells=self.cells,
            unit=self.unit,
            max_trips=self.max_trips,
            ladder=self.ladder,
            caps=self.caps,
            key=context.key,
            settings=context.settings,
            progress=context.progress,
        )


def prepare_od(plan: ODPlan, *, like: Job | None = None) -> Job:
    """Reads the public files of an OD plan and sets up its mechanism.

    Args:
        plan: What to prepare.
        like: A job of the same public files, which are then not read again.

    Raises:
        GeographyError: The locations, the periods or the features are wrong.
    """
    unit = plan.privacy.unit
    # Of a limit that is to be chosen, what is usual.
    bound = trip_bound(unit, plan.privacy.trip_limit or USUAL_RECORDS)
    areas = _areas(plan)
    cells = _cells(plan, areas) if like is None else _same_cells(like)
    clock = "utc" if plan.data.format == "mds" else plan.data.clock
    window = window_of_periods(cells.periods, clock=clock)
    setting = ODSetting(plan=plan, cells=cells, features=asked_features(plan, cells), bound=bound)
    planned = MECHANISMS[plan.mechanism.name].from_plan(setting)
    mechanism = planned.mechanism
    people = mechanism if isinstance(mechanism, LearnedPeople) else None

    def terms(mechanism: ODMechanism) -> Terms:
        return od_terms(mechanism, cells, unit=unit, max_trips=bound.total, trip=_trip_kind(plan))

    return Job(
        plan=plan,
        geography=cells,
        bound=bound,
        mechanism=mechanism,
        terms=terms(mechanism),
        settled_terms=None if people is None else lambda found: terms(people.settled(found)),
        window=window,
        rows=TripRows(
            source=_source(plan, areas, window),
            cells=cells,
            unit=unit,
            max_trips=bound.total,
            ladder=mechanism.ladder,
            caps=mechanism.caps,
            policy=Policy(**dict(plan.problems)),
        ),
        wording=_wording(cells, planned.noise),
        check_writable=lambda: check_sizes(cells, mechanism.totals),
    )


def _trip_kind(plan: ODPlan) -> TripKind:
    """Returns what one trip is, by the columns that tell trips apart."""
    columns = plan.data.columns
    if columns.trip_id is None:
        return "row"
    return "trip_id" if columns.person is None else "person_and_trip_id"


def _areas(plan: ODPlan) -> Areas | None:
    if plan.places.areas is None:
        return None
    columns = AreaColumns(**plan.places.area_columns.model_dump())
    return read_areas(plan.path(plan.places.areas), columns)


def _locations(plan: ODPlan, areas: Areas | None) -> Locations:
    if areas is not None:
        return places_of_areas(areas)
    assert plan.places.file is not None  # noqa: S101  a plan without areas names a list
    group = plan.places.group
    labels = asked_labels(plan) if group is None else label_column(group)
    read = listed_places(plan, plan.places, plan.places.file, labels)
    places = read if group is None else grouped(read, group)
    return places if plan.taps is None else with_unknown(places)


def _cells(plan: ODPlan, areas: Areas | None) -> ODCells:
    return ODCells(
        locations=_locations(plan, areas),
        periods=plan.time.periods(plan.path),
        include_intrazonal=plan.places.include_intrazonal,
    )


def _same_cells(job: Job) -> ODCells:
    cells = job.geography
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    return cells


def _source(plan: ODPlan, areas: Areas | None, window: Window) -> AnyTrips:
    path = plan.rows_path(plan.data.trips)
    if plan.data.format == "mds":
        assert areas is not None  # noqa: S101  a plan for MDS names them
        return MdsTrips(path=path, areas=areas)
    if plan.taps is not None:
        return taps_source(plan, plan.taps, window)
    if plan.data.format == "tides":
        start, end = window.as_written
        return FareTaps(
            path=path,
            columns=FareColumns(),
            clock=plan.data.clock,
            span_us=(microseconds(start), microseconds(end)),
        )
    columns = plan.data.columns.model_dump()
    if areas is not None:
        columns |= {"origin": None, "destination": None}
    return TripsSource(
        path=path,
        columns=TripColumns(**columns),
        clock=plan.data.clock,
        time_format=plan.data.time_format,
        areas=areas,
    )


def _wording(cells: ODCells, noise: NoiseChoice | None) -> Wording:
    return Wording(
        rows="trips",
        counted="trips",
        universe=(
            f"{len(cells.locations):,} places, {len(cells.periods):,} periods, "
            f"{cells.size:,} cells."
        ),
        noise=None if noise is None else noise.reason,
    )
