"""Which files an OD table becomes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hushway.artefact.formats.csv import write_csv
from hushway.artefact.formats.flowmap import flowmap_locations, write_flows
from hushway.artefact.formats.omx import MOST_CELLS, fits_omx, write_omx
from hushway.artefact.formats.parquet import write_parquet
from hushway.artefact.formats.places import (
    locations_csv,
    periods_csv,
    read_locations,
    read_periods,
)
from hushway.artefact.formats.rows import COLUMNS
from hushway.artefact.resource import Description, Progress, Resource
from hushway.errors import PrivacyError, ReleaseError
from hushway.geography.od import ODCells
from hushway.privacy.certificate import Certificate
from hushway.releases.od.table import ODTable

PARQUET = "trips.parquet"
CSV = "trips.csv"
OMX = "trips.omx"
FLOWS = "flowmap/flows.csv"
FLOW_LOCATIONS = "flowmap/locations.csv"
LOCATIONS = "locations.csv"
PERIODS = "periods.csv"


@dataclass(frozen=True)
class ODContents:
    """An OD table, ready to be written."""

    table: ODTable

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the table is one and belongs to the certificate.

        Raises:
            PrivacyError: The table is not made of published numbers.
            ReleaseError: The certificate was made for another geography.
        """
        _check_table(self.table)
        universe = self.table.universe
        if certificate.family != "od":
            raise ReleaseError(
                f"The certificate is for the family {certificate.family!r}, not for OD tables.",
                advice="Write each table with its own certificate.",
            )
        if (certificate.domain.digest, certificate.domain.size) != (universe.digest, universe.size):
            raise ReleaseError(
                "The certificate was made for another geography than the table's.",
                advice="Write each table with its own certificate.",
            )
        _check_lists(universe)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        table = self.table
        return describe(table.universe, rows=len(table.cells), threshold=table.threshold)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        universe = self.table.universe
        small: dict[str, bytes] = {
            LOCATIONS: locations_csv(universe.locations),
            PERIODS: periods_csv(universe.periods),
            FLOW_LOCATIONS: flowmap_locations(universe.locations),
        }
        large: dict[str, Callable[[ODTable, Path], None]] = {
            PARQUET: write_parquet,
            CSV: write_csv,
            FLOWS: write_flows,
            OMX: write_omx,
        }
        for resource in self.description.resources:
            progress(f"Writing {resource.path}")
            path = folder / resource.path
            path.parent.mkdir(exist_ok=True)
            if resource.path in small:
                path.write_bytes(small[resource.path])
            else:
                large[resource.path](self.table, path)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns a map of the strongest flows and the trips of every period, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.artefact.picture import draw_picture

        return draw_picture(self.table, certificate)


def describe(universe: ODCells, *, rows: int, threshold: int | None) -> Description:
    """Returns what a data package says about an OD table with these public facts."""
    resources = [
        Resource(
            path=PARQUET,
            title="Trips by period, origin and destination",
            description="The published table. " + _rows_words(threshold),
            mediatype="application/vnd.apache.parquet",
            schema=_trips_schema(),
        ),
        Resource(
            path=CSV,
            title="Trips by period, origin and destination",
            description=f"The same numbers as {PARQUET}.",
            mediatype="text/csv",
            schema=_trips_schema(),
        ),
        Resource(
            path=LOCATIONS,
            title="Public places",
            description="Where trips may start and end. Public knowledge, not made from the data.",
            mediatype="text/csv",
            schema=_schema(
                ("id", "string", "Id of the place."),
                ("name", "string", "Name of the place."),
                ("lat", "number", "Latitude in degrees (WGS84)."),
                ("lon", "number", "Longitude in degrees (WGS84)."),
                ("zone", "string", "Zone that the place belongs to."),
                key=["id"],
            ),
        ),
        Resource(
            path=PERIODS,
            title="Public periods",
            description="Periods of the agency's wall clock, counted over all days of the window.",
            mediatype="text/csv",
            schema=_schema(
                ("period", "string", "Label of the period."),
                ("starts", "string", "Start on the wall clock."),
                ("ends", "string", "End on the wall clock; 24:00 is midnight."),
                ("first_day", "date", "First day of the window."),
                ("last_day", "date", "Last day of the window, included."),
                ("time_zone", "string", "IANA name of the time zone."),
                key=["period"],
            ),
        ),
        Resource(
            path=FLOW_LOCATIONS,
            title="Places for flow map viewers",
            description="The same places in the form that flow map viewers read.",
            mediatype="text/csv",
            schema=_schema(
                ("id", "string", "Id of the place."),
                ("name", "string", "Name of the place."),
                ("lat", "number", "Latitude in degrees (WGS84)."),
                ("lon", "number", "Longitude in degrees (WGS84)."),
                key=["id"],
            ),
        ),
        Resource(
            path=FLOWS,
            title="Flows for flow map viewers",
            description="The rows above 0. The time is the start of the period on the first day of "
            "the window, because viewers want a date; the count is over all days.",
            mediatype="text/csv",
            schema=_schema(
                ("origin", "string", "Id of the place where trips start."),
                ("dest", "string", "Id of the place where trips end."),
                ("count", "integer", "Published number of trips."),
                ("time", "string", "First day of the window and start of the period."),
            ),
        ),
    ]
    omitted = {}
    if fits_omx(universe):
        resources.append(
            Resource(
                path=OMX,
                title="Matrices for planning software",
                description="One matrix a period, named after it; rows are origins, columns are "
                "destinations, in the order of locations.csv. A cell without a row is 0.",
                mediatype="application/x-hdf5",
            )
        )
    else:
        omitted[OMX] = (
            f"Dense matrices over these places would hold more than {MOST_CELLS} numbers."
        )
    facts = {
        "rows": rows,
        "cells": universe.size,
        "dense": threshold is None,
        "threshold": threshold,
        "same_place": universe.same_place,
    }
    return Description(facts=facts, resources=tuple(resources), omitted=omitted)


