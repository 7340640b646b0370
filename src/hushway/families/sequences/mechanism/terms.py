"""What the certificate of a release of sequences says, from public facts alone."""

from typing import Any, Literal, Protocol, get_args

from hushway.errors import ReleaseError
from hushway.families.sequences.mechanism.catalogue import MECHANISMS
from hushway.families.sequences.mechanism.people import PeopleSequences
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import Certificate, Contribution, Terms
from hushway.release.contribution.limits import Limits
from hushway.release.mechanism import Mechanism
from hushway.release.terms import listed, stated_limits, terms_of
from hushway.release.wording import check_unit, plural

FAMILY = "sequences"
UNITS = (Unit.PERSON, Unit.DEVICE, Unit.RECORD)

RecordKind = Literal["day", "window", "row"]
_RECORDS: dict[RecordKind, str] = {
    "day": "A record is what one id did in one day of the window",
    "window": "A record is all that one id did in the window",
    "row": "A record is one row of the data",
}
_ASSUMED_PUBLIC = (
    "The list of places, their positions and their groups.",
    "The window of days, the periods and the time zone, if taps were counted.",
    "The mechanism, its parameters, the height of the tree and the contribution bound.",
)


class SequenceMechanism(Mechanism[SequenceUniverse, Any], Protocol):
    """A mechanism that publishes sequences."""

    @property
    def universe(self) -> SequenceUniverse:
        """The public taxonomy and periods."""
        ...

    @property
    def height(self) -> int:
        """The most stops of a published sequence."""
        ...


def sequence_terms(
    mechanism: SequenceMechanism,
    universe: SequenceUniverse,
    *,
    unit: Unit,
    max_records: int,
    record: RecordKind,
) -> Terms:
    """Returns the terms of a release before it is measured.

    `max_records` of one unit are counted, 1 if the unit is a record.

    Raises:
        PrivacyError: The unit is not one that sequences protect.
    """
    check_unit(unit, *UNITS, most=max_records)
    limits: dict[str, Any] = {"records": max_records, "stops": mechanism.height, "record": record}
    words = _contribution(unit, max_records, mechanism.height, record)
    if isinstance(mechanism, PeopleSequences):
        chosen = mechanism.limits
        limits |= {"records": chosen.cells, "records_in_sums": chosen.sums}
        words = _completed(unit, chosen, mechanism.height, record)
    bound = Bound.of_records(max_records)
    errors = mechanism.forecast(universe, bound)
    return terms_of(
        mechanism,
        universe,
        bound,
        release_type=FAMILY,
        unit=unit,
        contribution=Contribution(words=words, limits=limits),
        assumed_public=_ASSUMED_PUBLIC,
        error="Standard deviations of the noise, in records: " + listed(errors) + ".",
        counted=universe.counted,
    )


def stated_terms(
    certificate: Certificate, universe: SequenceUniverse
) -> tuple[Terms, SequenceMechanism]:
    """Returns the terms that follow from what a certificate says was run, and the mechanism.

    Raises:
        ReleaseError: It was nothing that this version runs.
    """
    stated = certificate.terms
    mechanism: SequenceMechanism = MECHANISMS.certified(stated.mechanism, universe)
    sums = ("records_in_sums",) if isinstance(mechanism, PeopleSequences) else ()
    most, record, *_ = stated_limits(stated.contribution, "records", "record", "stops", *sums)
    if record not in get_args(RecordKind):
        raise ReleaseError(
            "The certificate does not say what one record is.",
            advice="Verify with the version of hushway that the certificate names.",
        )
    terms = sequence_terms(mechanism, universe, unit=stated.unit, max_records=most, record=record)
    return terms, mechanism


def _contribution(unit: Unit, most: int, height: int, record: RecordKind) -> str:
    stops = f"the first {plural(height, 'stop')} of it"
    if not unit.has_many_records:
        return f"{_RECORDS[record]}. Each counts once, {stops}."
    return (
        f"{_RECORDS[record]}. At most {plural(most, 'record')} of a {unit} are counted, chosen "
        f"uniformly at random among all of that {unit}'s records, and of each one {stops}."
    )


def _completed(unit: Unit, limits: Limits, height: int, record: RecordKind) -> str:
    words = (
        f"{_RECORDS[record]}. Counts estimate all records. At most "
        f"{plural(limits.cells, 'record')} of a {unit} are looked at closely, chosen uniformly at "
        f"random among all of that {unit}'s records, and of each one the first "
        f"{plural(height, 'stop')}"
    )
    if limits.asks_left_out:
        words += (
            f"; at most {limits.sums - limits.cells} more count in sums of what that leaves out"
        )
    return words + "."
