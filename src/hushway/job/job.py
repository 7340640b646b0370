"""A plan brought to life, as far as public facts reach: no row is read here."""

from dataclasses import dataclass

from hushway.engine.bounding import trip_bound
from hushway.geography.od import ODCells
from hushway.geography.periods import Periods
from hushway.plan import Plan
from hushway.privacy.bound import Bound
from hushway.privacy.ledger import AccountKey
from hushway.privacy.loss import PureLoss
from hushway.releases.od.laplace import DenseLaplace, SparseLaplace, od_laplace
from hushway.tables.locations import LocationColumns, read_locations
from hushway.tables.policy import Policy
from hushway.tables.trips import TripColumns, TripsSource


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything a release needs besides the rows, the noise and the money.

    Attributes:
        plan: The plan it was made from.
        cells: The public universe.
        bound: How far one unit can move the counts.
        mechanism: What will measure and publish.
        account: Who pays.
        source: Where the rows are.
        policy: What becomes of rows that cannot be counted.
    """

    plan: Plan
    cells: ODCells
    bound: Bound
    mechanism: DenseLaplace | SparseLaplace
    account: AccountKey
    source: TripsSource
    policy: Policy


def prepare(plan: Plan) -> Job:
    """Reads the public files of a plan and sets up its mechanism.

    Raises:
        GeographyError: The locations or the periods are wrong.
    """
    cells = _cells(plan)
    mechanism = od_laplace(
        spend=PureLoss(plan.privacy.epsilon),
        form=plan.mechanism.form,
        expected_false=plan.mechanism.expected_false,
        cells=cells,
    )
    return Job(
        plan=plan,
        cells=cells,
        bound=trip_bound(plan.privacy.unit, plan.privacy.max_trips),
        mechanism=mechanism,
        account=AccountKey(
            dataset=plan.data.name, unit=plan.privacy.unit, period=plan.ledger.period
        ),
        source=_source(plan),
        policy=Policy(**plan.problems.model_dump()),
    )


def _cells(plan: Plan) -> ODCells:
    columns = LocationColumns(**plan.places.columns.model_dump())
    return ODCells(
        locations=read_locations(plan.path(plan.places.file), columns),
        periods=Periods(**plan.time.model_dump()),
        same_place=plan.places.same_place,
    )


def _source(plan: Plan) -> TripsSource:
    return TripsSource(
        path=plan.path(plan.data.trips),
        columns=TripColumns(**plan.data.columns.model_dump()),
        clock=plan.data.clock,
    )
