"""Opens a sealed release and returns its atlas: what a page draws, whatever the release type."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hushway.errors import ReleaseError
from hushway.families.drawn import drawn, undrawable
from hushway.families.sealed import read_facts, sealed_release
from hushway.privacy.certificate import parsed_json
from hushway.release.documents.papers import PACKAGE
from hushway.release.drawing.atlas import Atlas, Download
from hushway.release.folder.seal import SEAL, SIGNATURE, Seal, sealed_file
from hushway.release.untrusted.limits import PAPER_BYTES, read_plain

_SEALS = {SEAL: "Seal: size and digest of every file", SIGNATURE: "Signature of the seal"}


def atlas_of(folder: Path | str) -> Atlas:
    """Returns the atlas of a release whose files are as they were sealed.

    That shows changes. Whether all that the release claims adds up is for `hushway.verify` to say.

    Args:
        folder: The release. It may be a stranger's: files are read with limits, and none outside.

    Raises:
        ReleaseError: There is no release, a file was changed, added or taken away, its signature is
            not valid, or it cannot be drawn.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ReleaseError(f"There is no folder {place.name}.", advice="Give a release's folder.")
    certificate, seal = sealed_release(place)
    with undrawable():
        facts, downloads = read_facts(place), tuple(_downloads(place))
        return drawn(place, certificate, facts, signer=seal.signer, downloads=downloads)


def _downloads(folder: Path) -> Iterator[Download]:
    """Yields the sealed files with their titles, and the seal itself."""
    seal = Seal.from_json(read_plain(folder / SEAL, PAPER_BYTES))
    titles = _titles(parsed_json(read_plain(folder / PACKAGE, PAPER_BYTES)))
    titles[PACKAGE] = "Data package: what is in every file"
    for file in seal.files:
        yield Download(
            path=file.path,
            title=titles.get(file.path, file.path),
            size=file.size,
            sha256=file.sha256,
        )
    for path in (SEAL,) if seal.signer is None else (SEAL, SIGNATURE):
        file = sealed_file(folder, path)
        yield Download(path=path, title=_SEALS[path], size=file.size, sha256=file.sha256)


def _titles(package: Any) -> dict[str, str]:
    return {str(resource["path"]): str(resource["title"]) for resource in package["resources"]}
