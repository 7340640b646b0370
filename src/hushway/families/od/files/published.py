"""The files of an OD release: what is said of each, how it is written and how it is checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushway.families.od.files.adds_up import adds_up_json
from hushway.families.od.files.agreement import (
    check_adds_up,
    check_csv,
    check_entries,
    check_flows,
    check_lines,
    check_margins_csv,
)
from hushway.families.od.files.described import (
    flows_words,
    is_learnt,
    lines_schema,
    margins_schema,
    margins_words,
    omx_words,
    pairs_schema,
    rows_words,
    tides_schema,
    trips_schema,
)
from hushway.families.od.files.estimates import COLUMNS as ESTIMATE_COLUMNS
from hushway.families.od.files.estimates import read_estimates, write_estimates
from hushway.families.od.files.features import features_json
from hushway.families.od.files.flowmap import flowmap_locations, write_flows
from hushway.families.od.files.lines import MOST_LINES, write_lines
from hushway.families.od.files.margins import write_margins_csv, write_margins_parquet
from hushway.families.od.files.names import (
    ADDS_UP,
    CSV,
    ESTIMATES,
    FEATURES,
    FLOW_LOCATIONS,
    FLOWS,
    LINES,
    LOCATIONS,
    MARGINS,
    MARGINS_CSV,
    OMX,
    PAIRS,
    PARQUET,
    TIDES,
    TIDES_PACKAGE,
)
from hushway.families.od.files.omx import MOST_CELLS, fits_omx, write_omx
from hushway.families.od.files.pairs import pair_columns, write_pairs
from hushway.families.od.files.rows import batches_of, write_csv, write_parquet
from hushway.families.od.files.tides import entries_csv, entries_of, has_entries, tides_package
from hushway.families.od.files.view import ReadView, TableView
from hushway.release.folder.published_file import (
    Description,
    PublishedFile,
    check_parts,
    columns_schema,
    describe_files,
    locations_schema,
    periods_file,
    table_schema,
    write_parts,
)
from hushway.release.formats.places import location_columns, locations_csv


def describe(view: TableView | ReadView) -> Description:
    """Returns what a data package says about an OD table."""
    universe, features = view.universe, view.features
    facts: dict[str, Any] = {
        "rows": view.rows.number,
        "cells": universe.size,
        "dense": view.threshold is None and not view.zeros_left_out,
        "threshold": view.threshold,
        "include_intrazonal": universe.include_intrazonal,
    }
    # Only where it says something: releases of earlier versions must still verify.
    if view.zeros_left_out:
        facts["zeros_left_out"] = True
    if features:
        facts["sums"] = [{"published_total": f.title, "elements": f.size} for f in features]
    return describe_files(FILES, view, facts)


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about a table to read it."""
    threshold, include_intrazonal = facts["threshold"], facts["include_intrazonal"]
    # Releases of earlier versions do not say it: they left out no zeros.
    zeros_left_out = facts.get("zeros_left_out", False)
    return (
        (threshold is None or type(threshold) is int)
        and type(include_intrazonal) is bool
        and type(zeros_left_out) is bool
        and not (zeros_left_out and threshold is not None)
    )


def _write_estimates(view: TableView, path: Path) -> None:
    assert view.table.estimates is not None  # noqa: S101  learnt tables have them
    write_estimates(view.universe, view.table.estimates, path)


def _write_entries(view: TableView, path: Path) -> None:
    entries = entries_of(view.universe, batches_of(view.table))
    write_parts(path, entries_csv(view.universe, entries))


ODFile = PublishedFile[TableView, ReadView]

