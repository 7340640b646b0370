"""What the data package of an OD release says about its files."""

from collections.abc import Sequence
from typing import Any

from hushway.artefact.formats.omx import MOST_CELLS, fits_omx
from hushway.artefact.formats.places import period_columns
from hushway.artefact.formats.rows import COLUMNS
from hushway.artefact.margin_description import margin_resources
from hushway.artefact.resource import Description, Resource, table_schema
from hushway.geography.features import Feature
from hushway.geography.od import ODCells

PARQUET = "trips.parquet"
CSV = "trips.csv"
OMX = "trips.omx"
FLOWS = "flowmap/flows.csv"
FLOW_LOCATIONS = "flowmap/locations.csv"
LOCATIONS = "locations.csv"
PERIODS = "periods.csv"


def describe(
    universe: ODCells,
    *,
    rows: int,
    threshold: int | None,
    zeros_left_out: bool,
    features: Sequence[Feature],
) -> Description:
    """Returns what a data package says about an OD table with these public facts.

    Args:
        universe: The public cells.
        rows: Number of rows.
        threshold: As in `ODTable`.
        zeros_left_out: As in `ODTable`.
        features: What the release gives sums of.
    """
    weekly = universe.periods.cycle == "week"
    resources = [
        Resource(
            path=PARQUET,
            title="Trips by period, origin and destination",
            description="The published table. "
            + _rows_words(threshold, zeros_left_out=zeros_left_out),
            mediatype="application/vnd.apache.parquet",
            schema=_trips_schema(fitted=bool(features)),
        ),
        Resource(
            path=CSV,
            title="Trips by period, origin and destination",
            description=f"The same numbers as {PARQUET}.",
            mediatype="text/csv",
            schema=_trips_schema(fitted=bool(features)),
        ),
        Resource(
            path=LOCATIONS,
            title="Public places",
            description="Where trips may start and end. Public knowledge, not made from the data.",
            mediatype="text/csv",
            schema=_locations_schema(universe),
        ),
        Resource(
            path=PERIODS,
            title="Public periods",
            description="Periods of the agency's wall clock, counted over all days of the window"
            f"{' with the weekday of the period' if weekly else ''}.",
            mediatype="text/csv",
            schema=_periods_schema(universe),
        ),
        Resource(
            path=FLOW_LOCATIONS,
            title="Places for flow map viewers",
            description="The same places in the form that flow map viewers read.",
            mediatype="text/csv",
            schema=table_schema(
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
            f"the window{' with its weekday' if weekly else ''}, because viewers want a date; the "
            f"count is over all{' such' if weekly else ''} days.",
            mediatype="text/csv",
            schema=table_schema(
                ("origin", "string", "Id of the place where trips start."),
                ("dest", "string", "Id of the place where trips end."),
                ("count", "integer", "Published number of trips."),
                ("time", "string", "First day of the window and start of the period."),
            ),
        ),
        *margin_resources(features),
    ]
    omitted = {}
    if fits_omx(universe):
        resources.append(
            Resource(
                path=OMX,
                title="Matrices for planning software",
                description="One matrix a period, named after it; rows are origins, columns are "
                "destinations, in the order of locations.csv. A cell without a row is "
                f"{'published as ' if zeros_left_out else ''}0.",
                mediatype="application/x-hdf5",
            )
        )
    else:
        omitted[OMX] = (
            f"Dense matrices over these places would hold more than {MOST_CELLS} numbers."
        )
    facts: dict[str, Any] = {
        "rows": rows,
        "cells": universe.size,
        "dense": threshold is None and not zeros_left_out,
        "threshold": threshold,
        "same_place": universe.same_place,
    }
    # Only where it says something: releases of earlier versions must still verify.
    if zeros_left_out:
        facts["zeros_left_out"] = True
    if features:
        facts["sums"] = [{"feature": f.title, "elements": f.size} for f in features]
    return Description(facts=facts, resources=tuple(resources), omitted=omitted)


def _rows_words(threshold: int | None, *, zeros_left_out: bool) -> str:
    if zeros_left_out:
        return "A cell without a row is published as 0."
    if threshold is None:
        return "Every public cell has a row, those with a count of 0 too."
    return f"A cell without a row was measured below {threshold}; it is not known to be 0."


def _locations_schema(universe: ODCells) -> dict[str, Any]:
    return table_schema(
        ("id", "string", "Id of the place."),
        ("name", "string", "Name of the place."),
        ("lat", "number", "Latitude in degrees (WGS84)."),
        ("lon", "number", "Longitude in degrees (WGS84)."),
        ("zone", "string", "Zone that the place belongs to."),
        *(
            (labels.column, "string", "A further public label of the place.")
            for labels in universe.locations.labels
        ),
        key=["id"],
    )


def _periods_schema(universe: ODCells) -> dict[str, Any]:
    words = {
        "period": ("string", "Label of the period."),
        "weekday": ("string", "Day of the week."),
        "starts": ("string", "Start on the wall clock."),
        "ends": ("string", "End on the wall clock; 24:00 is midnight."),
        "first_day": ("date", "First day of the window."),
        "last_day": ("date", "Last day of the window, included."),
        "time_zone": ("string", "IANA name of the time zone."),
    }
    columns = period_columns(universe.periods)
    return table_schema(*((name, *words[name]) for name in columns), key=["period"])


def _trips_schema(*, fitted: bool) -> dict[str, Any]:
    noisy = "the cell's own measurement, before the fit" if fitted else "the count"
    words = (
        ("string", "Label of the period, as in periods.csv."),
        ("string", "Id of the place where trips start, as in locations.csv."),
        ("string", "Id of the place where trips end, as in locations.csv."),
        ("integer", "Published number of trips over all days of the window."),
        ("number", f"Standard deviation of the noise in {noisy}, in trips."),
    )
    columns = [(name, *rest) for name, rest in zip(COLUMNS, words, strict=True)]
    return table_schema(*columns, key=["period", "origin", "destination"])
