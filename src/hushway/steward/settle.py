"""What an interrupted publish has left behind, and how the ledger and the disk agree again.

A release is written, sealed, noted in the ledger and then takes its place, in that order. Whenever
a process dies, one of these is true, and what to do follows from it:

- Nothing was sealed. If the release was charged for, it is lost: the ledger notes that it is
  abandoned, and what was written of it is thrown away.
- It was sealed and not noted. It is whole, and nobody has seen it: it is noted and takes its
  place.
- It was noted and has not taken its place. It takes it.
- It has taken its place. Nothing is left to do.

So whatever can be seen at a release's place has been noted, and whatever was noted can be seen
there, or takes its place at the next command that comes by.

Privacy:
    A release was charged for before anything was counted, so neither way costs more.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.sealed import sealed_release
from hushway.privacy.certificate import Certificate
from hushway.privacy.ledger import Entry, EntryKind, Ledger
from hushway.release.folder.place import Place, claimed, hidden_folder
from hushway.release.folder.seal import SEAL


class Outcome(StrEnum):
    """What became of what was found."""

    NOTHING = "nothing was left behind"
    FINISHED = "finished"
    ABANDONED = "abandoned"


@dataclass(frozen=True, kw_only=True)
class Settled:
    """What was found, and what became of it.

    Attributes:
        outcome: What became of it.
        release: The release; None if there was none, or none that was charged for.
    """

    outcome: Outcome
    release: str | None = None


def settle_place(place: Place, ledger: Ledger) -> Settled:
    """Brings ledger and disk together at a place that nobody else works on.

    Raises:
        ReleaseError: A whole release waits there that this ledger did not charge for, or it cannot
            take its place.
        LedgerError: The ledger is out of reach.
    """
    lost = place.reserved
    if place.is_sealed:
        try:
            certificate, seal = sealed_release(place.partial)
        except ReleaseError:
            # The power failed before all of it was on the disk; then the ledger was not told yet.
            if lost is None or not _is_open(ledger, lost):
                raise
        else:
            note(ledger, certificate, seal.digest)
            place.appear()
            return Settled(outcome=Outcome.FINISHED, release=certificate.release_id)
    place.forget()
    if lost is None or not _is_open(ledger, lost):
        return Settled(outcome=Outcome.NOTHING)
    ledger.abandon(lost, reason="its process ended before the release was whole")
    return Settled(outcome=Outcome.ABANDONED, release=lost)


def settle_release(folder: Path, ledger: Ledger) -> Settled:
    """Notes a release that stands in its place and that the ledger does not know as published.

    Raises:
        ReleaseError: It is not a whole release, or this ledger did not charge for it.
    """
    certificate, seal = sealed_release(folder)
    noted = note(ledger, certificate, seal.digest)
    outcome = Outcome.FINISHED if noted else Outcome.NOTHING
    return Settled(outcome=outcome, release=certificate.release_id)


def settle_plan(folder: Path, ledger: Ledger) -> Iterator[str]:
    """Settles what stands at a plan's place and what waits beside it; says what it did.

    Raises:
        ReleaseError: Something there is not a release that this ledger charged for.
    """
    if (folder / SEAL).is_file():
        settled = settle_release(folder, ledger)
        if settled.outcome is Outcome.FINISHED:
            yield f"{settled.release} was published; the ledger knows it now."
    if not hidden_folder(folder).exists():
        yield f"There is no unfinished release beside {folder.name}."
        return
    with claimed(folder) as place:
        settled = settle_place(place, ledger)
    match settled.outcome:
        case Outcome.FINISHED:
            yield f"{settled.release} is published in {folder.name}."
        case Outcome.ABANDONED:
            yield f"{settled.release} came to nothing and is abandoned; what it cost stays spent."
        case Outcome.NOTHING:
            yield f"What lay beside {folder.name} had not been charged for, and was removed."


def note(ledger: Ledger, certificate: Certificate, seal: str) -> bool:
    """Notes in the ledger that a release was published, if that was not done before.

    Args:
        ledger: The ledger that charged for it.
        certificate: Its certificate.
        seal: The digest of its seal.

    Returns:
        Whether it had to be noted.

    Raises:
        ReleaseError: The ledger's entry for the release is not the one that the certificate names,
            or says that other files were published, or that the release was abandoned.
    """
    paid, end = entries_of(ledger, certificate.release_id)
    if paid is None or certificate.account.ledger_entry not in (paid.hash, paid.reference):
        raise ReleaseError(
            f"This ledger did not charge for the release {certificate.release_id}.",
            advice="Name the ledger that did, or move the release away. If the ledger was restored "
            "from an older copy: hushway ledger settle PLAN --restored",
        )
    if end is None:
        ledger.publish(certificate.release_id, reference=seal)
        return True
    # Entries of earlier versions note the certificate alone.
    if end.kind != EntryKind.PUBLISH or end.reference not in (seal, certificate.digest):
        raise ReleaseError(
            f"The ledger says that the release {certificate.release_id} was abandoned, or "
            "published with other files.",
            advice="Do not pass this copy on; the ledger's word stands.",
        )
    return False


def _is_open(ledger: Ledger, release: str) -> bool:
    paid, end = entries_of(ledger, release)
    return paid is not None and end is None


def entries_of(ledger: Ledger, release: str) -> tuple[Entry | None, Entry | None]:
    """Returns the entry that charged for a release, and the one that says what became of it."""
    entries = [entry for entry in ledger.entries() if entry.release == release]
    paid = next((entry for entry in entries if entry.kind == EntryKind.RESERVE), None)
    end = next((entry for entry in entries if entry.kind != EntryKind.RESERVE), None)
    return paid, end
