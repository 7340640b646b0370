"""What can be checked about the files of an OD release without the protected data."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.od.files.adds_up import PublishedSums, check_adds_up, sums_of_rows
from hushway.families.od.files.description import (
    ADDS_UP,
    CSV,
    FEATURES,
    FLOW_LOCATIONS,
    FLOWS,
    LOCATIONS,
    MARGINS,
    MARGINS_CSV,
    OMX,
    PAIRS,
    PARQUET,
    PERIODS,
    describe,
)
from hushway.families.od.files.features import read_features
from hushway.families.od.files.flowmap import flowmap_locations, read_flows
from hushway.families.od.files.guard import RowFacts, check_rows, check_stated
from hushway.families.od.files.margins import read_margins_csv, read_margins_parquet
from hushway.families.od.files.omx import fits_omx
from hushway.families.od.files.rows import Rows, read_csv, read_parquet
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.certificate import Certificate
from hushway.release.bounded import LIST_BYTES, holds, read_plain
from hushway.release.finding import Notes
from hushway.release.formats.places import read_locations, read_periods
from hushway.release.resource import Description
from hushway.release.stated import PARAMETER, TERMS_HOLD, check_domain


@dataclass(frozen=True, kw_only=True)
class CheckedSums:
    """The features whose sums a release holds, and the standard error of the sums of each."""

    features: tuple[Feature, ...]
    standard_errors: tuple[float, ...]


def check_sums(
    notes: Notes, folder: Path, certificate: Certificate, universe: ODCells
) -> CheckedSums | None:
    """Checks the sums of a release whose certificate names features; notes nothing otherwise.

    Returns:
        The features and the noise of their sums; None when they cannot be read.
    """
    if not certificate.terms.mechanism.parameters.get(PARAMETER):
        return CheckedSums(features=(), standard_errors=())
    features = notes.attempt("features", lambda: _features(folder, universe))
    if features is None:
        return None
    found = notes.attempt("margins", lambda: _margins(folder, features))
    if found is None:
        return None
    margins, rows = found
    notes.attempt("adds up", lambda: _adds_up(folder, margins, rows))
    return CheckedSums(
        features=features, standard_errors=tuple(sums.standard_error for sums in margins)
    )


def _features(folder: Path, universe: ODCells) -> tuple[tuple[Feature, ...], str]:
    features = read_features(read_plain(folder / FEATURES, LIST_BYTES), folder / PAIRS, universe)
    titles = ", ".join(feature.title for feature in features)
    return features, f"The public labels give these features: {titles}."


def _margins(
    folder: Path, features: Sequence[Feature]
) -> tuple[tuple[tuple[PublishedSums, ...], tuple[IntArray, ...]], str]:
    margins = read_margins_parquet(folder / MARGINS, features)
    batches = read_parquet(folder / PARQUET, features[0].universe)
    rows = sums_of_rows(features, ((part.cells, part.counts) for part in batches))
    for sums, own in zip(margins, rows, strict=True):
        if not np.array_equal(sums.counts, own):
            raise damaged(
                f"A sum of {sums.feature.title!r} in {MARGINS} is not the sum of its rows."
            )
    if not all(map(_same, margins, read_margins_csv(folder / MARGINS_CSV, features))):
        raise damaged(f"{MARGINS_CSV} does not hold the same numbers as {MARGINS}.")
    count = sum(feature.size for feature in features)
    return (margins, rows), f"{count:,} published sums, each the sum of its rows."


def _adds_up(
    folder: Path, margins: Sequence[PublishedSums], rows: Sequence[IntArray]
) -> tuple[bool, str]:
    check_adds_up(read_plain(folder / ADDS_UP, LIST_BYTES), margins, rows)
    return True, f"Finer sums add up to coarser ones, and {ADDS_UP} says so."


def _same(one: PublishedSums, other: PublishedSums) -> bool:
    return (
        np.array_equal(one.counts, other.counts)
        and np.array_equal(one.measured, other.measured)
        and one.standard_error == other.standard_error
    )


_MOST_TRIPS = np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What was read from a table, small enough to compare.

    Attributes:
        rows: Number of rows.
        moving: Number of rows with a count above 0.
        numbers: Digest of all cells, counts and standard errors, in order.
        flows: Digest of the cells and counts above 0, in order.
        least: The lowest count; None without rows.
        errors: The lowest and the highest standard error; None without rows.
    """

    rows: int
    moving: int
    numbers: str
    flows: str
    least: int | None
    errors: tuple[float, float] | None

    def facts(self, stated: Mapping[str, Any]) -> RowFacts:
        """Returns what the rows have in common, with what the data package says about them."""
        return RowFacts(
            threshold=stated["threshold"],
            zeros_left_out=stated.get("zeros_left_out", False),
            least=self.least,
            standard_errors=self.errors,
        )


