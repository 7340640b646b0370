"""Recomputes what a release claims, as far as that is possible without the protected data.

The seal comes first: if a file changed, nothing in it is worth reading. A release that was changed
and sealed again still has to add up: the events and the sentences from the mechanism, its limits
and the public lists, the loss from the events, the papers from the certificate, the formats from
each other. What no reader can recompute, such as the name of the account, is listed in
`docs/reference/verify.md`; the signature says who answers for it.
"""

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
from hushway.families.sealed import (
    read_certificate,
    read_facts,
    read_seal,
    signed_by,
    whole_files,
    witness_of,
)
from hushway.geography.period_words import window_text
from hushway.privacy.accounting import LARGE_DELTA
from hushway.privacy.certificate import SOFTWARE, Certificate
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
)
from hushway.release.folder.subject import Subject, subject_of
from hushway.release.forecast.known import KNOWN
from hushway.release.formats.places import read_periods
from hushway.release.others import is_revision, named
from hushway.release.untrusted.limits import (
    LIST_BYTES,
    PAPER_BYTES,
    PICTURE_BYTES,
    holds,
    read_plain,
)
from hushway.release.wording import claim_text, conversion_text

if TYPE_CHECKING:
    from hushway.privacy.ledger import Ledger

_Claims = tuple[Certificate, Mapping[str, Any]]


def verify(
    folder: Path | str,
    *,
    key: PublicKey | None = None,
    ledger: "Ledger | None" = None,
    refit: bool = False,
    series: Path | None = None,
) -> Verification:
    """Checks a release folder.

    Args:
        folder: The release.
        key: The publisher's public key; with it the release must be signed, and by this key.
        ledger: The publisher's ledger; with it the account must be as the certificate says.
        refit: Whether the table must follow from the noisy answers, computed again.
        series: With `refit`, the folder that holds the releases that it learnt from.

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
        subject, claims = _check_claims(notes, folder, sealed, ledger)
        if refit and claims is not None:
            _check_fit(notes, folder, sealed, claims, series)
    family = None if subject is None else FAMILIES.get(subject.release_type)
    return Verification(
        checks=tuple(notes.checks),
        key_given=key is not None,
        subject=subject,
        checked_by=None if family is None else package_of(family),
    )


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


def _check_sealed(notes: Notes, folder: Path, key: PublicKey | None) -> Seal | None:
    """Returns the seal if it is unbroken and, where it names a signer, signed."""
    seal = notes.attempt("seal", lambda: read_seal(folder))
    if seal is None:
        return None
    whole = notes.attempt("files", lambda: whole_files(folder, seal))
    if seal.signer is None and key is None:
        notes.absent(SIGNATURE, "Not signed: the seal shows changes, not who sealed it.")
        return whole
    signed = notes.attempt(SIGNATURE, lambda: signed_by(folder, seal, key))
    return whole if signed else None


def _check_claims(
    notes: Notes, folder: Path, seal: Seal, ledger: "Ledger | None"
) -> tuple[Subject | None, _Claims | None]:
    """Checks what a release under an unbroken seal claims; returns which one it is.

    Returns:
        Which release it is; and its certificate and the facts of its table, if all of it agrees.
    """
    certificate = notes.attempt("certificate", lambda: _certificate(folder))
    if certificate is None:
        return None, None
    facts = _check_terms(notes, folder, seal, certificate, ledger)
    subject = subject_of(certificate, window=_window(folder), signer=seal.signer)
    return subject, None if facts is None else (certificate, facts)


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
    notes: Notes, folder: Path, seal: Seal, claims: _Claims, series: Path | None
) -> None:
    certificate, facts = claims
    if not seal.names(ANSWERS):
        notes.absent("fit", NOT_KEPT)
        return
    if named(certificate) and series is None:
        notes.absent(
            "fit",
            f"Not fitted again: it learnt from {len(named(certificate))} other releases of its "
            "series, which its certificate names. Give the folder that holds them: --series.",
        )
        return
    # Loads compiled code, which nothing else here needs.
    from hushway.families.refit import check_refit

    notes.attempt("fit", lambda: (True, check_refit(folder, certificate, facts, series)))


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
    seal, _ = read_seal(folder)
    witness = witness_of(certificate, seal.digest)
    contradictions = ledger.witness(witness)
    if contradictions:
        raise ReleaseError(
            " ".join(contradictions),
            advice="Find out which of the two was changed, or is an older copy, before spending.",
        )
    if not ledger.binds_files(witness.release):
        return True, (
            "The ledger knows the certificate, and charged it to the account as stated. Its entry "
            "is of an older kind that notes no seal, so it does not say that these are the numbers "
            "that were published."
        )
    if is_revision(certificate):
        return True, "The ledger knows the release that this one revises, and its very files."
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
