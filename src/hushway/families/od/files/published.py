"""The files of an OD release: what is said of each, how it is written and how it is checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import ReleaseError, damaged
from hushway.families.od.files.adds_up import PublishedSums, adds_up_json, check_adds_up
from hushway.families.od.files.estimates import COLUMNS as ESTIMATE_COLUMNS
from hushway.families.od.files.estimates import read_estimates, write_estimates
from hushway.families.od.files.features import features_json
from hushway.families.od.files.flowmap import flowmap_locations, read_flows, write_flows
from hushway.families.od.files.lines import MOST_LINES, read_lines, write_lines
from hushway.families.od.files.margins import (
    read_margins_csv,
    schema_of,
    write_margins_csv,
    write_margins_parquet,
)
from hushway.families.od.files.omx import MOST_CELLS, fits_omx, write_omx
from hushway.families.od.files.pairs import pair_columns, write_pairs
from hushway.families.od.files.rows import (
    COLUMNS,
    batches_of,
    read_csv,
    read_parquet,
    write_csv,
    write_parquet,
)
from hushway.families.od.files.summary import flows_digest, summary_of
from hushway.families.od.files.tides import COLUMNS as TIDES_COLUMNS
from hushway.families.od.files.tides import entries_csv, entries_of, has_entries, tides_package
from hushway.families.od.files.view import ODView, ReadView, TableView
from hushway.release.bounded import LIST_BYTES, read_plain
from hushway.release.formats.geoparquet import GEOMETRY
from hushway.release.formats.places import location_columns, locations_csv
from hushway.release.published_file import (
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

PARQUET = "trips.parquet"
CSV = "trips.csv"
OMX = "trips.omx"
FLOWS = "flowmap/flows.csv"
FLOW_LOCATIONS = "flowmap/locations.csv"
LINES = "flows.parquet"
LOCATIONS = "places.csv"
MARGINS = "margins.parquet"
MARGINS_CSV = "margins.csv"
ADDS_UP = "adds-up.json"
FEATURES = "published_totals.json"
PAIRS = "pairs.parquet"
ESTIMATES = "estimates.parquet"
TIDES = "tides/station_activities.csv"
TIDES_PACKAGE = "tides/datapackage.json"


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


def _rows_words(view: ODView) -> str:
    if view.zeros_left_out:
        return "The published table. A cell without a row is published as 0."
    if view.threshold is None:
        return "The published table. Every public cell has a row, those with a count of 0 too."
    return (
        f"The published table. A cell without a row was measured below {view.threshold}; it is not "
        "known to be 0."
    )


def _error_of(view: ODView) -> str:
    if not view.margins:
        return "the noise in the count"
    if view.margins[0].errors is None:
        return "the noise in the cell's own measurement, before the fit"
    return "the error that is left in the count, as learnt from all noisy counts"


_INTERVAL_WORDS = (
    ("number", "Lower end of an interval of 95%: 1.96 standard errors below the count, or 0."),
    ("number", "Upper end of it: 1.96 standard errors above the count."),
)


def _trips_schema(view: ODView) -> dict[str, Any]:
    error = f"Standard deviation of {_error_of(view)}, in trips."
    words = (
        ("string", "Label of the period, as in periods.csv."),
        ("string", "Id of the place where trips start, as in places.csv."),
        ("string", "Id of the place where trips end, as in places.csv."),
        ("integer", "Published number of trips over all days of the window."),
        ("number", error),
        *_INTERVAL_WORDS,
    )
    return columns_schema(COLUMNS, words, key=["period", "origin", "destination"])


def _lines_schema(view: ODView) -> dict[str, Any]:
    schema = _trips_schema(view)
    line = {"name": GEOMETRY, "type": "any", "description": "A line string, as WKB."}
    return {**schema, "fields": [*schema["fields"], line]}


def _flows_words(view: ODView) -> str:
    cycle = view.universe.periods.cycle
    which = {"week": " with its weekday", "day_type": " of its type"}.get(cycle, "")
    when = "its day" if cycle == "window" else f"the first day of the window{which}"
    count = "of that day" if cycle == "window" else f"over all{' such' if which else ''} days"
    return (
        f"The rows above 0. The time is the start of the period on {when}, because viewers want a "
        f"date; the count is {count}."
    )


def _omx_words(view: ODView) -> str:
    return (
        "One matrix a period, named after it; rows are origins, columns are destinations, in the "
        "order of places.csv. A cell without a row is "
        f"{'published as ' if view.zeros_left_out else ''}0."
    )


def _margins_words(view: ODView) -> str:
    titles = ", ".join(feature.title for feature in view.features)
    return (
        f"The trips of every element of the published totals: {titles}. A count is the sum of "
        "the rows of "
        "trips.parquet in the element, exactly."
    )


_MARGIN_WORDS = (
    ("string", f"Title of the published total, as in {FEATURES}."),
    ("string", "Class of the periods that are summed over; empty if it is all of them."),
    ("string", "Class of the pairs that are summed over; empty if it is all of them."),
    ("integer", "Published number of trips: the sum of the published rows."),
    ("integer", "Noisy number of trips, as measured before the fit; may be negative."),
    ("number", "Standard deviation of the noise in the measurement, in trips."),
    ("integer", "The count minus the measurement."),
)
_MEASURED_INTERVAL_WORDS = (
    ("number", "Lower end of an interval of 95% around the measurement, not below 0."),
    ("number", "Upper end of it, not below 0."),
)
_LEARNT_ERROR = ("number", "Standard deviation of the error in the count, in trips.")


def _is_learnt(view: ODView) -> bool:
    return bool(view.margins) and view.margins[0].errors is not None


def _write_estimates(view: TableView, path: Path) -> None:
    assert view.table.estimates is not None  # noqa: S101  learnt tables have them
    write_estimates(view.universe, view.table.estimates, path)


def _margins_schema(view: ODView) -> dict[str, Any]:
    learnt = _is_learnt(view)
    own = (_LEARNT_ERROR, *_INTERVAL_WORDS) if learnt else _MEASURED_INTERVAL_WORDS
    return columns_schema(
        schema_of(view.margins).names,
        (*_MARGIN_WORDS, *own),
        key=["published_total", "period", "pair"],
    )


def _pairs_schema(view: ODView) -> dict[str, Any]:
    columns = pair_columns(view.features).labels
    return table_schema(
        ("origin", "string", "Id of the place where trips start, as in places.csv."),
        ("destination", "string", "Id of the place where trips end, as in places.csv."),
        *((name, "string", "Class of the pair of places.") for name in columns),
        key=["origin", "destination"],
    )


def _check_csv(read: ReadView, path: Path) -> None:
    if summary_of(read_csv(path, read.universe)) != read.rows:
        raise _disagreement(CSV, PARQUET)


def _check_flows(read: ReadView, path: Path) -> None:
    if flows_digest(read_flows(path, read.universe)) != read.rows.flows:
        raise _disagreement(FLOWS, PARQUET)


def _check_lines(read: ReadView, path: Path) -> None:
    if flows_digest(read_lines(path, read.universe)) != read.rows.flows:
        raise _disagreement(LINES, PARQUET)


def _check_margins_csv(read: ReadView, path: Path) -> None:
    learnt = read.margins[0].errors is not None
    if not all(map(_same, read.margins, read_margins_csv(path, read.features, learnt=learnt))):
        raise _disagreement(MARGINS_CSV, MARGINS)


def _check_adds_up(read: ReadView, path: Path) -> None:
    # The finding before said that these are the sums of the rows.
    rows = [sums.counts for sums in read.margins]
    check_adds_up(read_plain(path, LIST_BYTES), read.margins, rows)


def _same(one: PublishedSums, other: PublishedSums) -> bool:
    return (
        np.array_equal(one.counts, other.counts)
        and np.array_equal(one.measured, other.measured)
        and one.standard_error == other.standard_error
        and _same_errors(one.errors, other.errors)
    )


def _same_errors(one: FloatArray | None, other: FloatArray | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def _disagreement(path: str, other: str) -> ReleaseError:
    return damaged(f"{path} does not hold the same numbers as {other}.")


def _write_entries(view: TableView, path: Path) -> None:
    entries = entries_of(view.universe, batches_of(view.table))
    write_parts(path, entries_csv(view.universe, entries))


def _check_entries(read: ReadView, path: Path) -> None:
    rows = read_parquet(path.parent.parent / PARQUET, read.universe)
    entries = entries_of(read.universe, rows)
    check_parts(
        path,
        entries_csv(read.universe, entries),
        f"{TIDES} does not hold the sums of {PARQUET}.",
    )


def _tides_schema() -> dict[str, Any]:
    words = {
        "service_date": ("date", "Day of service."),
        "stop_id": ("string", "Id of the place, as in places.csv."),
        "time_period_start": ("datetime", "Start of the period on the wall clock."),
        "time_period_end": ("datetime", "End of the period on the wall clock."),
        "time_period_category": ("string", "Name of the part of the day."),
        "total_entries": ("integer", "Published number of trips that start there and then."),
    }
    unknown = ("integer", "Not known: empty.")
    return columns_schema(
        TIDES_COLUMNS,
        [words.get(name, unknown) for name in TIDES_COLUMNS],
        key=["service_date", "stop_id", "time_period_start", "time_period_end"],
    )


ODFile = PublishedFile[TableView, ReadView]

FILES: tuple[ODFile, ...] = (
    ODFile(
        path=PARQUET,
        title="Trips by period, origin and destination",
        description=_rows_words,
        schema=_trips_schema,
        write=lambda view, path: write_parquet(view.table, path),
    ),
    ODFile(
        path=CSV,
        title="Trips by period, origin and destination",
        description=f"The same numbers as {PARQUET}.",
        schema=_trips_schema,
        write=lambda view, path: write_csv(view.table, path),
        check=_check_csv,
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
        description=_flows_words,
        schema=table_schema(
            ("origin", "string", "Id of the place where trips start."),
            ("dest", "string", "Id of the place where trips end."),
            ("count", "integer", "Published number of trips."),
            ("time", "string", "First day of the window and start of the period."),
        ),
        write=lambda view, path: write_flows(view.table, path),
        check=_check_flows,
    ),
    ODFile(
        path=LINES,
        title="Flows as lines",
        description="GeoParquet: the rows above 0, each with a straight line from origin to "
        "destination in longitudes and latitudes (WGS84).",
        schema=_lines_schema,
        write=lambda view, path: write_lines(view.table, path),
        check=_check_lines,
        is_there=lambda view: view.rows.number <= MOST_LINES,
        left_out=f"There are more than {MOST_LINES} rows; draw some of them.",
    ),
    ODFile(
        path=MARGINS,
        title="Sums that add up",
        description=_margins_words,
        schema=_margins_schema,
        write=lambda view, path: write_margins_parquet(view.margins, path),
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=MARGINS_CSV,
        title="Sums that add up",
        description=f"The same numbers as {MARGINS}.",
        schema=_margins_schema,
        write=lambda view, path: write_margins_csv(view.margins, path),
        check=_check_margins_csv,
        finding="margins",
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=ADDS_UP,
        title="What adds up",
        description="Every constraint that the published numbers keep, with the largest "
        "difference found, and how far sums are from their own noisy measurements.",
        write=lambda view, path: path.write_bytes(adds_up_json(view.table, view.margins)),
        check=_check_adds_up,
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
        schema=_pairs_schema,
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
        is_there=_is_learnt,
    ),
    ODFile(
        path=TIDES,
        title="Entries by stop and period",
        description="Station activities as TIDES defines them: trips that start at each stop in "
        "each period, the sums of the published rows.",
        schema=_tides_schema(),
        write=_write_entries,
        check=_check_entries,
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
        description=_omx_words,
        write=lambda view, path: write_omx(view.table, path),
        is_there=lambda view: fits_omx(view.universe),
        left_out=f"Dense matrices over these places would hold more than {MOST_CELLS} numbers.",
    ),
)
