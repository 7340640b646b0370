"""The job of an OD plan."""

from dataclasses import dataclass

from hushway.engine.session import EngineSettings
from hushway.families.od.files.guard import check_sizes
from hushway.families.od.job_features import asked_features, asked_labels
from hushway.families.od.job_mechanism import mechanism_of
from hushway.families.od.mechanism.terms import measured_features, od_terms
from hushway.families.od.noise_choice import NoiseChoice
from hushway.families.od.plan import ODPlan
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import trip_bound
from hushway.families.od.rows.check import check_trips
from hushway.families.od.rows.duckdb import DuckDBTrips
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.geography.periods import Periods
from hushway.privacy.unit import Unit
from hushway.release.job import Job, Means, Wording, account_of
from hushway.release.window import window_of_days
from hushway.tables.check import Problem
from hushway.tables.locations import LocationColumns, read_locations
from hushway.tables.policy import Policy


@dataclass(frozen=True, kw_only=True)
class TripRows:
    """The trips of a plan.

    Attributes:
        source: Where they are.
        cells: The public universe.
        unit: Who is protected.
        max_trips: Most trips of one person that are counted.
        policy: What becomes of trips that cannot be counted.
    """

    source: TripsSource
    cells: ODCells
    unit: Unit
    max_trips: int
    policy: Policy

    def check(self, settings: EngineSettings, *, notes: bool) -> list[Problem]:
        """Returns what is wrong with the trips; with notes also what may be."""
        return check_trips(
            self.source, self.cells, self.policy, settings=settings, notes=notes, unit=self.unit
        )

    def counter(self, means: Means) -> DuckDBTrips:
        """Returns who counts them, each unit bounded."""
        return DuckDBTrips(
            source=self.source,
            cells=self.cells,
            unit=self.unit,
            max_trips=self.max_trips,
            key=means.key,
            settings=means.settings,
            progress=means.progress,
        )


def prepare_od(plan: ODPlan) -> Job:
    """Reads the public files of an OD plan and sets up its mechanism.

    Raises:
        GeographyError: The locations, the periods or the features are wrong.
    """
    cells = _cells(plan)
    unit = plan.privacy.unit
    bound = trip_bound(unit, plan.privacy.max_trips)
    mechanism, noise = mechanism_of(plan, cells, asked_features(plan, cells), bound)
    features = measured_features(mechanism)
    return Job(
        plan=plan,
        geography=cells,
        bound=bound,
        mechanism=mechanism,
        terms=od_terms(mechanism, cells, unit=unit, max_trips=bound.total),
        account=account_of(plan),
        window=window_of_days(
            plan.time.first_day, plan.time.last_day, plan.time.zone, clock=plan.data.clock
        ),
        rows=TripRows(
            source=_source(plan),
            cells=cells,
            unit=unit,
            max_trips=plan.privacy.max_trips,
            policy=Policy(**plan.problems.model_dump()),
        ),
        wording=_wording(cells, noise),
        check_writable=lambda: check_sizes(cells, features),
    )


def _cells(plan: ODPlan) -> ODCells:
    columns = LocationColumns(**plan.places.columns.model_dump(), labels=asked_labels(plan))
    return ODCells(
        locations=read_locations(plan.path(plan.places.file), columns),
        periods=Periods(**plan.time.model_dump()),
        same_place=plan.places.same_place,
    )


def _source(plan: ODPlan) -> TripsSource:
    return TripsSource(
        path=plan.path(plan.data.trips),
        columns=TripColumns(**plan.data.columns.model_dump()),
        clock=plan.data.clock,
    )


def _wording(cells: ODCells, noise: NoiseChoice | None) -> Wording:
    return Wording(
        rows="trips",
        counted="trips",
        universe=(
            f"{len(cells.locations):,} locations, {len(cells.periods):,} periods, "
            f"{cells.size:,} cells."
        ),
        noise=None if noise is None else noise.reason,
    )
