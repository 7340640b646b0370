"""The job of an OD plan: its public files read, and its mechanism set up."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hushway.engine.settings import EngineSettings
from hushway.families.od.files.guard import check_sizes, refuse_too_many_places
from hushway.families.od.job_taps import places_of_taps, rides_of, taps_source
from hushway.families.od.mechanism.catalogue import MECHANISMS
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.options import PERIOD, TOTAL, ZONES
from hushway.families.od.mechanism.people import LearnedPeople
from hushway.families.od.mechanism.setting import NoiseChoice, ODSetting
from hushway.families.od.mechanism.terms import TripKind, od_terms
from hushway.families.od.plan import ODPlan
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    DESTINATIONS,
    ORIGINS,
    Feature,
    destinations_feature,
    origins_feature,
    pair_feature,
    pair_table_labels,
    period_feature,
    place_pair_labels,
    total_feature,
    without_idle,
)
from hushway.families.od.public.pairs import read_pairs
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
from hushway.geography.areas import Areas, places_of_areas
from hushway.geography.clock import microseconds
from hushway.geography.locations import Locations, grouped, label_column
from hushway.journeys.rides import PublicRides
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
        like: A job of the same public files, which are then not read again.

    Raises:
        GeographyError: The locations, the periods or the features are wrong.
    """
    unit = plan.privacy.unit
    # Of a limit that is to be chosen, what is usual.
    bound = trip_bound(unit, plan.privacy.trip_limit or USUAL_RECORDS)
    areas = _areas(plan)
    rides = None if plan.taps is None else rides_of(plan, plan.taps)
    cells = _cells(plan, areas, rides) if like is None else _same_cells(like)
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
            source=_source(plan, areas, window, rides),
            cells=cells,
            unit=unit,
            max_trips=bound.total,
            ladder=mechanism.ladder,
            caps=mechanism.caps,
            policy=Policy(**dict(plan.problems)),
        ),
        wording=_wording(cells, planned.noise),
        bounds=cells.locations.bounds,
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


def _locations(plan: ODPlan, areas: Areas | None, rides: PublicRides | None) -> Locations:
    if areas is not None:
        return places_of_areas(areas)
    assert plan.places.file is not None  # noqa: S101  a plan without areas names a list
    group = plan.places.group
    labels = asked_labels(plan) if group is None else label_column(group)
    read = listed_places(plan, plan.places, plan.places.file, labels)
    places = read if group is None else grouped(read, group)
    if plan.taps is None or rides is None:
        return places
    return places_of_taps(places, plan.taps, rides.served if plan.taps.lines else {})


def _cells(plan: ODPlan, areas: Areas | None, rides: PublicRides | None) -> ODCells:
    return ODCells(
        locations=_locations(plan, areas, rides),
        periods=plan.time.periods(plan.path),
        include_intrazonal=plan.places.include_intrazonal,
    )


def _same_cells(job: Job) -> ODCells:
    cells = job.geography
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    return cells


def _source(
    plan: ODPlan, areas: Areas | None, window: Window, rides: PublicRides | None
) -> AnyTrips:
    path = plan.rows_path(plan.data.trips)
    if plan.data.format == "mds":
        assert areas is not None  # noqa: S101  a plan for MDS names them
        return MdsTrips(path=path, areas=areas)
    if plan.taps is not None and rides is not None:
        return taps_source(plan, plan.taps, window, rides)
    if plan.data.format == "tides":
        start, end = window.as_written
        return FareTaps(
            path=path,
            columns=FareColumns(),
            clock=plan.data.clock,
            encoding=plan.data.encoding,
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
        encoding=plan.data.encoding,
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


_ZONE = "zone"
_NEED_NO_COLUMN: Final = {
    TOTAL: total_feature,
    PERIOD: period_feature,
    ORIGINS: origins_feature,
    DESTINATIONS: destinations_feature,
}


def asked_labels(plan: ODPlan) -> tuple[str, ...]:
    """Returns the columns of the locations that the plan's features need, besides their zones."""
    asked, defined = _asked(plan), plan.defined_features
    columns = {feature.places for name, feature in defined.items() if name in asked}
    made = {_ZONE, *(() if plan.taps is None else plan.taps.labels)}
    return tuple(sorted(column for column in columns if column and column not in made))


def asked_features(plan: ODPlan, cells: ODCells) -> tuple[Feature, ...]:
    """Returns the coarse features of a plan, in its order; all possible ones if it names none.

    Raises:
        GeographyError: A column is missing, or a place or a pair of places has no label.
    """
    if plan.mechanism.coarse_features is None:
        return _all_built(plan, cells, _asked(plan))
    return _built(plan, cells, plan.mechanism.coarse_features)


def possible_features(plan: ODPlan, cells: ODCells) -> tuple[Feature, ...]:
    """Returns all features that a plan's public files allow, whatever its mechanism.

    Raises:
        GeographyError: A column is missing, or a place or a pair of places has no label.
    """
    total, period, *named = _possible(plan)
    return _all_built(plan, cells, (total, period, ORIGINS, DESTINATIONS, *named))


def _all_built(plan: ODPlan, cells: ODCells, names: tuple[str, ...]) -> tuple[Feature, ...]:
    """Builds the features that the places allow and that tell something."""
    zoned = any(place.zone for place in cells.locations.places)
    return without_idle(_built(plan, cells, (name for name in names if zoned or name != ZONES)))


def _built(plan: ODPlan, cells: ODCells, names: Iterable[str]) -> tuple[Feature, ...]:
    wanted = tuple(names)
    # Every other one labels all pairs of places.
    if set(wanted) - {TOTAL, PERIOD}:
        refuse_too_many_places(cells)
    return tuple(
        _NEED_NO_COLUMN[name](cells) if name in _NEED_NO_COLUMN else _defined(plan, cells, name)
        for name in wanted
    )


def _defined(plan: ODPlan, cells: ODCells, name: str) -> Feature:
    """Returns a feature made of a public column."""
    feature = plan.defined_features[name]
    if feature.places is not None:
        of_places = cells.locations.labels_in(feature.places)
        labels = place_pair_labels(cells, feature.places, of_places, side=feature.side)
    else:
        column, ends = feature.pairs or "", plan.places.pair_columns
        file = plan.path(plan.places.pairs or "")
        of_pairs = read_pairs(
            file, cells.locations, column=column, origin=ends.origin, destination=ends.destination
        )
        labels = pair_table_labels(cells, column, *of_pairs)
    return pair_feature(cells, name, labels, by_period=feature.each_period)


def _asked(plan: ODPlan) -> tuple[str, ...]:
    if plan.mechanism.coarse_features is not None:
        return plan.mechanism.coarse_features
    total, period, *named = _possible(plan)
    ends = (ORIGINS, DESTINATIONS) if plan.mechanism.measures_ends else ()
    return (total, period, *ends, *named)


def _possible(plan: ODPlan) -> tuple[str, ...]:
    """Returns the names of the features that need no file, or one that the plan names."""
    named = (
        name
        for name, feature in plan.defined_features.items()
        if feature.pairs is None or plan.places.pairs is not None
    )
    return (TOTAL, PERIOD, *named)
