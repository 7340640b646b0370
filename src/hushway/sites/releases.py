"""The releases of a site: verified, drawn, and copied byte for byte."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hushway.errors import ReleaseError, damaged
from hushway.progress import Progress, quiet
from hushway.release.drawing.atlas_files import ATLAS, COLUMNS
from hushway.release.folder.grounded import GROUND
from hushway.release.folder.seal import SEAL, SIGNATURE, Seal
from hushway.release.untrusted.confined import OutOfLimitsError, ask_confined
from hushway.release.untrusted.limits import PAPER_BYTES, SIGNATURE_BYTES, open_plain, read_plain
from hushway.sites.slugs import distinct_slugs

# What hushway calls its files; nothing that leads out of a folder, or is hidden in one.
_NAME = re.compile(r"README\.md|[a-z0-9][a-z0-9._-]{0,99}", re.ASCII)
_PART_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class SiteRelease:
    """A release that verifies, with its atlas.

    Attributes:
        folder: The release.
        slug: Its address in the site.
        title: What it is called.
        release_type: What kind of release it is.
        period: The days that it covers, in words.
        stamp: NOT PRIVATE, if it is not.
        seal: The digest of the seal that was verified.
        drawn: The folder with its atlas.
        sums: Its sums as those of a step, if it is one of several.
    """

    folder: Path
    slug: str
    title: str
    release_type: str
    period: str
    stamp: str | None
    seal: str
    drawn: Path
    sums: Mapping[str, Any] | None = None

    @property
    def atlas(self) -> bytes:
        """The bytes of atlas.json."""
        return (self.drawn / ATLAS).read_bytes()

    @property
    def columns(self) -> bytes:
        """The bytes of columns.bin."""
        return (self.drawn / COLUMNS).read_bytes()

    @property
    def ground(self) -> bytes | None:
        """The bytes of the ground under its map, if it has any."""
        file = self.drawn / GROUND
        return file.read_bytes() if file.exists() else None

    def lay(self, files: Sequence[Path]) -> None:
        """Puts public files under its map, in place of the ground of the release.

        Raises:
            GeographyError: A file cannot be used, or is of another place.
        """
        from hushway.tables.ground import read_ground

        ground = read_ground(files, tuple(json.loads(self.atlas)["bounds"]))
        (self.drawn / GROUND).write_bytes(ground.to_json())


@contextmanager
def verified_releases(
    releases: Sequence[Path], progress: Progress = quiet, *, sums: bool | None = None
) -> Iterator[tuple[SiteRelease, ...]]:
    """Verifies and draws releases, each in a process of its own with limits.

    Args:
        releases: The folders. They may be strangers'.
        progress: Told which one is being read.
        sums: Whether their sums are taken, to be those of a series; if they are several unless
            said.

    Raises:
        ReleaseError: There is none, or one does not verify or cannot be drawn.
    """
    if not releases:
        raise ReleaseError("A site needs a release.", advice="Name the folder of at least one.")
    several = len(releases) > 1 if sums is None else sums
    with TemporaryDirectory(prefix="hushway-site-") as scratch:
        drawn = []
        for number, folder in enumerate(releases):
            progress(f"Verifying and drawing {folder.name}", number / len(releases))
            into = Path(scratch) / str(number)
            into.mkdir()
            drawn.append((folder, into, _drawn(folder, into, sums=several)))
        slugs = distinct_slugs(facts["title"] for _, _, facts in drawn)
        yield tuple(
            SiteRelease(folder=folder, drawn=into, slug=slug, **facts)
            for (folder, into, facts), slug in zip(drawn, slugs, strict=True)
        )


def _drawn(folder: Path, into: Path, *, sums: bool) -> dict[str, Any]:
    question = {"folder": str(folder.absolute()), "into": str(into), "sums": sums}
    try:
        return ask_confined("hushway.sites.draw_process", question)
    except OutOfLimitsError as problem:
        raise ReleaseError(
            f"The release {folder.name} cannot be drawn. {problem}",
            advice="Ask its publisher for a smaller one.",
        ) from None


def copy_files(release: SiteRelease, into: Path) -> None:
    """Copies the files of a release, byte for byte as they were sealed, and nothing else.

    Raises:
        ReleaseError: A file is not as it was when the release was verified.
    """
    seal = read_plain(release.folder / SEAL, PAPER_BYTES)
    if hashlib.sha256(seal).hexdigest() != release.seal:
        raise _changed(release)
    read = Seal.from_json(seal)
    for file in read.files:
        _refuse_odd_name(file.path)
        path = into / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        if _copied(release.folder / file.path, path, file.size) != file.sha256:
            raise _changed(release)
    (into / SEAL).write_bytes(seal)
    if read.signer is not None:
        (into / SIGNATURE).write_bytes(read_plain(release.folder / SIGNATURE, SIGNATURE_BYTES))


def _copied(source: Path, target: Path, size: int) -> str:
    """Copies a file that has so many bytes, and returns their digest."""
    digest = hashlib.sha256()
    with open_plain(source, size) as file, target.open("xb") as copy:
        left = size
        while left and (part := file.read(min(left, _PART_BYTES))):
            digest.update(part)
            copy.write(part)
            left -= len(part)
    return digest.hexdigest()


def _refuse_odd_name(path: str) -> None:
    if not all(map(_NAME.fullmatch, path.split("/"))):
        raise damaged("The release holds a file with a name that hushway does not give.")


def _changed(release: SiteRelease) -> ReleaseError:
    return ReleaseError(
        f"The release {release.folder.name} was changed while it was being read.",
        advice="Try again when nobody writes to it.",
    )
