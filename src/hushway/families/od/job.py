"""The job of an OD plan."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from hushway.engine.settings import EngineSettings
from hushway.families.od.files.guard import check_sizes
from hushway.families.od.fit.tree import geometric_shares
from hushway.families.od.job_features import asked_features, asked_labels
from hushway.families.od.mechanism.catalogue import od_cbdp, od_hierarchical, od_learned
from hushway.families.od.mechanism.laplace import od_laplace
from hushway.families.od.mechanism.learned import MOST_LEARNED
from hushway.families.od.mechanism.learned_lazily import is_learnable
from hushway.families.od.mechanism.measuring import feature_query
from hushway.families.od.mechanism.shares import (
    Weights,
    given_shares,
    important_shares,
    learned_shares,
    named_importance,
    recommended_shares,
    recommended_weights,
    spends_of,
    uniform_shares,
    worth_measuring,
)
from hushway.families.od.mechanism.terms import (
    ODMechanism,
    TripKind,
    measured_features,
    od_terms,
)
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_mechanisms import (
    CBDPPlan,
    HierarchicalPlan,
    LaplacePlan,
    LearnedPlan,
)
from hushway.families.od.public.cells import ODCells, places_of_areas
from hushway.families.od.public.features import Feature
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
from hushway.geography.locations import Locations
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.calibration import noise_for
from hushway.privacy.ledger import Window
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.release.job import CountingContext, Job, Wording, window_of_periods
from hushway.tables.areas import AreaColumns, read_areas
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.locations import LocationColumns, read_locations


@dataclass(frozen=True, kw_only=True)
class NoiseChoice:
    """The standard errors of the measurements under either noise.

    Attributes:
        laplace: Standard error of each measurement with discrete Laplace noise.
        gaussian: The same with discrete Gaussian noise.
        laplace_budget: What is spent with Laplace noise.
        gaussian_budget: What is spent with Gaussian noise.
    """

    laplace: tuple[float, ...]
    gaussian: tuple[float, ...]
    laplace_budget: PureLoss
    gaussian_budget: ZCDPLoss

    @property
    def ratio(self) -> float:
        """Gaussian error over Laplace error, the geometric mean over all measurements."""
        logs = [math.log(g / p) for g, p in zip(self.gaussian, self.laplace, strict=True)]
        return math.exp(sum(logs) / len(logs))

    @property
    def gaussian_is_better(self) -> bool:
        """Whether Gaussian noise is smaller."""
        return self.ratio < 1

    @property
    def budget(self) -> Loss:
        """The budget of the better one."""
        return self.gaussian_budget if self.gaussian_is_better else self.laplace_budget

    @property
    def reason(self) -> str:
        """Says which is better and why, in one sentence or two."""
        parts = len(self.laplace)
        if self.gaussian_is_better:
            return (
                f"Gaussian noise is {1 / self.ratio:.2g} times smaller: its error grows with the "
                f"square root of the {parts} measurements and of what one unit moves, Laplace's "
                "with both in full. It needs an account kept in rho."
            )
        return (
            f"Laplace noise is {self.ratio:.2g} times smaller: with {parts} measurements, of which "
            "one unit may move a single cell by all it has, Gaussian noise gains too little to "
            "make up for its delta. Laplace also keeps the guarantee without a delta."
        )


def compare_noise(
    *,
    epsilon: Fraction,
    delta: Fraction,
    shares: Callable[[Loss], Sequence[Fraction]],
    bounds: Sequence[Bound],
) -> NoiseChoice:
    """Compares both kinds of noise for some measurements that share one budget.

    Args:
        epsilon: The epsilon that is asked for.
        delta: The delta that Gaussian noise may use.
        shares: Gives the share of each measurement, for a budget in either currency.
        bounds: How far a unit moves each measurement.
    """
    pure, concentrated = PureLoss(epsilon), ZCDPLoss(rho_for(epsilon, delta))

    def errors(budget: Loss) -> tuple[float, ...]:
        spends = spends_of(budget, shares(budget))
        return tuple(
            math.sqrt(noise_for(spend, bound).variance)
            for spend, bound in zip(spends, bounds, strict=True)
        )

    return NoiseChoice(
        laplace=errors(pure),
        gaussian=errors(concentrated),
        laplace_budget=pure,
        gaussian_budget=concentrated,
    )


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

    source: AnyTrips
    cells: ODCells
    unit: Unit
    max_trips: int
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
            max_trips=self.max_trips,
        )

    def counter(self, context: CountingContext) -> EngineTrips:
        """Returns who counts them, each unit bounded."""
        return EngineTrips(
            source=self.source,
            cells=self.cells,
            unit=self.unit,
            max_trips=self.max_trips,
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
    bound = trip_bound(unit, plan.privacy.max_trips)
    areas = _areas(plan)
    cells = _cells(plan, areas) if like is None else _same_cells(like)
    clock = "utc" if plan.data.format == "mds" else plan.data.clock
    window = window_of_periods(cells.periods, clock=clock)
    mechanism, noise = mechanism_of(plan, cells, asked_features(plan, cells), bound)
    features = measured_features(mechanism)
    return Job(
        plan=plan,
        geography=cells,
        bound=bound,
        mechanism=mechanism,
        terms=od_terms(mechanism, cells, unit=unit, max_trips=bound.total, trip=_trip_kind(plan)),
        window=window,
        rows=TripRows(
            source=_source(plan, areas, window),
            cells=cells,
            unit=unit,
            max_trips=plan.privacy.max_trips,
            policy=Policy(**dict(plan.problems)),
        ),
        wording=_wording(cells, noise),
        check_writable=lambda: check_sizes(cells, features),
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
    columns = LocationColumns(**plan.places.columns.model_dump(), labels=asked_labels(plan))
    return read_locations(plan.path(plan.places.file), columns)


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


def mechanism_of(
    plan: ODPlan, cells: ODCells, features: Sequence[Feature], bound: Bound
) -> tuple[ODMechanism, NoiseChoice | None]:
    """Returns what will measure and publish, and how the kinds of noise compare if asked."""
    chosen = plan.mechanism
    match chosen:
        case LaplacePlan():
            spend = PureLoss(plan.privacy.epsilon)
            laplace = od_laplace(
                spend=spend, form=chosen.form, expected_false=chosen.expected_false, cells=cells
            )
            return laplace, None
        case LearnedPlan():
            if cells.size > MOST_LEARNED and chosen.coarse_features is None:
                features = [feature for feature in features if is_learnable(feature)]
            noise = _compared(plan, chosen, features, bound)
            budget = _budget(plan, chosen.noise, noise)
            if chosen.coarse_features is None and chosen.budget_shares is None:
                features = worth_measuring(features, budget, bound)
            shares = _shares(chosen, features, budget, bound)
            learned = od_learned(cells, features, budget=budget, shares=shares)
            return learned, noise
        case CBDPPlan():
            noise = _compared(plan, chosen, features, bound)
            budget = _budget(plan, chosen.noise, noise)
            cbdp = od_cbdp(
                cells,
                features,
                budget=budget,
                shares=_shares(chosen, features, budget, bound),
                weights=recommended_weights()
                if chosen.weights is None
                else Weights(chosen.weights),
                nest=chosen.structure == "hierarchical",
                controlled=chosen.rounding == "controlled",
                lazy=None if chosen.form == "auto" else chosen.form == "lazy",
            )
            return cbdp, noise
        case HierarchicalPlan():
            noise = _compared(plan, chosen, features, bound)
            budget = _budget(plan, chosen.noise, noise)
            tree = od_hierarchical(
                cells,
                features,
                budget=budget,
                shares=_shares(chosen, features, budget, bound),
                prune=chosen.prune,
            )
            return tree, noise
        case _:
            assert_never(chosen)


FittedPlan = LearnedPlan | CBDPPlan | HierarchicalPlan


def _shares(
    chosen: FittedPlan, features: Sequence[Feature], budget: Loss, bound: Bound
) -> tuple[Fraction, ...]:
    split = chosen.budget_shares
    if isinstance(split, dict):
        return given_shares(split, features)
    if isinstance(chosen, LearnedPlan):
        return learned_shares(features, budget, bound)
    if split == "uniform":
        return uniform_shares(features)
    if isinstance(chosen, CBDPPlan) and chosen.importance is not None:
        return important_shares(named_importance(chosen.importance, features), budget.measure)
    if split == "geometric" or (split is None and isinstance(chosen, HierarchicalPlan)):
        return geometric_shares(len(features) + 1)
    return recommended_shares(features, budget.measure)


def _compared(
    plan: ODPlan,
    chosen: FittedPlan,
    features: Sequence[Feature],
    bound: Bound,
) -> NoiseChoice | None:
    if plan.privacy.delta is None:
        return None
    return compare_noise(
        epsilon=plan.privacy.epsilon,
        delta=plan.privacy.delta,
        shares=lambda budget: _shares(chosen, features, budget, bound),
        bounds=[*(feature_query(feature).bound(bound) for feature in features), bound],
    )


def _budget(plan: ODPlan, asked: str, noise: NoiseChoice | None) -> Loss:
    """Returns what the release costs: an epsilon, or a rho if Gaussian noise is wanted."""
    if noise is None or asked == "laplace":
        return PureLoss(plan.privacy.epsilon)
    return noise.gaussian_budget if asked == "gaussian" else noise.budget
