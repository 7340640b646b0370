"""Synthetic rows from a release, whatever its family, as long as it has something to draw from."""

from pathlib import Path

from hushway.families.registry import family_certified
from hushway.families.verify import verified
from hushway.progress import Progress, quiet


def synthesize(
    release: Path, path: Path, *, seed: int = 1, table: bool = False, progress: Progress = quiet
) -> str:
    """Writes synthetic rows from a release, and says what was written.

    Privacy:
        Reads a published release and nothing else: it costs nothing.

    Args:
        release: A release folder.
        path: The file to write.
        seed: Chooses the draw.
        table: Whether to write a drawn table instead of single rows.
        progress: Told in a few words what is being done.

    Raises:
        ReleaseError: There is nothing to draw from, the release does not verify, or the file cannot
            be written.
    """
    certificate, facts = verified(release)
    family = family_certified(certificate.terms.release_type)
    progress("Drawing synthetic rows")
    return family.synthesize(release, certificate, facts, path=path, seed=seed, table=table)
