"""The verb `dossier`: a sign-off pack for the file of a privacy officer."""

from pathlib import Path
from typing import TYPE_CHECKING

from hushway.errors import ReleaseError
from hushway.families.sealed import read_certificate
from hushway.privacy.signing import PublicKey
from hushway.release.documents.dossier import OPEN, render_dossier
from hushway.release.folder.new_file import write_new
from hushway.steward.verify import verify

if TYPE_CHECKING:
    from hushway.steward.ledger import LedgerLike


def dossier(
    release: Path | str,
    *,
    key: PublicKey | Path | str | None = None,
    ledger: "LedgerLike | None" = None,
    output: Path | str = "dossier.md",
) -> int:
    """Writes a sign-off pack from the certificate of a release that adds up.

    Args:
        release: The release folder.
        key: The publisher's public key or its file: the signature must be theirs.
        ledger: The publisher's ledger: it must have charged for the release.
        output: Where the pack goes: a new Markdown file.

    Returns:
        How many answers are left open.

    Raises:
        ReleaseError: There is no release, it does not add up, or the file exists already.
    """
    verified = verify(release, key=key, ledger=ledger)
    if not verified.intact:
        raise ReleaseError(
            "The release does not add up, so nobody should sign for it.",
            advice=f"See what is wrong: hushway verify {release}",
        )
    text = render_dossier(read_certificate(Path(release)), verified)
    write_new(Path(output), text)
    # The introduction names the mark once, without its colon.
    return text.decode().count(OPEN)
