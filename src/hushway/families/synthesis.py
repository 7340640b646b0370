"""Synthetic rows from a release, whatever its family, as long as it has something to draw from."""

from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.verify import read_certificate
from hushway.progress import Progress


def synthesize(
    release: Path, path: Path, *, seed: int = 1, table: bool = False, progress: Progress
) -> str:
    """Writes synthetic trips or taps from a release, and says what was written.

    Privacy:
        Reads a published release and nothing else: it costs nothing.

    Args:
        release: A release folder of the family od or sequences.
        path: The file to write.
        seed: Chooses the draw.
        table: Whether to write a drawn OD table instead of single trips.
        progress: Told in a few words what is being done.

    Raises:
        ReleaseError: The release is of another family or does not verify, or the file cannot be
            written.
    """
    family = read_certificate(release).terms.release_type
    if family == "od":
        from hushway.families.synthetic_trips import synthesize_trips

        progress("Drawing trips")
        trips = synthesize_trips(release, path, seed=seed, table=table)
        return (
            f"{trips.trips:,} synthetic trips in {trips.cells:,} cells in {trips.path}. They look "
            "like a day that fits the release; nobody made them."
        )
    if family == "sequences" and not table:
        from hushway.families.synthetic_taps import synthesize_taps

        progress("Writing synthetic taps")
        taps = synthesize_taps(release, path, seed=seed)
        return (
            f"{taps.taps:,} taps of {taps.records:,} synthetic records in {taps.path}. Times, and "
            "stops beyond published prefixes, are likely ones: nobody measured them."
        )
    raise ReleaseError(
        f"There is nothing to draw from a release of the release type {family!r}"
        f"{' as a table' if table else ''}.",
        advice="Give a release of the release type od or sequences; tables are drawn of od only.",
    )
