"""Whether the files of an OD release agree with each other."""

from pathlib import Path

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import ReleaseError, damaged
from hushway.families.od.files.adds_up import PublishedSums
from hushway.families.od.files.adds_up import check_adds_up as check_sums
from hushway.families.od.files.flowmap import read_flows
from hushway.families.od.files.lines import read_lines
from hushway.families.od.files.margins import read_margins_csv
from hushway.families.od.files.names import CSV, FLOWS, LINES, MARGINS, MARGINS_CSV, PARQUET, TIDES
from hushway.families.od.files.rows import read_csv, read_parquet
from hushway.families.od.files.summary import flows_digest, summary_of
from hushway.families.od.files.tides import entries_csv, entries_of
from hushway.families.od.files.view import ReadView
from hushway.release.folder.published_file import check_parts
from hushway.release.untrusted.limits import LIST_BYTES, read_plain


def check_csv(read: ReadView, path: Path) -> None:
    """Makes sure that the CSV file holds the rows of the table.

    Raises:
        ReleaseError: It is not so.
    """
    if summary_of(read_csv(path, read.universe)) != read.rows:
        raise _disagreement(CSV, PARQUET)


def check_flows(read: ReadView, path: Path) -> None:
    """Makes sure that flows of viewers are those of the table.

    Raises:
        ReleaseError: It is not so.
    """
    if flows_digest(read_flows(path, read.universe)) != read.rows.flows:
        raise _disagreement(FLOWS, PARQUET)


def check_lines(read: ReadView, path: Path) -> None:
    """Makes sure that lines are the flows of the table.

    Raises:
        ReleaseError: It is not so.
    """
    if flows_digest(read_lines(path, read.universe)) != read.rows.flows:
        raise _disagreement(LINES, PARQUET)


def check_margins_csv(read: ReadView, path: Path) -> None:
    """Makes sure that both files of sums hold the same.

    Raises:
        ReleaseError: It is not so.
    """
    learnt = read.margins[0].errors is not None
    if not all(map(_same, read.margins, read_margins_csv(path, read.features, learnt=learnt))):
        raise _disagreement(MARGINS_CSV, MARGINS)


def check_adds_up(read: ReadView, path: Path) -> None:
    """Makes sure that what is said to add up does.

    Raises:
        ReleaseError: It is not so.
    """
    # The finding before said that these are the sums of the rows.
    rows = [sums.counts for sums in read.margins]
    check_sums(read_plain(path, LIST_BYTES), read.margins, rows)


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


def check_entries(read: ReadView, path: Path) -> None:
    """Makes sure that entries are the sums of the table.

    Raises:
        ReleaseError: It is not so.
    """
    rows = read_parquet(path.parent.parent / PARQUET, read.universe)
    entries = entries_of(read.universe, rows)
    check_parts(
        path,
        entries_csv(read.universe, entries),
        f"{TIDES} does not hold the sums of {PARQUET}.",
    )
