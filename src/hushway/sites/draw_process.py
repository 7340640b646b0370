"""Verifies a release and draws its atlas, in a process that may take so much and no more.

Asked by `hushway.sites.releases`.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any

from hushway.errors import ReleaseError
from hushway.release.folder.grounded import GROUND
from hushway.release.folder.seal import SEAL
from hushway.release.untrusted.confined import answer_confined
from hushway.release.untrusted.landlock import allow_only
from hushway.release.untrusted.limits import PAPER_BYTES, read_plain


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    folder, into = Path(question["folder"]), Path(question["into"])
    # Before libraries start threads, which it would not bind.
    allow_only(reads=[folder], writes=[into])
    from hushway.families.atlas import atlas_of
    from hushway.families.verify import verify
    from hushway.release.drawing.atlas_files import ATLAS, COLUMNS, atlas_files, short_text
    from hushway.sites.steps import sums_of

    found = verify(folder)
    if not found.intact:
        failed = next(check for check in found.checks if not check.passed)
        raise ReleaseError(
            f"The release {folder.name} does not verify: {failed.sentence}",
            advice="Ask the publisher for an intact copy; hushway verify tells all that is wrong.",
        )
    seal = read_plain(folder / SEAL, PAPER_BYTES)
    atlas = atlas_of(folder)
    files = atlas_files(atlas)
    (into / ATLAS).write_bytes(files.atlas)
    (into / COLUMNS).write_bytes(files.columns)
    if (folder / GROUND).exists():
        (into / GROUND).write_bytes(read_plain(folder / GROUND, PAPER_BYTES))
    return {
        "title": short_text(str(atlas.facts["title"])),
        "release_type": atlas.facts["release_type"],
        "stamp": atlas.sentences["stamp"],
        "period": atlas.drawing.window,
        "seal": sha256(seal).hexdigest(),
        "sums": sums_of(folder) if question["sums"] else None,
    }


if __name__ == "__main__":
    answer_confined(_answer)
