"""A release folder as it was sealed: its files, its signature, its certificate."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.errors import ReleaseError, damaged
from hushway.privacy.certificate import Certificate, parsed_json
from hushway.privacy.signing import PublicKey
from hushway.release.documents.papers import CERTIFICATE, PACKAGE
from hushway.release.folder.seal import (
    SEAL,
    Seal,
    SealedFile,
    check_signature,
    files_of,
    sealed_file,
)
from hushway.release.folder.seal import SIGNATURE as SIGNATURE_FILE
from hushway.release.others import named, revised_by
from hushway.release.untrusted.limits import (
    CERTIFICATE_BYTES,
    PAPER_BYTES,
    RELEASE_BYTES,
    SIGNATURE_BYTES,
    TABLE_BYTES,
    read_plain,
    refuse_large,
)

if TYPE_CHECKING:
    from hushway.privacy.ledger import Witness


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
    seal, _ = read_seal(folder)
    whole_files(folder, seal)
    if seal.signer is not None or key is not None:
        signed_by(folder, seal, key)
    return read_certificate(folder), seal


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


def read_seal(folder: Path) -> tuple[Seal, str]:
    """Reads the seal of a release, and returns a sentence about it too."""
    path = folder / SEAL
    if not os.path.lexists(path):
        raise damaged(f"{SEAL} is missing.")
    return Seal.from_json(read_plain(path, PAPER_BYTES)), "The seal is as it was written."


def whole_files(folder: Path, seal: Seal) -> tuple[Seal, str]:
    """Makes sure that a release has its sealed files, as they were sealed, and no others."""
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


def signed_by(folder: Path, seal: Seal, key: PublicKey | None) -> tuple[bool, str]:
    """Makes sure that a seal is signed: with a key, by this one."""
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


def witness_of(certificate: Certificate, seal: str) -> "Witness":
    """Returns what a certificate says of its account, and the digest of the seal, for a ledger.

    A revision has cost nothing, and no ledger knows it: the release that it revises stands for it.
    """
    # Loads a library for databases, which hardly anybody needs here.
    from hushway.privacy.ledger import AccountKey, Witness

    account, revised = certificate.account, revised_by(named(certificate))
    return Witness(
        release=certificate.release_id if revised is None else revised["release"],
        entry_hash=account.ledger_entry,
        reference=seal if revised is None else revised["seal"],
        certificate=certificate.digest,
        key=AccountKey(dataset=account.dataset, unit=certificate.terms.unit, period=account.period),
        measure=account.measure,
        spent=account.ever,
        budget_limit=account.budget_limit,
        span=account.span,
    )
