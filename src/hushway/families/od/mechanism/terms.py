"""What the certificate of an OD release says, from public facts alone."""

from collections.abc import Sequence
from typing import Final, Literal, get_args

from hushway.errors import ReleaseError
from hushway.families.od.mechanism.catalogue import MECHANISMS
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.people import LearnedPeople
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.geography.locations import NOT_KNOWN
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import Certificate, Contribution, MechanismRecord, Terms
from hushway.release.contribution.limits import Limits
from hushway.release.terms import stated_limits, terms_of
from hushway.release.wording import check_unit, plural

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
_TAPS_PUBLIC = (
    "The timetable, and the rules by which trips are made of the taps of one device alone: ends "
    f"that they do not tell are counted as {NOT_KNOWN!r}."
)
_BOTH_PUBLIC = (
    "Journeys of several rides are counted besides these: both are trips, and share one limit."
)
_FEATURES_PUBLIC = (
    "The published totals: which places, pairs of places and periods are counted together."
)


def od_terms(
    mechanism: ODMechanism, cells: ODCells, *, unit: Unit, max_trips: int, trip: TripKind = "row"
) -> Terms:
    """Returns the terms of a release.

    `max_trips` of one unit are counted, 1 if the unit is a trip; `trip` says what one trip is.

    Raises:
        PrivacyError: The unit is not one that OD tables protect.
    """
    check_unit(unit, *UNITS, most=max_trips)
    bound = Bound.of_records(max_trips)
    limits = mechanism.limits if isinstance(mechanism, LearnedPeople) else None
    return terms_of(
        mechanism,
        cells,
        bound,
        release_type=FAMILY,
        unit=unit,
        contribution=_contribution(unit, max_trips, trip)
        if limits is None
        else _completed(unit, limits),
        counted=cells.counted,
        assumed_public=(
            *_ASSUMED_PUBLIC,
            *((_TAPS_PUBLIC,) if NOT_KNOWN in cells.locations.index else ()),
            *((_BOTH_PUBLIC,) if cells.locations.journeys else ()),
            *((_FEATURES_PUBLIC,) if mechanism.totals else ()),
        ),
        error=_error(mechanism, cells, bound),
    )


def stated_terms(certificate: Certificate, cells: ODCells, features: Sequence[Feature]) -> Terms:
    """Returns the terms that follow from what a certificate says was run, and on whom."""
    stated = certificate.terms
    single = stated.unit is Unit.TRIP
    mechanism = stated_od(stated.mechanism, cells, features)
    people = isinstance(mechanism, LearnedPeople)
    more = ("trip",) if single else ("trips_in_a_cell", "trips_in_sums") if people else ()
    max_trips, *others = stated_limits(stated.contribution, "trips", *more)
    kinds = others if single else []
    if any(kind not in get_args(TripKind) for kind in kinds):
        raise ReleaseError(
            "The certificate does not say what one trip is.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    trip: TripKind = kinds[0] if kinds else "row"
    return od_terms(mechanism, cells, unit=stated.unit, max_trips=max_trips, trip=trip)


def _contribution(unit: Unit, max_trips: int, trip: TripKind) -> Contribution:
    if not unit.has_many_records:
        words = f"{_TRIPS[trip]}. Each trip counts once, in one cell."
        return Contribution(words=words, limits={"trips": max_trips, "trip": trip})
    words = (
        f"At most {plural(max_trips, 'trip')} of a {unit} are counted, chosen uniformly at random "
        f"among all of that {unit}'s trips in the window; totals are too low by the others."
    )
    return Contribution(words=words, limits={"trips": max_trips})


def _completed(unit: Unit, limits: Limits) -> Contribution:
    words = (
        f"Counts estimate all trips. At most {plural(limits.cells, 'trip')} of a {unit} are "
        f"counted in cells, chosen uniformly at random among all of that {unit}'s trips in the "
        "window"
    )
    if limits.each < limits.cells:
        words += f", and at most {limits.each} of them in the same cell"
    if limits.asks_left_out:
        words += (
            f", and at most {limits.most - limits.each} more in sums of what that leaves out "
            f"({limits.sums - limits.each} in those by time and place)"
        )
    words += f". Trips of a very busy {unit} are missing where noise hides how many make so many"
    return Contribution(
        words=words + ".",
        limits={
            "trips": limits.cells,
            "trips_in_a_cell": limits.each,
            "trips_in_sums": limits.most,
        },
    )


def _error(mechanism: ODMechanism, cells: ODCells, bound: Bound) -> str:
    cell, *sums = mechanism.forecast(cells, bound)
    beside = (
        "what is left of it, and of what was learnt, stands beside every count as standard_error"
        if mechanism.learns_errors
        else "it stands beside every count as standard_error"
    )
    words = (
        f"The noise in the measurement of one cell has a standard deviation of "
        f"{cell.standard_error:.3g} trips; {beside}."
    )
    if not mechanism.totals:
        return words
    errors = ", ".join(f"{one.standard_error:.3g} ({one.figure})" for one in sums)
    return f"{words} Sums were measured too, with standard deviations of {errors}."


def stated_od(record: MechanismRecord, cells: ODCells, features: Sequence[Feature]) -> ODMechanism:
    """Returns the mechanism of a certificate.

    Raises:
        ReleaseError: It is not one of this version, or measures other features.
    """
    mechanism: ODMechanism = MECHANISMS.certified(record, cells, tuple(features))
    return mechanism
