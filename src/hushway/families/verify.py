"""Recomputes what a release claims, as far as that is possible without the protected data.

The seal comes first: if a file changed, nothing in it is worth reading. A release that was changed
and sealed again still has to add up: the events and the sentences from the mechanism, its limits
and the public lists, the loss from the events, the papers from the certificate, the formats from
each other. What no reader can recompute, such as the name of the account, is listed in
`docs/reference/verify.md`; the signature says who answers for it.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.errors import HushwayError, ReleaseError, damaged
from hushway.families.readers import reader_files
from hushway.families.registry import (
    FAMILIES,
    facts_fit,
    family_certified,
    outside_words,
    package_of,
)
from hushway.geography.period_words import window_text
from hushway.privacy.accounting import LARGE_DELTA
from hushway.privacy.certificate import SOFTWARE, Certificate, parsed_json
from hushway.privacy.signing import PublicKey
from hushway.release.documents.label import render_label
from hushway.release.documents.linked_data import render_croissant, render_dcat
from hushway.release.documents.package import render_package
from hushway.release.documents.page import render_page
from hushway.release.documents.papers import (
    CERTIFICATE,
    CROISSANT,
    DCAT,
    INDEX,
    LABEL,
    PACKAGE,
    PAGE,
    PICTURE,
    README,
    papers_of,
)
from hushway.release.documents.readme import render_readme
from hushway.release.family import Family
from hushway.release.folder.answers import ANSWERS, NOT_KEPT, with_answers
from hushway.release.folder.finding import RANDOMNESS, SIGNATURE, Notes, Verification
from hushway.release.folder.grounded import GROUND, with_ground
from hushway.release.folder.published_file import PERIODS, Description
from hushway.release.folder.seal import (
    SEAL,
    Seal,
    SealedFile,
    check_signature,
    files_of,
    sealed_file,
)
from hushway.release.folder.seal import SIGNATURE as SIGNATURE_FILE
from hushway.release.folder.subject import Subject, subject_of
from hushway.release.forecast.known import KNOWN
from hushway.release.formats.places import read_periods
from hushway.release.untrusted.limits import (
    CERTIFICATE_BYTES,
    LIST_BYTES,
    PAPER_BYTES,
    PICTURE_BYTES,
    RELEASE_BYTES,
    SIGNATURE_BYTES,
    TABLE_BYTES,
    holds,
    read_plain,
    refuse_large,
)
from hushway.release.wording import claim_text, conversion_text

if TYPE_CHECKING:
    from hushway.privacy.ledger import Ledger


def verify(
    folder: Path | str,
    *,
    key: PublicKey | None = None,
    ledger: "Ledger | None" = None,
    refit: bool = False,
) -> Verification:
    """Checks a release folder.

    Args:
        folder: The release.
        key: The publisher's public key; with it the release must be signed, and by this key.
        ledger: The publisher's ledger; with it the account must be as the certificate says.
        refit: Whether the table must follow from the noisy answers, computed again.

    Returns:
        Every check that was made.

    Raises:
        ReleaseError: There is no release at `folder`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ReleaseError(
            f"There is no folder {folder.name}.", advice="Give the folder of a release."
        )
    if not ((folder / SEAL).exists() or (folder / CERTIFICATE).exists()):
        raise ReleaseError(
            f"The folder {folder.name} is not a release: it has neither seal nor certificate.",
            advice="Give the folder that holds certificate.json and seal.json.",
        )
    notes, subject = Notes(), None
    sealed = _check_sealed(notes, folder, key)
    if sealed is not None:
        subject = _check_claims(notes, folder, sealed, ledger, refit=refit)
    family = None if subject is None else FAMILIES.get(subject.release_type)
    return Verification(
        checks=tuple(notes.checks),
        key_given=key is not None,
        subject=subject,
        checked_by=None if family is None else package_of(family),
    )


def sealed_release(folder: Path, *, key: PublicKey | None = None) -> tuple[Certificate, Seal]:
    """Returns the certificate of a folder that is as it was sealed, and the seal.

    No more is looked at.

    Args:
        folder: The release.
        key: The publisher's public key; with it the release must be signed, and by this key.

    Raises:
        ReleaseError: A file was changed, added or taken away, or the signature is not valid or by
            another key.
    """
    seal, _ = _seal(folder)
    _files(folder, seal)
    if seal.signer is not None or key is not None:
        _signature(folder, seal, key)
    return read_certificate(folder), seal


