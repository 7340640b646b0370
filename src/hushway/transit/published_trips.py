"""Reads the trips of a published release, for those who plan from it."""

from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.od.synthetic.published import PublishedTrips, read_published_trips
from hushway.families.verify import verified


def read_od_table(folder: Path) -> PublishedTrips:
    """Verifies an OD release and reads its table.

    Privacy:
        Reads a published release and nothing else: it costs nothing.

    Args:
        folder: A release folder of the family od, private or stamped NOT PRIVATE.

    Raises:
        ReleaseError: There is no release, it does not verify, or it is of another family.
    """
    certificate, facts = verified(folder)
    if certificate.terms.release_type != "od":
        raise ReleaseError(
            f"The release {folder.name} is of the release type "
            f"{certificate.terms.release_type!r}; one of OD tables was expected.",
            advice="Give the folder of a release of the release type od.",
        )
    return read_published_trips(folder, certificate, facts)
