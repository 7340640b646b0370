"""What the certificate of an OD release says, from public facts alone."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

from hushway.errors import ReleaseError
from hushway.families.od.mechanism.cbdp import CBDP
from hushway.families.od.mechanism.hierarchical import Hierarchical
from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.mechanism.shares import Weights
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import (
    Certificate,
    Contribution,
    MechanismRecord,
    Terms,
)
from hushway.privacy.loss import PureLoss, exact
from hushway.release.terms import rebuilt, stated_limits, stated_losses, terms_of
from hushway.release.wording import check_unit, plural

ODMechanism = DenseLaplace | SparseLaplace | CBDP | Hierarchical | Learned

FAMILY = "od"
UNITS = (Unit.PERSON, Unit.DEVICE, Unit.TRIP)

TripKind = Literal["row", "trip_id", "person_and_trip_id"]
"""What tells one trip from another."""

_TRIPS: Final[dict[TripKind, str]] = {
    "row": "One trip is one row",
    "trip_id": "One trip is all rows with the same trip id, whoever made them",
    "person_and_trip_id": "One trip is all rows of one person with the same trip id",
}

_ASSUMED_PUBLIC = (
    "The list of places, their positions and zones.",
    "The window of days, the periods and the time zone.",
    "The mechanism, its parameters and the contribution bound.",
)
_FEATURES_PUBLIC = (
    "The published totals: which places, pairs of places and periods are counted together."
)


def od_terms(
    mechanism: ODMechanism,
    cells: ODCells,
    *,
    unit: Unit,
    max_trips: int,
    trip: TripKind = "row",
) -> Terms:
    """Returns the terms of a release.

    Args:
        mechanism: What will measure and publish.
        cells: The public universe.
        unit: Who is protected.
        max_trips: Most trips of one unit that are counted; 1 if the unit is a trip.
        trip: What one trip is, which a certificate says where the unit is a trip.

    Raises:
        PrivacyError: The unit is not one that OD tables protect.
    """
    check_unit(unit, *UNITS, most=max_trips)
    bound = Bound.of_records(max_trips)
    features = measured_features(mechanism)
    return terms_of(
        mechanism,
        cells,
        bound,
        release_type=FAMILY,
        unit=unit,
        contribution=_contribution(unit, max_trips, trip),
        assumed_public=_ASSUMED_PUBLIC + ((_FEATURES_PUBLIC,) if features else ()),
        error=_error(mechanism, cells, bound),
    )


def stated_terms(certificate: Certificate, cells: ODCells, features: Sequence[Feature]) -> Terms:
    """Returns the terms that follow from what a certificate says was run, and on whom.

    Raises:
        ReleaseError: It was nothing that this version runs.
    """
    stated = certificate.terms
    single = stated.unit is Unit.TRIP
    max_trips, *kinds = stated_limits(stated.contribution, "trips", *(("trip",) if single else ()))
    if any(kind not in get_args(TripKind) for kind in kinds):
        raise ReleaseError(
            "The certificate does not say what one trip is.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    mechanism = stated_od(stated.mechanism, cells, features)
    trip: TripKind = kinds[0] if kinds else "row"
    return od_terms(mechanism, cells, unit=stated.unit, max_trips=max_trips, trip=trip)


def measured_features(mechanism: ODMechanism) -> tuple[Feature, ...]:
    """Returns the coarse features that a mechanism measures."""
    return () if isinstance(mechanism, DenseLaplace | SparseLaplace) else mechanism.features


def _contribution(unit: Unit, max_trips: int, trip: TripKind) -> Contribution:
    if not unit.has_many_records:
        words = f"{_TRIPS[trip]}. Each trip counts once, in one cell."
        return Contribution(words=words, limits={"trips": max_trips, "trip": trip})
    words = (
        f"At most {plural(max_trips, 'trip')} of a {unit} are counted, chosen uniformly at random "
        f"among all of that {unit}'s trips in the window; totals are too low by the others."
    )
    return Contribution(words=words, limits={"trips": max_trips})


def _error(mechanism: ODMechanism, cells: ODCells, bound: Bound) -> str:
    cell, *sums = mechanism.forecast(cells, bound)
    beside = (
        "what is left of it, and of what was learnt, stands beside every count as standard_error"
        if isinstance(mechanism, Learned)
        else "it stands beside every count as standard_error"
    )
    words = (
        f"The noise in the measurement of one cell has a standard deviation of "
        f"{cell.standard_error:.3g} trips; {beside}."
    )
    if not measured_features(mechanism):
        return words
    errors = ", ".join(f"{one.standard_error:.3g} ({one.figure})" for one in sums)
    return f"{words} Sums were measured too, with standard deviations of {errors}."


def stated_od(record: MechanismRecord, cells: ODCells, features: Sequence[Feature]) -> ODMechanism:
    """Returns the mechanism of a certificate.

    Args:
        record: Name and parameters.
        cells: The public universe.
        features: The features of the release.

    Raises:
        ReleaseError: It is not one of this version, or measures other features.
    """
    builders = {
        "laplace": _laplace,
        "cbdp": _cbdp,
        "hierarchical": _hierarchical,
        "learned": _learned,
    }
    if record.name not in builders:
        raise ReleaseError(
            f"The mechanism {record.name!r} is not one of OD tables.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    build = builders[record.name]
    return rebuilt(record, lambda parameters: build(parameters, cells, tuple(features)))


def _laplace(
    parameters: Mapping[str, Any], _cells: ODCells, features: tuple[Feature, ...]
) -> DenseLaplace | SparseLaplace:
    spend = PureLoss(exact(parameters["epsilon"]))
    if features:
        raise ValueError
    if parameters["form"] == "dense":
        return DenseLaplace(spend=spend)
    return SparseLaplace(spend=spend, expected_false=float(parameters["expected_false"]))


def _cbdp(parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]) -> CBDP:
    return CBDP(
        universe=cells,
        features=features,
        spends=tuple(stated_losses(parameters)),
        weights=Weights(parameters["weights"]),
        controlled=parameters["rounding"] == "controlled",
        lazy=parameters["form"] == "lazy",
    )


def _learned(
    parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]
) -> Learned:
    return Learned(
        universe=cells,
        features=features,
        spends=tuple(stated_losses(parameters)),
        lazy=parameters["form"] == "lazy",
    )


def _hierarchical(
    parameters: Mapping[str, Any], cells: ODCells, features: tuple[Feature, ...]
) -> Hierarchical:
    return Hierarchical(
        universe=cells,
        features=features,
        spends=tuple(stated_losses(parameters)),
        prune=parameters["prune"],
        prune_early=parameters["prune_early"],
    )
