"""The releases of the family od, held to what every family is held to."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hushway.families.od.files.published import FILES
from hushway.families.od.fit.table import ODTable
from hushway.privacy.measured import Internal
from support.family_suite import Case, FamilySuite
from support.od_scenes import small_certificate

EDITS = [
    ("places.csv", b"42.3,", b"42.4,", "geography"),
    ("places.csv", b"west", b"east", "geography"),
    ("periods.csv", b"2026-03-31", b"2026-03-30", "geography"),
    ("trips.csv", b",7,", b",8,", "formats"),
    ("trips.csv", b'"c"', b'"zz"', "formats"),
    ("flowmap/flows.csv", b"a,c,7,", b"a,c,9,", "formats"),
    ("flowmap/locations.csv", b"42.3,", b"42.4,", "formats"),
    ("datapackage.json", b'"rows": 80', b'"rows": 79', "package"),
    (
        "datapackage.json",
        b'"include_intrazonal": false',
        b'"include_intrazonal": true',
        "geography",
    ),
    (
        "datapackage.json",
        b'"include_intrazonal": false',
        b'"include_intrazonal": 0',
        "table facts",
    ),
    ("datapackage.json", b'"threshold": null', b'"threshold": 5', "package"),
    ("datapackage.json", b'"threshold": null', b'"threshold": 5', "terms"),
    ("datapackage.json", b'"threshold": null', b'"threshold": "5"', "table facts"),
    ("datapackage.json", b'"table"', b'"tables"', "table facts"),
    ("datapackage.json", b'"unit": "person"', b'"unit": "city"', "package"),
    ("trips.parquet", b"PAR1", b"PAR2", "rows"),
]

SPOILT: dict[str, Callable[[ODTable], Any]] = {
    "internal": Internal,
    "counts alone": lambda t: t.counts,
    "nothing": lambda _: None,
    "internal counts": lambda t: replace(t, counts=Internal(t.counts)),
    "an internal universe": lambda t: replace(t, universe=Internal(t.universe)),
    "float counts": lambda t: replace(t, counts=t.counts.astype(float)),
    "negative counts": lambda t: replace(t, counts=-t.counts),
    "a count too few": lambda t: replace(t, counts=t.counts[1:]),
    "out of order": lambda t: replace(t, cells=t.cells[::-1].copy()),
    "a cell outside": lambda t: replace(t, cells=t.cells + 1),
    "no errors": lambda t: replace(t, standard_errors=np.full_like(t.standard_errors, np.nan)),
    "a row too few": lambda t: replace(
        t, cells=t.cells[1:], counts=t.counts[1:], standard_errors=t.standard_errors[1:]
    ),
}

OF_SUMS = {
    "adds-up.json",
    "margins.csv",
    "margins.parquet",
    "pairs.parquet",
    "published_totals.json",
}
OF_ENTRIES = {
    "gtfs-ride/ridership.txt",
    "tides/datapackage.json",
    "tides/station_activities.csv",
}


class TestOD(FamilySuite):
    case = Case(
        family="od",
        table="table",
        certify=small_certificate,
        release="release",
        checks={"release": ["geography", "rows", "formats", "terms"]},
        edits=EDITS,
        spoilt=SPOILT,
        edited=("release", "table"),
        files=FILES,
        absent={"release": OF_SUMS | {"areas.geojson", "estimates.parquet"} | OF_ENTRIES},
    )
