"""The job of an OD plan."""

from dataclasses import dataclass

from hushway.artefact.od_guard import check_sizes
from hushway.engine.bounding import trip_bound
from hushway.engine.check import check_trips
from hushway.engine.duckdb import DuckDBTrips
from hushway.engine.session import EngineSettings
from hushway.geography.features import Feature
from hushway.geography.od import ODCells
from hushway.geography.periods import Periods
from hushway.job.job import Job, Means, Wording, account_of
from hushway.job.od_features import asked_features, asked_labels
from hushway.job.od_mechanism import ODMechanism, mechanism_of
from hushway.job.wording import NOT_PROTECTED, plural, single_records_only
from hushway.plan import ODPlan
from hushway.privacy.bound import Bound
from hushway.privacy.unit import Unit
from hushway.releases.od.laplace import DenseLaplace, SparseLaplace
from hushway.tables.check import Problem
from hushway.tables.locations import LocationColumns, read_locations
from hushway.tables.policy import Policy
from hushway.tables.trips import TripColumns, TripsSource

_ASSUMED_PUBLIC = (
    "The list of locations, their positions and zones.",
    "The window of days, the periods and the time zone.",
    "The mechanism, its parameters and the contribution bound.",
)
_FEATURES_PUBLIC = "The features: which places, pairs of places and periods are counted together."


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
    bound = trip_bound(plan.privacy.unit, plan.privacy.max_trips)
    mechanism, noise = mechanism_of(plan, cells, asked_features(plan, cells), bound)
    features = measured_features(mechanism)
    return Job(
        plan=plan,
        geography=cells,
        bound=bound,
        mechanism=mechanism,
        account=account_of(plan),
        rows=TripRows(
            source=_source(plan),
            cells=cells,
            unit=plan.privacy.unit,
            max_trips=plan.privacy.max_trips,
            policy=Policy(**plan.problems.model_dump()),
        ),
        wording=_wording(plan, mechanism, cells, bound, None if noise is None else noise.reason),
        check_writable=lambda: check_sizes(cells, features),
    )


def measured_features(mechanism: ODMechanism) -> tuple[Feature, ...]:
    """Returns the coarse features that a mechanism measures."""
    return () if isinstance(mechanism, DenseLaplace | SparseLaplace) else mechanism.features


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


def _wording(
    plan: ODPlan, mechanism: ODMechanism, cells: ODCells, bound: Bound, noise: str | None
) -> Wording:
    features = measured_features(mechanism)
    single = plan.privacy.unit is Unit.TRIP
    return Wording(
        rows="trips",
        counted="trips",
        universe=(
            f"{len(cells.locations):,} locations, {len(cells.periods):,} periods, "
            f"{cells.size:,} cells."
        ),
        contribution=_contribution(bound, single=single),
        limits={"cells": bound.cells, "each": bound.each, "total": bound.total},
        assumed_public=_ASSUMED_PUBLIC + ((_FEATURES_PUBLIC,) if features else ()),
        not_protected=NOT_PROTECTED + ((single_records_only("trip"),) if single else ()),
        error=_error(mechanism, cells, bound),
        noise=noise,
    )


def _contribution(bound: Bound, *, single: bool) -> str:
    if single:
        return "Each trip counts once, in one cell."
    return (
        f"At most {plural(bound.total, 'trip')} of a person are counted, chosen uniformly at "
        "random among all of that person's trips in the window; totals are too low by the others."
    )


def _error(mechanism: ODMechanism, cells: ODCells, bound: Bound) -> str:
    cell, *sums = mechanism.forecast(cells, bound)
    words = (
        f"The noise in the measurement of one cell has a standard deviation of "
        f"{cell.standard_error:.3g} trips; it stands beside every count as standard_error."
    )
    if not measured_features(mechanism):
        return words
    errors = ", ".join(f"{one.standard_error:.3g} ({one.figure})" for one in sums)
    return f"{words} Sums were measured too, with standard deviations of {errors}."
