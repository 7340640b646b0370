"""The verb `verify`: what a release claims, recomputed without the data."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from hushway.families.verify import verify as verify_release
from hushway.privacy.signing import PublicKey, load_public_key
from hushway.release.folder.finding import Verification

if TYPE_CHECKING:
    from hushway.steward.ledger import LedgerLike


def verify(
    release: Path | str,
    *,
    key: PublicKey | Path | str | None = None,
    ledger: "LedgerLike | None" = None,
    refit: bool = False,
    series: Path | str | None = None,
) -> Verification:
    """Recomputes what a release claims, as far as that is possible without the data.

    Unlike the command it runs in this process, without limits of time and memory.

    Args:
        release: The release folder.
        key: The publisher's public key or its file: the signature must be theirs.
        ledger: The publisher's ledger, its file or address, or a plan that names it: it must have
            charged for the release.
        refit: Also fits the release again from its noisy answers: the table must come out the same
            to the last byte. That takes as long as the fit did.
        series: With `refit`, the folder that holds the releases that it learnt from, if it did.

    Raises:
        ReleaseError: There is no release, or no such key.
        BudgetError: There is no such ledger.

    Example:
        >>> hushway.verify("release").passed
        True
    """
    public = load_public_key(Path(key)) if isinstance(key, Path | str) else key
    with ExitStack() as stack:
        book = None
        folder = None if series is None else Path(series)
        if ledger is not None:
            # The library for databases takes long to load.
            from hushway.steward.ledger import connect

            book = stack.enter_context(connect(ledger))
        return verify_release(Path(release), key=public, ledger=book, refit=refit, series=folder)