def _rows_words(threshold: int | None) -> str:
    if threshold is None:
        return "Every public cell has a row, those with a count of 0 too."
    return f"A cell without a row was measured below {threshold}; it is not known to be 0."


def _trips_schema() -> dict[str, Any]:
    words = (
        ("string", "Label of the period, as in periods.csv."),
        ("string", "Id of the place where trips start, as in locations.csv."),
        ("string", "Id of the place where trips end, as in locations.csv."),
        ("integer", "Published number of trips over all days of the window."),
        ("number", "Standard deviation of the noise in the count, in trips."),
    )
    columns = [(name, *rest) for name, rest in zip(COLUMNS, words, strict=True)]
    return _schema(*columns, key=["period", "origin", "destination"])


def _schema(*columns: tuple[str, str, str], key: list[str] | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "fields": [
            {"name": name, "type": kind, "description": words} for name, kind, words in columns
        ]
    }
    if key is not None:
        schema["primaryKey"] = key
    return schema


def _check_table(table: ODTable) -> None:
    """Refuses a table that holds anything but the numbers of a release."""
    if not isinstance(table.universe, ODCells):
        raise _not_published("The universe of the table is not one of public cells.")
    for array, kind in (
        (table.cells, np.int64),
        (table.counts, np.int64),
        (table.standard_errors, np.float64),
    ):
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
            raise _not_published("The columns of the table are not plain arrays of numbers.")
    rows, size = len(table.cells), table.universe.size
    if not rows == len(table.counts) == len(table.standard_errors):
        raise _not_published("The columns of the table are not of one length.")
    ascending = rows == 0 or (
        table.cells[0] >= 0 and table.cells[-1] < size and bool(np.all(np.diff(table.cells) > 0))
    )
    if not ascending or (table.threshold is None and rows != size):
        raise _not_published("The rows of the table are not the public cells in order.")
    if bool(np.any(table.counts < 0)):
        raise _not_published("A count is negative.")
    if not bool(np.all(np.isfinite(table.standard_errors) & (table.standard_errors >= 0))):
        raise _not_published("A standard error is not a number of trips.")


def _check_lists(universe: ODCells) -> None:
    """Refuses public lists that a verifier could not read back from their files."""
    try:
        read_back = (
            read_locations(locations_csv(universe.locations)).digest,
            read_periods(periods_csv(universe.periods)).digest,
        )
    except (ValueError, ReleaseError):
        read_back = None
    if read_back != (universe.locations.digest, universe.periods.digest):
        raise ReleaseError(
            "The locations or periods would not be the same when read back from the release.",
            advice="Use plain text for ids and names, and Python's own floats for positions.",
        )


def _not_published(message: str) -> PrivacyError:
    return PrivacyError(message, advice="Publish only what a mechanism's `fit` returned.")