def verified(folder: Path) -> tuple[Certificate, Mapping[str, Any]]:
    """Verifies a release, and returns its certificate and what its data package says of its table.

    Raises:
        ReleaseError: There is no release, or it is not as it was written.
    """
    if not verify(folder).intact:
        raise ReleaseError(
            f"The release {folder.name} is not as it was written.",
            advice="See what is wrong with: hushway verify RELEASE",
        )
    return read_certificate(folder), read_facts(folder)


def read_certificate(folder: Path) -> Certificate:
    """Reads the certificate of a release.

    Raises:
        ReleaseError: It cannot be understood, or is larger than it may be.
    """
    return Certificate.from_json(read_plain(folder / CERTIFICATE, CERTIFICATE_BYTES))


def read_facts(folder: Path) -> Any:
    """Reads what the data package of a release says about its table.

    Raises:
        ReleaseError: The data package is larger than it may be.
    """
    return parsed_json(read_plain(folder / PACKAGE, PAPER_BYTES))["table"]


def _check_sealed(notes: Notes, folder: Path, key: PublicKey | None) -> Seal | None:
    """Returns the seal if it is unbroken and, where it names a signer, signed."""
    seal = notes.attempt("seal", lambda: _seal(folder))
    if seal is None:
        return None
    whole = notes.attempt("files", lambda: _files(folder, seal))
    if seal.signer is None and key is None:
        notes.absent(SIGNATURE, "Not signed: the seal shows changes, not who sealed it.")
        return whole
    signed = notes.attempt(SIGNATURE, lambda: _signature(folder, seal, key))
    return whole if signed else None


def _seal(folder: Path) -> tuple[Seal, str]:
    path = folder / SEAL
    if not os.path.lexists(path):
        raise damaged(f"{SEAL} is missing.")
    return Seal.from_json(read_plain(path, PAPER_BYTES)), "The seal is as it was written."


def _files(folder: Path, seal: Seal) -> tuple[Seal, str]:
    papers = {SEAL} if seal.signer is None else {SEAL, SIGNATURE_FILE}
    expected = {file.path: file for file in seal.files}
    found = set(files_of(folder))
    for words, names in (
        ("are missing", (expected.keys() | papers) - found),
        ("are not part of the release", found - expected.keys() - papers),
    ):
        if names:
            listed = ", ".join(sorted(names)[:5])
            raise damaged(f"These files {words}: {listed}.")
    _refuse_much(seal)
    changed = [name for name, file in expected.items() if not _is_sealed(folder, file)]
    if changed:
        raise damaged(f"These files were changed: {', '.join(sorted(changed)[:5])}.")
    return seal, f"All {len(expected)} files have the sealed size and digest; none is extra."


def _refuse_much(seal: Seal) -> None:
    """Makes sure that the sealed files are not more than can be read in a minute."""
    for file in seal.files:
        refuse_large(file.path, file.size, TABLE_BYTES)
    refuse_large("The release", sum(file.size for file in seal.files), RELEASE_BYTES)


def _is_sealed(folder: Path, file: SealedFile) -> bool:
    # The size first: what is larger than the seal says is not worth hashing.
    return (folder / file.path).lstat().st_size == file.size and sealed_file(
        folder, file.path
    ) == file


def _signature(folder: Path, seal: Seal, key: PublicKey | None) -> tuple[bool, str]:
    if seal.signer is None:
        raise ReleaseError(
            "The release is not signed.", advice="Ask the publisher for a signed copy."
        )
    path = folder / SIGNATURE_FILE
    if not os.path.lexists(path):
        raise damaged(f"{SIGNATURE_FILE} is missing.")
    sealed = read_plain(folder / SEAL, PAPER_BYTES)
    check_signature(sealed, seal.signer, read_plain(path, SIGNATURE_BYTES))
    if key is not None and key != seal.signer:
        raise ReleaseError(
            f"The release is signed by {seal.signer.fingerprint}, not by {key.fingerprint}.",
            advice="Make sure that the key is the publisher's; otherwise do not trust the release.",
        )
    known = "the given key" if key is not None else "a key to compare with the publisher's"
    return True, f"Signed by {seal.signer.fingerprint}, {known}."


