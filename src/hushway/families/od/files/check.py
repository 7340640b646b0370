"""What can be checked about the files of an OD release without the protected data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hushway.errors import damaged
from hushway.families.od.files.adds_up import PublishedSums, sums_of_rows
from hushway.families.od.files.features import read_features
from hushway.families.od.files.guard import check_stated
from hushway.families.od.files.margins import read_margins
from hushway.families.od.files.names import (
    ADDS_UP,
    FEATURES,
    LOCATIONS,
    MARGINS,
    OMX,
    PAIRS,
    PARQUET,
)
from hushway.families.od.files.omx import fits_omx
from hushway.families.od.files.published import FILES, describe
from hushway.families.od.files.rows import read_parquet
from hushway.families.od.files.view import ReadView, facts_of_rows
from hushway.families.od.mechanism.measuring import ODMechanism
from hushway.families.od.mechanism.terms import stated_od
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import LEARNED
from hushway.families.od.public.features import Feature
from hushway.geography.areas import are_areas
from hushway.privacy.certificate import Certificate
from hushway.release.folder.finding import Notes
from hushway.release.folder.published_file import PERIODS, Description, check_files, compared_files
from hushway.release.formats.areas import AREAS, with_shapes
from hushway.release.formats.places import read_locations, read_periods
from hushway.release.terms import PARAMETER, TERMS_HOLD, check_domain
from hushway.release.untrusted.limits import GEOMETRY_BYTES, LIST_BYTES, read_plain


def check_od(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks geography, rows and formats, and sums where the certificate names features.

    Args:
        notes: Where the findings go.
        folder: The release.
        certificate: Its certificate.
        facts: What its data package says about the table.

    Returns:
        The description that the data package must give; None when the table cannot be read.
    """
    universe = notes.attempt("geography", lambda: read_universe(folder, certificate, facts))
    if universe is None:
        return None
    table = notes.attempt("rows", lambda: _rows(folder, universe, facts))
    if table is None:
        return None
    notes.holds("formats", lambda: check_files(FILES, table, folder), _formats_words(table))
    read: ReadView | None = table
    if certificate.terms.mechanism.parameters.get(PARAMETER):
        learnt = certificate.terms.mechanism.name == LEARNED
        read = _with_sums(notes, folder, table, learnt=learnt)
    if read is None:
        return None
    whole = read
    notes.holds("terms", lambda: check_stated(certificate, whole), TERMS_HOLD)
    return describe(whole)


def read_universe(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[ODCells, str]:
    """Reads the public cells of a release, and returns a sentence about them too."""
    locations = read_locations(read_plain(folder / LOCATIONS, LIST_BYTES))
    if are_areas(locations):
        locations = with_shapes(locations, read_plain(folder / AREAS, GEOMETRY_BYTES))
    universe = ODCells(
        locations=locations,
        periods=read_periods(read_plain(folder / PERIODS, LIST_BYTES)),
        include_intrazonal=facts["include_intrazonal"],
    )
    check_domain(certificate, universe)
    return universe, f"The public lists give the {universe.size:,} cells of the certificate."


def refitting(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[ODMechanism, ODCells]:
    """Returns the mechanism of a release and its public cells."""
    universe, _ = read_universe(folder, certificate, facts)
    record = certificate.terms.mechanism
    features = _features(folder, universe)[0] if record.parameters.get(PARAMETER) else ()
    return stated_od(record, universe, features), universe


def _rows(folder: Path, universe: ODCells, facts: Mapping[str, Any]) -> tuple[ReadView, str]:
    read = ReadView(
        universe=universe,
        threshold=facts["threshold"],
        zeros_left_out=facts.get("zeros_left_out", False),
        rows=facts_of_rows(read_parquet(folder / PARQUET, universe)),
        folder=folder,
    )
    rows = read.rows.number
    if read.zeros_left_out:
        if rows != read.rows.above_zero:
            raise damaged("A row has a count of 0 in a table that leaves out zeros.")
        return read, f"{rows:,} rows, each a public cell, with counts above 0."
    if read.threshold is None and rows != universe.size:
        raise damaged(f"The table has {rows:,} rows, but the universe has {universe.size:,} cells.")
    what = "each a public cell" if read.threshold is not None else "one for every public cell"
    return read, f"{rows:,} rows, {what}, with counts of 0 or more."


def _formats_words(read: ReadView) -> str:
    agreed = f"These agree with {PARQUET} and the public lists: {compared_files(FILES, read)}."
    sealed = f" {OMX} is sealed, but its numbers are not compared."
    return agreed + (sealed if fits_omx(read.universe) else "")


def _with_sums(notes: Notes, folder: Path, table: ReadView, *, learnt: bool) -> ReadView | None:
    """Reads and checks the sums; returns None when they cannot be read."""
    features = notes.attempt("published totals", lambda: _features(folder, table.universe))
    if features is None:
        return None
    read = notes.attempt("margins", lambda: _margins(folder, table, features, learnt=learnt))
    if read is not None:
        notes.holds(
            "adds up",
            lambda: check_files(FILES, read, folder, "adds up"),
            f"Finer sums add up to coarser ones, and {ADDS_UP} says so.",
        )
    return read


def _features(folder: Path, universe: ODCells) -> tuple[tuple[Feature, ...], str]:
    features = read_features(read_plain(folder / FEATURES, LIST_BYTES), folder / PAIRS, universe)
    titles = ", ".join(feature.title for feature in features)
    return features, f"The public labels give these published totals: {titles}."


def _margins(
    folder: Path, table: ReadView, features: Sequence[Feature], *, learnt: bool
) -> tuple[ReadView, str]:
    margins = read_margins(folder / MARGINS, features, learnt=learnt)
    _check_sums_of_rows(table, margins)
    read = replace(table, margins=margins)
    check_files(FILES, read, folder, "margins")
    count = sum(feature.size for feature in features)
    return read, f"{count:,} published sums, each the sum of its rows."


def _check_sums_of_rows(read: ReadView, margins: Sequence[PublishedSums]) -> None:
    features = [sums.feature for sums in margins]
    rows = sums_of_rows(features, ((part.cells, part.counts) for part in read.batches()))
    for sums, own in zip(margins, rows, strict=True):
        if not np.array_equal(sums.counts, own):
            raise damaged(
                f"A sum of {sums.feature.title!r} in {MARGINS} is not the sum of its rows."
            )
