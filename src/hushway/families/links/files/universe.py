"""The public lists of links, read back from a folder."""

from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.links.files.roads import (
    links_table,
    nodes_table,
    read_roads,
    roads_of,
)
from hushway.families.links.files.rows import read_zones, zones_csv
from hushway.families.links.public.universe import LinkUniverse
from hushway.release.bounded import LIST_BYTES, read_plain
from hushway.release.formats.places import periods_csv, read_periods
from hushway.release.published_file import PERIODS

ROADS = "roads.parquet"
NODES = "nodes.parquet"
ZONES = "zones.csv"


def read_universe(folder: Path) -> LinkUniverse:
    """Reads the public universe.

    Raises:
        ReleaseError: The files are not what hushway writes for any universe.
    """
    roads, zone = read_roads(folder / ROADS, folder / NODES)
    return LinkUniverse(
        roads=roads,
        periods=read_periods(read_plain(folder / PERIODS, LIST_BYTES)),
        zone=zone,
        zones=read_zones(read_plain(folder / ZONES, LIST_BYTES)),
    )


def check_readable(universe: LinkUniverse) -> None:
    """Makes sure that a verifier can read the public lists back from their files.

    Raises:
        ReleaseError: It could not.
    """
    try:
        roads, zone = roads_of(
            links_table(universe.roads, universe.zone), nodes_table(universe.roads)
        )
        again = LinkUniverse(
            roads=roads,
            periods=read_periods(periods_csv(universe.periods)),
            zone=zone,
            zones=read_zones(zones_csv(universe.zones)),
        )
        same = again.digest == universe.digest
    except (ValueError, LookupError, TypeError, ReleaseError):
        same = False
    if not same:
        raise ReleaseError(
            "The public roads, zones and periods would not be the same when read back from the "
            "release.",
            advice="Use plain text for ids and names, and finite numbers for all else.",
        )