def _check_claims(
    notes: Notes, folder: Path, seal: Seal, ledger: "Ledger | None", *, refit: bool
) -> Subject | None:
    """Checks what a release under an unbroken seal claims; returns which one it is."""
    certificate = notes.attempt("certificate", lambda: _certificate(folder))
    if certificate is None:
        return None
    facts = _check_terms(notes, folder, seal, certificate, ledger)
    if refit and facts is not None:
        _check_fit(notes, folder, seal, certificate, facts)
    return subject_of(certificate, window=_window(folder), signer=seal.signer)


def _window(folder: Path) -> str | None:
    """Returns the days of the public periods in words, if there are periods that can be read."""
    try:
        return window_text(read_periods(read_plain(folder / PERIODS, LIST_BYTES)))
    except (HushwayError, ValueError, ArithmeticError, LookupError):
        return None


def _check_terms(
    notes: Notes, folder: Path, seal: Seal, certificate: Certificate, ledger: "Ledger | None"
) -> Mapping[str, Any] | None:
    """Checks everything but the fit; returns the facts of the table if its files agree."""
    notes.attempt("software", lambda: _software(certificate))
    notes.attempt("epsilon and delta", lambda: _epsilon_delta(certificate))
    notes.attempt("account", lambda: _account(certificate))
    if ledger is not None:
        notes.attempt("ledger", lambda: _ledger(folder, certificate, ledger))
    notes.attempt(RANDOMNESS, lambda: _randomness(certificate))
    facts = notes.attempt("table facts", lambda: _facts(folder, certificate.terms.release_type))
    if facts is not None:
        known = facts.get(KNOWN)
        notes.attempt("page", lambda: _page(folder, certificate, seal, known))
    notes.attempt("label", lambda: _label(folder, certificate))
    family = notes.attempt("release type", lambda: _family(certificate.terms.release_type))
    if facts is None or family is None:
        return None
    description = _described(notes, family, folder, certificate, facts)
    if description is None:
        return None
    if seal.names(GROUND):
        notes.attempt("ground", lambda: _ground(folder))
        description = with_ground(description)
    whole_description = with_answers(description, kept=seal.names(ANSWERS))
    whole = notes.attempt("package", lambda: _package(folder, certificate, whole_description, seal))
    if whole and known is not None:
        # The package was made again of the files, and with it this sentence.
        notes.attempt(KNOWN, lambda: (True, known))
    return facts if whole else None


def _check_fit(
    notes: Notes,
    folder: Path,
    seal: Seal,
    certificate: Certificate,
    facts: Mapping[str, Any],
) -> None:
    if not seal.names(ANSWERS):
        notes.absent("fit", NOT_KEPT)
        return
    # Loads compiled code, which nothing else here needs.
    from hushway.families.refit import check_refit

    notes.attempt("fit", lambda: (True, check_refit(folder, certificate, facts)))


