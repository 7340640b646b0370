"""What the data package of an OD release says about its files."""

from collections.abc import Mapping, Sequence
from typing import Any

from hushway.families.od.files.margins import COLUMNS as MARGIN_COLUMNS
from hushway.families.od.files.omx import MOST_CELLS, fits_omx
from hushway.families.od.files.pairs import pair_columns
from hushway.families.od.files.rows import COLUMNS
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.release.formats.places import location_columns
from hushway.release.resource import (
    Description,
    Resource,
    locations_schema,
    periods_resource,
    table_schema,
)

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
            schema=locations_schema(location_columns(universe.locations)),
        ),
        periods_resource(universe.periods, path=PERIODS),
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


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about a table to read it."""
    threshold, same_place = facts["threshold"], facts["same_place"]
    # Releases of earlier versions do not say it: they left out no zeros.
    zeros_left_out = facts.get("zeros_left_out", False)
    return (
        (threshold is None or type(threshold) is int)
        and type(same_place) is bool
        and type(zeros_left_out) is bool
        and not (zeros_left_out and threshold is not None)
    )


def _rows_words(threshold: int | None, *, zeros_left_out: bool) -> str:
    if zeros_left_out:
        return "A cell without a row is published as 0."
    if threshold is None:
        return "Every public cell has a row, those with a count of 0 too."
    return f"A cell without a row was measured below {threshold}; it is not known to be 0."


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


MARGINS = "margins.parquet"
MARGINS_CSV = "margins.csv"
ADDS_UP = "adds-up.json"
FEATURES = "features.json"
PAIRS = "pairs.parquet"


def margin_resources(features: Sequence[Feature]) -> tuple[Resource, ...]:
    """Returns the files of a release that gives sums over features; none without features."""
    if not features:
        return ()
    titles = ", ".join(feature.title for feature in features)
    sums = (
        Resource(
            path=MARGINS,
            title="Sums that add up",
            description=f"The trips of every element of the features: {titles}. A count is the sum "
            "of the rows of trips.parquet in the element, exactly.",
            mediatype="application/vnd.apache.parquet",
            schema=_margins_schema(),
        ),
        Resource(
            path=MARGINS_CSV,
            title="Sums that add up",
            description=f"The same numbers as {MARGINS}.",
            mediatype="text/csv",
            schema=_margins_schema(),
        ),
        Resource(
            path=ADDS_UP,
            title="What adds up",
            description="Every constraint that the published numbers keep, with the largest "
            "difference found, and how far sums are from their own noisy measurements.",
            mediatype="application/json",
        ),
        Resource(
            path=FEATURES,
            title="Public features",
            description="What trips are summed over. Public knowledge, not made from the data.",
            mediatype="application/json",
        ),
    )
    columns = list(pair_columns(features).labels)
    if not columns:
        return sums
    return (
        *sums,
        Resource(
            path=PAIRS,
            title="Public labels of pairs of places",
            description="The class of every pair of places that trips may join, for the features. "
            "Public knowledge, not made from the data.",
            mediatype="application/vnd.apache.parquet",
            schema=table_schema(
                ("origin", "string", "Id of the place where trips start, as in locations.csv."),
                ("destination", "string", "Id of the place where trips end, as in locations.csv."),
                *((name, "string", "Class of the pair of places.") for name in columns),
                key=["origin", "destination"],
            ),
        ),
    )


def _margins_schema() -> dict[str, Any]:
    words = (
        ("string", f"Title of the feature, as in {FEATURES}."),
        ("string", "Class of the periods that are summed over; empty if it is all of them."),
        ("string", "Class of the pairs that are summed over; empty if it is all of them."),
        ("integer", "Published number of trips: the sum of the published rows."),
        ("integer", "Noisy number of trips, as measured before the fit; may be negative."),
        ("number", "Standard deviation of the noise in the measurement, in trips."),
        ("integer", "The count minus the measurement."),
    )
    columns = [(name, *rest) for name, rest in zip(MARGIN_COLUMNS, words, strict=True)]
    return table_schema(*columns, key=["feature", "period", "pair"])
