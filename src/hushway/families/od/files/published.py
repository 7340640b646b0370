"""The files of an OD release: what is said of each, how it is written and how it is checked."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from hushway.families.od.files.adds_up import adds_up_json, check_adds_up
from hushway.families.od.files.features import (
    features_json,
    pair_columns,
    pairs_table,
    write_pairs,
)
from hushway.families.od.files.flows import (
    LINE,
    MOST_LINES,
    VIEWER_PLACES,
    check_lines,
    flowmap_locations,
    flows_csv,
    has_moments,
    viewer_flows,
    write_lines,
)
from hushway.families.od.files.guard import check_lists, check_margins, check_stated, check_table
from hushway.families.od.files.known import known_trips
from hushway.families.od.files.layers import od_layers
from hushway.families.od.files.margins import margins_columns, margins_csv, write_margins
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
    RIDERSHIP,
    TIDES,
    TIDES_PACKAGE,
)
from hushway.families.od.files.omx import MOST_CELLS, fits_omx, write_omx
from hushway.families.od.files.rows import (
    estimates_columns,
    read_estimates,
    trips_columns,
    trips_csv,
    write_estimates,
    write_rows,
)
from hushway.families.od.files.tides import (
    RIDERSHIP_COLUMNS,
    activities,
    entries_csv,
    has_entries,
    has_ridership,
    ridership_csv,
    tides_package,
)
from hushway.families.od.files.view import ODView, ReadView, TableView, view_of
from hushway.families.od.fit.table import ODTable
from hushway.geography.areas import are_areas, areas_of_places
from hushway.privacy.certificate import Certificate
from hushway.release.folder.published_file import (
    Description,
    PublishedFile,
    TableContents,
    describe_files,
    locations_columns,
    periods_file,
)
from hushway.release.forecast.known import KNOWN
from hushway.release.formats.areas import AREAS, areas_geojson
from hushway.release.formats.columns import Columns
from hushway.release.formats.places import locations_csv
from hushway.release.untrusted.limits import LIST_BYTES, read_plain


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
    facts[KNOWN] = known_trips(view).sentence
    return describe_files(FILES, view, facts, od_layers(view, _trips_columns(view)))


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
    table = f"The published table: {view.universe.counted}."
    if view.zeros_left_out:
        return f"{table} A cell without a row is published as 0."
    if view.threshold is None:
        return f"{table} Every public cell has a row, those with a count of 0 too."
    return (
        f"{table} A cell without a row was measured below {view.threshold}, all its days together; "
        "it is not known to be 0."
    )


def _trips_columns(view: ODView) -> Columns:
    if not view.margins:
        error = "the noise in the count"
    elif not view.is_learnt:
        error = "the noise in the cell's own measurement, before the fit"
    else:
        error = "the error that is left in the count, as learnt from all noisy counts"
    return trips_columns(view.universe, error)


def _margins_columns(view: ODView) -> Columns:
    return margins_columns(view.universe, learnt=view.is_learnt)


def _flows_words(view: ODView) -> str:
    if has_moments(view.universe.periods):
        return "The rows above 0. The time is the start of the period on its day."
    return (
        f"The rows above 0. Numbers: {view.universe.counted}; no count is of one day, so there is "
        "a period and no time. Viewers add up the periods of a flow: choose rows to see one."
    )


def _omx_words(view: ODView) -> str:
    return (
        "One matrix a period, named after it; rows are origins, columns are destinations, in the "
        "order of places.csv. A cell without a row is "
        f"{'published as ' if view.zeros_left_out else ''}0. Numbers: "
        f"{view.universe.counted}."
    )


def _margins_words(view: ODView) -> str:
    titles = ", ".join(feature.title for feature in view.features)
    return (
        f"The trips of every element of the published totals: {titles}. A count is the sum of "
        "the rows of trips.parquet in the element, exactly."
    )


def _write_estimates(view: TableView, path: Path) -> None:
    assert view.table.estimates is not None  # noqa: S101  learnt tables have them
    write_estimates(view.universe, view.table.estimates, path)


ODFile = PublishedFile[TableView, ReadView]

FILES: tuple[ODFile, ...] = (
    ODFile(
        path=PARQUET,
        title="Trips by period, origin and destination",
        description=_rows_words,
        columns=_trips_columns,
        write=lambda view, path: write_rows(view.table, path),
    ),
    ODFile(
        path=CSV,
        title="Trips by period, origin and destination",
        description=f"The same numbers as {PARQUET}.",
        columns=_trips_columns,
        parts=lambda view: trips_csv(view.universe, view.batches()),
    ),
    ODFile(
        path=LOCATIONS,
        title="Public places",
        description="Where trips may start and end. Public knowledge, not made from the data.",
        columns=lambda view: locations_columns(view.universe.locations),
        parts=lambda view: [locations_csv(view.universe.locations)],
        is_source=True,
    ),
    periods_file(lambda view: view.universe.periods),
    ODFile(
        path=FLOW_LOCATIONS,
        title="Places for flow map viewers",
        description="The same places in the form that flow map viewers read.",
        columns=VIEWER_PLACES,
        parts=lambda view: [flowmap_locations(view.universe.locations)],
    ),
    ODFile(
        path=FLOWS,
        title="Flows for flow map viewers",
        description=_flows_words,
        columns=lambda view: viewer_flows(view.universe.periods),
        parts=lambda view: flows_csv(view.universe, view.batches()),
    ),
    ODFile(
        path=AREAS,
        title="Public areas",
        description="The areas that trips are counted between, in longitudes and latitudes "
        "(WGS84). Public knowledge, not made from the data.",
        parts=lambda view: [areas_geojson(areas_of_places(view.universe.locations))],
        is_source=True,
        is_there=lambda view: are_areas(view.universe.locations),
    ),
    ODFile(
        path=LINES,
        title="Flows as lines",
        description="GeoParquet: the rows above 0, each with a straight line from origin to "
        "destination in longitudes and latitudes (WGS84).",
        columns=lambda view: _trips_columns(view).and_also(LINE),
        write=lambda view, path: write_lines(view.universe, view.batches(), path),
        check=lambda view, path: check_lines(view.universe, view.batches(), path),
        is_there=lambda view: view.rows.number <= MOST_LINES,
        left_out=f"There are more than {MOST_LINES} rows; draw some of them.",
    ),
    ODFile(
        path=MARGINS,
        title="Sums that add up",
        description=_margins_words,
        columns=_margins_columns,
        write=lambda view, path: write_margins(view.margins, path),
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=MARGINS_CSV,
        title="Sums that add up",
        description=f"The same numbers as {MARGINS}.",
        columns=_margins_columns,
        parts=lambda view: margins_csv(view.margins),
        finding="margins",
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=ADDS_UP,
        title="What adds up",
        description="Every constraint that the published numbers keep, with the largest "
        "difference found, and how far sums are from their own noisy measurements.",
        write=lambda view, path: path.write_bytes(adds_up_json(view.table, view.margins)),
        check=lambda view, path: check_adds_up(read_plain(path, LIST_BYTES), view.margins),
        finding="adds up",
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=FEATURES,
        title="Public published totals",
        description="What trips are summed over. Public knowledge, not made from the data.",
        parts=lambda view: [features_json(view.features)],
        is_source=True,
        is_there=lambda view: bool(view.margins),
    ),
    ODFile(
        path=PAIRS,
        title="Public labels of pairs of places",
        description="The class of every pair of places that trips may join, for the published "
        "totals. Public knowledge, not made from the data.",
        columns=lambda view: pairs_table(view.universe, pair_columns(view.features)[0]),
        write=lambda view, path: write_pairs(view.universe, pair_columns(view.features)[0], path),
        is_there=lambda view: any(feature.pairs is not None for feature in view.features),
    ),
    ODFile(
        path=ESTIMATES,
        title="What is expected of cells",
        description="The best guess of every cell that matters, before counts were made whole: 99% "
        "of all trips. Not whole and smoother than any day; for whoever simulates.",
        columns=lambda view: estimates_columns(view.universe),
        write=_write_estimates,
        check=lambda view, path: read_estimates(view.universe, path),
        finding="margins",
        is_there=lambda view: view.is_learnt,
    ),
    ODFile(
        path=TIDES,
        title="Entries by stop and period",
        description="Station activities as TIDES defines them: trips that start at each stop in "
        "each period, the sums of the published rows.",
        columns=lambda view: activities(view.universe),
        parts=lambda view: entries_csv(view.universe, view.batches()),
        is_there=has_entries,
    ),
    ODFile(
        path=TIDES_PACKAGE,
        title="Data package of TIDES",
        description=f"What {TIDES} is, in the words of the standard.",
        parts=lambda view: [tides_package(view.universe)],
        is_there=has_entries,
    ),
    ODFile(
        path=RIDERSHIP,
        title="Boardings and alightings by stop and period",
        description="Aggregate ridership as GTFS-ride defines it: rides that begin at each stop in "
        "each period, by line where lines are told, and where these end; the sums of the published "
        "rows. A row without a stop or line is of all; alightings of which nobody knows where are "
        "in none.",
        columns=RIDERSHIP_COLUMNS,
        mediatype="text/csv",
        parts=lambda view: ridership_csv(view.universe, view.batches()),
        is_there=has_ridership,
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


class ODContents(TableContents[ODTable]):
    """An OD table, ready to be written."""

    files = FILES
    describe = staticmethod(describe)

    @cached_property
    def view(self) -> TableView:
        """What is public about the table."""
        return view_of(self.table)

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the table is one and belongs to the certificate."""
        check_table(self.table)
        check_margins(self.table)
        check_stated(certificate, self.view)
        check_lists(self.table.universe)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns a map of the strongest flows and the trips of every period, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.od.files.picture import draw_picture

        return draw_picture(self.table, certificate)
