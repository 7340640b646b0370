"""From a published table and its certificate to a release folder."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from hushway.errors import PrivacyError
from hushway.families.readers import reader_files
from hushway.families.registry import contents_of
from hushway.privacy.certificate import Certificate
from hushway.privacy.signing import PublicKey, SigningKey
from hushway.progress import Progress, quiet
from hushway.release.documents.label import render_label
from hushway.release.documents.linked_data import render_croissant, render_dcat
from hushway.release.documents.package import render_package
from hushway.release.documents.page import render_page
from hushway.release.documents.papers import (
    CERTIFICATE,
    CROISSANT,
    DCAT,
    LABEL,
    PACKAGE,
    PAGE,
    PICTURE,
    README,
)
from hushway.release.documents.readme import render_readme
from hushway.release.folder.answers import keeping
from hushway.release.folder.place import Place, claimed, disk_problems, refuse_taken
from hushway.release.folder.published_file import Contents
from hushway.release.folder.seal import (
    SEAL,
    SIGNATURE,
    Seal,
    SealedFile,
    files_of,
    sealed_file,
    signature_json,
)
from hushway.release.forecast.known import KNOWN


def write_release(
    folder: Path,
    *,
    table: object,
    certificate: Certificate,
    signing_key: SigningKey | None = None,
    answers: bytes | None = None,
    progress: Progress = quiet,
) -> Path:
    """Writes a release folder, whole or not at all.

    Args:
        folder: Where the release appears; nothing may be there yet.
        answers: The noisy answers as a file, if they are kept.

    Returns:
        The folder.

    Raises:
        PrivacyError: The table or the certificate holds something that must not be published.
        ReleaseError: The certificate does not add up or belongs to another table, something is at
            `folder` already, or the disk refuses.
    """
    contents = publishable(table, certificate)
    refuse_taken(folder)
    with claimed(folder) as place:
        place.begin(certificate.release_id)
        try:
            write_sealed(
                place,
                contents=keeping(contents, answers),
                certificate=certificate,
                signing_key=signing_key,
                progress=progress,
            )
            place.appear()
        except BaseException:
            # There is no ledger that would remember it.
            place.forget()
            raise
    return folder


def publishable(table: object, certificate: Certificate) -> Contents:
    """Returns a table as something that can be written with a certificate.

    Raises:
        PrivacyError: The table or the certificate holds something that must not be published.
        ReleaseError: The certificate does not add up or belongs to another table.
    """
    contents = contents_of(table)
    if type(certificate) is not Certificate:
        raise PrivacyError(
            f"A {type(certificate).__name__} is not a certificate.",
            advice="Every release needs a certificate; internal values have none.",
        )
    contents.check(certificate)
    certificate.check_account()
    certificate.check_epsilon_delta()
    return contents


def write_sealed(
    place: Place,
    *,
    contents: Contents,
    certificate: Certificate,
    signing_key: SigningKey | None,
    progress: Progress,
) -> str:
    """Writes and seals a release at a claimed place, which it does not take yet.

    Returns:
        The digest of its seal.

    Raises:
        ReleaseError: The disk refuses.
    """
    with disk_problems(place.folder):
        signer = None if signing_key is None else signing_key.public
        files = _write_files(place.partial, contents, certificate, signer, progress)
        seal = Seal(files=files, signer=signer)
        _write_seal(place.partial, seal, signing_key)
        _set_times(place.partial, datetime.fromisoformat(certificate.created_at))
    place.flush()
    return seal.digest


def _write_files(
    folder: Path,
    contents: Contents,
    certificate: Certificate,
    signer: PublicKey | None,
    progress: Progress,
) -> tuple[SealedFile, ...]:
    """Writes everything but the seal; returns what is to be sealed."""
    contents.write(folder, progress)
    progress("Drawing the map, and writing tables for spreadsheets and maps")
    readers = reader_files(folder, certificate, contents.description, signer)
    readers.write(folder)
    description = readers.description
    progress(f"Drawing {PICTURE}")
    with _nothing_collected():
        picture = contents.picture(certificate)
    progress("Writing the certificate")
    papers = {
        PICTURE: picture,
        CERTIFICATE: certificate.to_json(),
        PAGE: render_page(
            certificate,
            picture,
            signer=signer,
            known=description.facts.get(KNOWN),
            has_map=readers.index is not None,
        ),
        LABEL: render_label(certificate),
        README: render_readme(certificate, description),
    }
    for name, data in papers.items():
        (folder / name).write_bytes(data)
    files = {name: sealed_file(folder, name) for name in files_of(folder)}
    (folder / DCAT).write_bytes(render_dcat(certificate, description, files))
    files[DCAT] = sealed_file(folder, DCAT)
    (folder / CROISSANT).write_bytes(render_croissant(certificate, description, files))
    files[CROISSANT] = sealed_file(folder, CROISSANT)
    (folder / PACKAGE).write_bytes(render_package(certificate, description, files))
    return (*files.values(), sealed_file(folder, PACKAGE))


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Turns off garbage collection: drawing makes many small objects that live until its end."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def _write_seal(folder: Path, seal: Seal, signing_key: SigningKey | None) -> None:
    sealed = seal.to_json()
    if signing_key is not None:
        (folder / SIGNATURE).write_bytes(signature_json(signing_key, sealed))
    # Last, and at once: a folder with a seal is whole.
    unfinished = folder / f".{SEAL}"
    unfinished.write_bytes(sealed)
    unfinished.rename(folder / SEAL)


def _set_times(folder: Path, moment: datetime) -> None:
    """Gives everything the time that the certificate states.

    Privacy:
        How long counting and fitting took depends on the rows, and would show.
    """
    seconds = moment.timestamp()
    for place, _, names in os.walk(folder, topdown=False):
        for name in (*names, "."):
            os.utime(Path(place) / name, (seconds, seconds))