def _described(
    notes: Notes, family: Family, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Lets a family check its own files: it adds findings, and cannot end the verification."""
    own = Notes()

    def checked() -> Description | None:
        return family.check(own, folder, certificate, facts)

    outside = outside_words(family)
    if outside is None:
        description = checked()
    else:
        sentence = f"The files of this release type were checked by {outside}."
        description = notes.attempt("files of the release type", lambda: (checked(), sentence))
    notes.checks.extend(own.checks)
    return description


def _family(name: str) -> tuple[Family, str]:
    family = family_certified(name)
    outside = outside_words(family)
    brought = "" if outside is None else f", brought by {outside}"
    return family, f"The release is of the release type {name!r}{brought}."


def _certificate(folder: Path) -> tuple[Certificate, str]:
    certificate = read_certificate(folder)
    return certificate, f"The events add up to the claimed {claim_text(certificate)}."


def _software(certificate: Certificate) -> tuple[bool, str]:
    if certificate.software != SOFTWARE:
        raise ReleaseError(
            f"The release was written by {certificate.software}, and this is {SOFTWARE}: what it "
            "must say cannot be computed again.",
            advice="Verify with the version that the certificate names.",
        )
    return True, f"What the certificate must say is computed again by {SOFTWARE}."


def _epsilon_delta(certificate: Certificate) -> tuple[bool, str]:
    certificate.check_epsilon_delta()
    conversion = certificate.epsilon_delta
    if conversion is None:
        return True, "No epsilon is claimed at a delta."
    loudly = f"{LARGE_DELTA}: " if conversion.is_large else ""
    return True, f"{loudly}The events cost at most {conversion_text(conversion)}."


def _account(certificate: Certificate) -> tuple[bool, str]:
    certificate.check_account()
    return (
        True,
        "The stated account could spend on this release and is within its stated budget limit.",
    )


def _ledger(folder: Path, certificate: Certificate, ledger: "Ledger") -> tuple[bool, str]:
    # Loads a library for databases, which only this question needs.
    from hushway.privacy.ledger import AccountKey, Witness

    account = certificate.account
    seal, _ = _seal(folder)
    witness = Witness(
        release=certificate.release_id,
        entry_hash=account.ledger_entry,
        reference=seal.digest,
        certificate=certificate.digest,
        key=AccountKey(dataset=account.dataset, unit=certificate.terms.unit, period=account.period),
        measure=account.measure,
        spent=account.ever,
        budget_limit=account.budget_limit,
        span=account.span,
    )
    contradictions = ledger.witness(witness)
    if contradictions:
        raise ReleaseError(
            " ".join(contradictions),
            advice="Find out which of the two was changed, or is an older copy, before spending.",
        )
    if not ledger.binds_files(certificate.release_id):
        return True, (
            "The ledger knows the certificate, and charged it to the account as stated. Its entry "
            "is of an older kind that notes no seal, so it does not say that these are the numbers "
            "that were published."
        )
    return True, (
        "The ledger knows the release with these very files, and charged it to the account as "
        "stated."
    )


def _randomness(certificate: Certificate) -> tuple[bool, str]:
    if certificate.stamp is not None:
        raise ReleaseError(
            f"{certificate.stamp}: the noise can be drawn again by others, so nobody is protected.",
            advice="Do not publish it; write the release again with private randomness.",
        )
    return True, "The noise is said to come from a private source."


def _page(
    folder: Path, certificate: Certificate, seal: Seal, known: str | None
) -> tuple[bool, str]:
    picture = read_plain(folder / PICTURE, PICTURE_BYTES)
    has_map = seal.names(INDEX)
    page = render_page(certificate, picture, signer=seal.signer, known=known, has_map=has_map)
    _compare(folder, PAGE, page, certificate)
    return True, "The page says what the certificate says, and whether it is signed."


def _label(folder: Path, certificate: Certificate) -> tuple[bool, str]:
    _compare(folder, LABEL, render_label(certificate), certificate)
    return True, "The label says what the certificate says."


def _facts(folder: Path, family: str) -> tuple[Mapping[str, Any], str]:
    facts = read_facts(folder)
    if not facts_fit(family, facts):
        raise damaged(f"{PACKAGE} does not describe its table.")
    return facts, "The data package describes its table."


def _ground(folder: Path) -> tuple[bool, str]:
    # Loads a library for shapes, which most releases need not.
    from hushway.geography.ground import Ground

    Ground.from_json(read_plain(folder / GROUND, PAPER_BYTES))
    return True, (
        "The ground under the map is lines and water as hushway writes them; that they are public "
        "is the publisher's word."
    )


def _package(
    folder: Path,
    certificate: Certificate,
    description: Description,
    seal: Seal,
) -> tuple[bool, str]:
    files = {file.path: file for file in seal.files}
    readers = reader_files(folder, certificate, description, seal.signer)
    description = readers.description
    every = (*description.resources, *papers_of(description))
    described = {resource.path for resource in every} | {PACKAGE}
    if described != files.keys():
        raise damaged("The release holds other files than its data package describes.")
    _compare(folder, PACKAGE, render_package(certificate, description, files), certificate)
    _compare(folder, README, render_readme(certificate, description), certificate)
    _compare(folder, DCAT, render_dcat(certificate, description, files), certificate)
    _compare(folder, CROISSANT, render_croissant(certificate, description, files), certificate)
    readers.check(folder)
    made = "".join(f", {paper.path}" for paper in description.further)
    return True, f"Data package and metadata{made} agree with the tables and the certificate."


def _compare(folder: Path, name: str, rendered: bytes, certificate: Certificate) -> None:
    if not holds(folder / name, [rendered]):
        raise ReleaseError(
            f"{name} is not what {certificate.software} writes for this certificate.",
            advice="Verify with that very version; if it fails there too, do not trust it.",
        )