def check_od(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks geography, rows and formats.

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
    notes.attempt("formats", lambda: _formats(folder, universe, table))
    sums = check_sums(notes, folder, certificate, universe)
    if sums is None:
        return None
    notes.attempt("terms", lambda: _terms(certificate, universe, sums, table.facts(facts)))
    return describe(
        universe,
        rows=table.rows,
        threshold=facts["threshold"],
        zeros_left_out=facts.get("zeros_left_out", False),
        features=sums.features,
    )


def read_universe(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[ODCells, str]:
    """Reads the public cells of a release, and returns a sentence about them too.

    Raises:
        ReleaseError: They are not the cells that the certificate was made for.
    """
    universe = ODCells(
        locations=read_locations(read_plain(folder / LOCATIONS, LIST_BYTES)),
        periods=read_periods(read_plain(folder / PERIODS, LIST_BYTES)),
        same_place=facts["same_place"],
    )
    check_domain(certificate, universe)
    return universe, f"The public lists give the {universe.size:,} cells of the certificate."


def _rows(folder: Path, universe: ODCells, facts: Mapping[str, Any]) -> tuple[Summary, str]:
    table = _summary(read_parquet(folder / PARQUET, universe))
    if facts.get("zeros_left_out", False):
        if table.rows != table.moving:
            raise damaged("A row has a count of 0 in a table that leaves out zeros.")
        return table, f"{table.rows:,} rows, each a public cell, with counts above 0."
    if facts["threshold"] is None and table.rows != universe.size:
        raise damaged(
            f"The table has {table.rows:,} rows, but the universe has {universe.size:,} cells."
        )
    what = "each a public cell" if facts["threshold"] is not None else "one for every public cell"
    return table, f"{table.rows:,} rows, {what}, with counts of 0 or more."


def _terms(
    certificate: Certificate, universe: ODCells, sums: CheckedSums, rows: RowFacts
) -> tuple[bool, str]:
    check_stated(certificate, universe, sums.features, sums.standard_errors)
    check_rows(certificate, universe, sums.features, rows)
    return True, TERMS_HOLD


def _formats(folder: Path, universe: ODCells, table: Summary) -> tuple[bool, str]:
    if _summary(read_csv(folder / CSV, universe)) != table:
        raise _disagreement(CSV)
    if _flows_digest(read_flows(folder / FLOWS, universe)) != table.flows:
        raise _disagreement(FLOWS)
    if not holds(folder / FLOW_LOCATIONS, [flowmap_locations(universe.locations)]):
        raise _disagreement(FLOW_LOCATIONS)
    agreed = f"{CSV} and {FLOWS} hold the same numbers as {PARQUET}."
    if not fits_omx(universe):
        return True, agreed
    # Never opened here: HDF5 libraries unpickle attributes, and this may be a stranger's file.
    return True, f"{agreed} {OMX} is sealed, but its numbers are not compared."


def _summary(batches: Iterable[Rows]) -> Summary:
    """Reads a table once.

    Raises:
        ReleaseError: Rows are out of order, or a number is not one that a release may hold.
    """
    digests = [hashlib.sha256() for _ in range(3)]
    least, lowest, highest = np.inf, np.inf, -np.inf
    flows = _FlowsDigest()
    rows, with_trips, last = 0, 0, -1
    for part in batches:
        ascending = np.all(np.diff(part.cells, prepend=last) > 0)
        sound = np.isfinite(part.standard_errors) & (part.standard_errors >= 0)
        if not ascending or np.any(part.counts < 0) or not np.all(sound):
            raise damaged("Rows are out of order or repeated, or a number is negative or missing.")
        rows += len(part.cells)
        last = int(part.cells[-1]) if len(part.cells) else last
        digests[0].update(part.cells.astype("<i8").tobytes())
        digests[1].update(part.counts.astype("<i8").tobytes())
        digests[2].update(part.standard_errors.astype("<f8").tobytes())
        least = min(least, part.counts.min(initial=_MOST_TRIPS))
        lowest = min(lowest, part.standard_errors.min(initial=np.inf))
        highest = max(highest, part.standard_errors.max(initial=-np.inf))
        moving = part.counts > 0
        with_trips += int(np.count_nonzero(moving))
        flows.add(part.cells[moving], part.counts[moving])
    numbers = "".join(digest.hexdigest() for digest in digests)
    return Summary(
        rows=rows,
        moving=with_trips,
        numbers=numbers,
        flows=flows.text,
        least=int(least) if rows else None,
        errors=(float(lowest), float(highest)) if rows else None,
    )


class _FlowsDigest:
    """A digest of cells and counts that does not depend on how they come in batches."""

    def __init__(self) -> None:
        self._cells, self._counts = hashlib.sha256(), hashlib.sha256()

    def add(self, cells: IntArray, counts: IntArray) -> None:
        self._cells.update(cells.astype("<i8").tobytes())
        self._counts.update(counts.astype("<i8").tobytes())

    @property
    def text(self) -> str:
        return self._cells.hexdigest() + self._counts.hexdigest()


def _flows_digest(batches: Iterable[tuple[IntArray, IntArray]]) -> str:
    flows = _FlowsDigest()
    for cells, counts in batches:
        flows.add(cells, counts)
    return flows.text


def _disagreement(path: str) -> ReleaseError:
    return damaged(f"{path} does not hold the same numbers as {PARQUET}.")
