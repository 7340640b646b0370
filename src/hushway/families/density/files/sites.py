"""The public towers of a density with their sites, and what was measured at each site, as CSV."""

import numpy as np

from hushway.arrays import IntArray
from hushway.families.density.public.cells import Sites
from hushway.geography.locations import Locations
from hushway.release.bounded import csv_rows, rewritten
from hushway.release.formats.places import (
    csv_bytes,
    location_columns,
    locations_csv,
    read_locations,
)

SITE = "site"
MEASURED_COLUMNS = (SITE, "measured")

_LEFT_OUT = -1


def site_columns(locations: Locations) -> tuple[str, ...]:
    """Returns the columns of sites.csv: the site, then what every place has."""
    return (SITE, *location_columns(locations))


def sites_csv(sites: Sites) -> bytes:
    """Returns the public places with the site of each; it is empty for those left out."""
    _, *rows = csv_rows("sites.csv", locations_csv(sites.locations))
    numbers = ("" if site == _LEFT_OUT else str(site) for site in sites.site.tolist())
    labelled = ((site, *row) for site, row in zip(numbers, rows, strict=True))
    return csv_bytes(site_columns(sites.locations), labelled)


def read_sites(data: bytes) -> Sites:
    """Reads the public places and their sites back.

    Raises:
        ReleaseError: The bytes are not what `sites_csv` writes.
    """
    header, *rows = csv_rows("sites.csv", data)
    numbers = [int(row[0]) if row[0] else _LEFT_OUT for row in rows]
    sites = Sites(
        locations=read_locations(csv_bytes(header[1:], (row[1:] for row in rows))),
        site=np.array(numbers, dtype=np.int64),
    )
    if sites_csv(sites) != data or header.count(SITE) != 1:
        raise rewritten("sites.csv")
    return sites


def measured_sites_csv(measured: IntArray) -> bytes:
    """Returns the noisy histogram of sites as CSV, one row a site."""
    rows = ((str(site), str(count)) for site, count in enumerate(measured.tolist()))
    return csv_bytes(MEASURED_COLUMNS, rows)


def read_measured_sites(data: bytes, sites: int) -> IntArray:
    """Reads the noisy histogram of sites back.

    Raises:
        ReleaseError: The bytes are not what `measured_sites_csv` writes for so many sites.
    """
    _, *rows = csv_rows("measured_sites.csv", data)
    measured = np.array([int(row[-1]) for row in rows], dtype=np.int64)
    if len(measured) != sites or measured_sites_csv(measured) != data:
        raise rewritten("measured_sites.csv")
    return measured
