"""Everything a release needs besides the rows, the noise and the money."""

from dataclasses import dataclass

from hushway.engine.bounding import trip_bound
from hushway.geography.features import Feature
from hushway.geography.od import ODCells
from hushway.geography.periods import Periods
from hushway.job.od_features import asked_features, asked_labels
from hushway.job.od_mechanism import ODMechanism, mechanism_of
from hushway.plan import Plan
from hushway.privacy.bound import Bound
from hushway.privacy.ledger import AccountKey
from hushway.releases.od.laplace import DenseLaplace, SparseLaplace
from hushway.releases.od.noise_choice import NoiseChoice
from hushway.tables.locations import LocationColumns, read_locations
from hushway.tables.policy import Policy
from hushway.tables.trips import TripColumns, TripsSource


@dataclass(frozen=True, kw_only=True)
class Job:
    """A plan with its public files read and its mechanism set up.

    Attributes:
        plan: The plan it was made from.
        cells: The public universe.
        bound: How far one unit can move the counts.
        features: The coarse features that are measured; none with the mechanism laplace.
        mechanism: What will measure and publish.
        noise: How Laplace and Gaussian noise compare, if the plan names a delta and features.
        account: Who pays.
        source: Where the rows are.
        policy: What becomes of rows that cannot be counted.
    """

    plan: Plan
    cells: ODCells
    bound: Bound
    features: tuple[Feature, ...]
    mechanism: ODMechanism
    noise: NoiseChoice | None
    account: AccountKey
    source: TripsSource
    policy: Policy


def prepare(plan: Plan) -> Job:
    """Reads the public files of a plan and sets up its mechanism.

    Raises:
        GeographyError: The locations, the periods or the features are wrong.
    """
    cells = _cells(plan)
    bound = trip_bound(plan.privacy.unit, plan.privacy.max_trips)
    mechanism, noise = mechanism_of(plan, cells, asked_features(plan, cells), bound)
    return Job(
        plan=plan,
        cells=cells,
        bound=bound,
        features=() if isinstance(mechanism, DenseLaplace | SparseLaplace) else mechanism.features,
        mechanism=mechanism,
        noise=noise,
        account=AccountKey(
            dataset=plan.data.name, unit=plan.privacy.unit, period=plan.ledger.period
        ),
        source=_source(plan),
        policy=Policy(**plan.problems.model_dump()),
    )


def _cells(plan: Plan) -> ODCells:
    columns = LocationColumns(**plan.places.columns.model_dump(), labels=asked_labels(plan))
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