FILES: tuple[ODFile, ...] = (
    ODFile(
        path=PARQUET,
        title="Trips by period, origin and destination",
        description=rows_words,
        schema=trips_schema,
        write=lambda view, path: write_parquet(view.table, path),
    ),
    ODFile(
        path=CSV,
        title="Trips by period, origin and destination",
        description=f"The same numbers as {PARQUET}.",
        schema=trips_schema,
        write=lambda view, path: write_csv(view.table, path),
        check=check_csv,
    ),
    ODFile(
        path=LOCATIONS,
        title="Public places",
        description="Where trips may start and end. Public knowledge, not made from the data.",
        schema=lambda view: locations_schema(location_columns(view.universe.locations)),
        write=lambda view, path: path.write_bytes(locations_csv(view.universe.locations)),
    ),
    periods_file(lambda view: view.universe.periods),
    ODFile(
        path=FLOW_LOCATIONS,
        title="Places for flow map viewers",
        description="The same places in the form that flow map viewers read.",
        schema=table_schema(
            ("id", "string", "Id of the place."),
            ("name", "string", "Name of the place."),
            ("lat", "number", "Latitude in degrees (WGS84)."),
            ("lon", "number", "Longitude in degrees (WGS84)."),
            key=["id"],
        ),
        write=lambda view, path: path.write_bytes(flowmap_locations(view.universe.locations)),
        check=lambda read, path: check_parts(
            path,
            [flowmap_locations(read.universe.locations)],
            f"{FLOW_LOCATIONS} does not hold the same numbers as {PARQUET}.",
        ),
    ),
    ODFile(
        path=FLOWS,
        title="Flows for flow map viewers",
        description=flows_words,
        schema=table_schema(
            ("origin", "string", "Id of the place where trips start."),
            ("dest", "string", "Id of the place where trips end."),
            ("count", "integer", "Published number of trips."),
            ("time", "string", "First day of the window and start of the period."),
        ),
        write=lambda view, path: write_flows(view.table, path),
        check=check_flows,
    ),
    ODFile(
        path=LINES,
        title="Flows as lines",
        description="GeoParquet: the rows above 0, each with a straight line from origin to "
        "destination in longitudes and latitudes (WGS84).",
        schema=lines_schema,
        write=lambda view, path: write_lines(view.table, path),
        check=check_lines,
        is_there=lambda view: view.rows.number <= MOST_LINES,
        left_out=f"There are more than {MOST_LINES} rows; draw some of them.",
    ),
    ODFile(
        path=MARGINS,
        title="Sums that add up",
        description=margins_words,
        schema=margins_schema,
        write=lambda view, path: write_margins_parquet(view.margins, path),
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=MARGINS_CSV,
        title="Sums that add up",
        description=f"The same numbers as {MARGINS}.",
        schema=margins_schema,
        write=lambda view, path: write_margins_csv(view.margins, path),
        check=check_margins_csv,
        finding="margins",
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=ADDS_UP,
        title="What adds up",
        description="Every constraint that the published numbers keep, with the largest "
        "difference found, and how far sums are from their own noisy measurements.",
        write=lambda view, path: path.write_bytes(adds_up_json(view.table, view.margins)),
        check=check_adds_up,
        finding="adds up",
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=FEATURES,
        title="Public published totals",
        description="What trips are summed over. Public knowledge, not made from the data.",
        write=lambda view, path: path.write_bytes(features_json(view.features)),
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=PAIRS,
        title="Public labels of pairs of places",
        description="The class of every pair of places that trips may join, for the published "
        "totals. "
        "Public knowledge, not made from the data.",
        schema=pairs_schema,
        write=lambda view, path: write_pairs(
            view.universe, pair_columns(view.features).labels, path
        ),
        is_there=lambda view: any(feature.pairs is not None for feature in view.features),
    ),
    ODFile(
        path=ESTIMATES,
        title="What is expected of cells",
        description="The best guess of every cell that matters, before counts were made whole: 99% "
        "of all trips. Not whole and smoother than any day; for whoever simulates.",
        schema=columns_schema(
            ESTIMATE_COLUMNS,
            (
                ("string", "Label of the period, as in periods.csv."),
                ("string", "Id of the place where trips start, as in places.csv."),
                ("string", "Id of the place where trips end, as in places.csv."),
                ("number", "Expected number of trips over all days of the window."),
                ("number", "Standard deviation of the true count around it, in trips."),
            ),
            key=["period", "origin", "destination"],
        ),
        write=_write_estimates,
        check=lambda read, path: read_estimates(read.universe, path),
        finding="margins",
        is_there=is_learnt,
    ),
    ODFile(
        path=TIDES,
        title="Entries by stop and period",
        description="Station activities as TIDES defines them: trips that start at each stop in "
        "each period, the sums of the published rows.",
        schema=tides_schema(),
        write=_write_entries,
        check=check_entries,
        is_there=has_entries,
    ),
    ODFile(
        path=TIDES_PACKAGE,
        title="Data package of TIDES",
        description=f"What {TIDES} is, in the words of the standard.",
        write=lambda _, path: path.write_bytes(tides_package()),
        check=lambda _, path: check_parts(
            path, [tides_package()], f"{TIDES_PACKAGE} is not what hushway writes."
        ),
        is_there=has_entries,
    ),
    # Never opened by a verifier: HDF5 libraries unpickle attributes, and it may be a stranger's.
    ODFile(
        path=OMX,
        title="Matrices for planning software",
        description=omx_words,
        write=lambda view, path: write_omx(view.table, path),
        is_there=lambda view: fits_omx(view.universe),
        left_out=f"Dense matrices over these places would hold more than {MOST_CELLS} numbers.",
    ),
)
