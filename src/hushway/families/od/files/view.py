"""What is public about an OD table, as its publisher and as a verifier know it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushway.errors import damaged
from hushway.families.od.files.adds_up import PublishedSums, published_sums
from hushway.families.od.files.names import PARQUET
from hushway.families.od.files.rows import Rows, batches_of, read_parquet
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature

_MOST_TRIPS = np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True)
class RowFacts:
    """What the rows of a table have in common.

    Attributes:
        number: How many there are.
        above_zero: How many have a count above 0.
        least: The lowest count; None without rows.
        standard_errors: The lowest and the highest one; None without rows.
    """

    number: int
    above_zero: int
    least: int | None
    standard_errors: tuple[float, float] | None


def facts_of_rows(batches: Iterable[Rows]) -> RowFacts:
    """Reads a table once."""
    least, lowest, highest = np.inf, np.inf, -np.inf
    number, above_zero, last = 0, 0, -1
    for part in batches:
        ascending = np.all(np.diff(part.cells, prepend=last) > 0)
        sound = np.isfinite(part.standard_errors) & (part.standard_errors >= 0)
        if not ascending or np.any(part.counts < 0) or not np.all(sound):
            raise damaged("Rows are out of order or repeated, or a number is negative or missing.")
        number += len(part.cells)
        above_zero += int(np.count_nonzero(part.counts))
        last = int(part.cells[-1]) if len(part.cells) else last
        least = min(least, part.counts.min(initial=_MOST_TRIPS))
        lowest = min(lowest, part.standard_errors.min(initial=np.inf))
        highest = max(highest, part.standard_errors.max(initial=-np.inf))
    return RowFacts(
        number=number,
        above_zero=above_zero,
        least=int(least) if number else None,
        standard_errors=(float(lowest), float(highest)) if number else None,
    )


@dataclass(frozen=True, kw_only=True)
class ODView:
    """What both sides know of a table.

    Attributes:
        universe: The public cells.
        threshold: Cells measured below it have no row, if there is one.
        zeros_left_out: Whether a cell without a row is published as 0.
        rows: What the rows have in common.
        margins: The sums over features that the release holds.
    """

    universe: ODCells
    threshold: int | None
    zeros_left_out: bool
    rows: RowFacts
    margins: tuple[PublishedSums, ...] = ()

    @property
    def features(self) -> tuple[Feature, ...]:
        """What the release gives sums of."""
        return tuple(sums.feature for sums in self.margins)

    @property
    def is_learnt(self) -> bool:
        """Whether errors of sums were learnt."""
        return bool(self.margins) and self.margins[0].errors is not None

    def batches(self) -> Iterable[Rows]:
        """Returns the rows in order, some at a time."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class TableView(ODView):
    """The publisher's: it has the table itself."""

    table: ODTable

    def batches(self) -> Iterable[Rows]:
        """Returns the rows of the table."""
        return batches_of(self.table)


@dataclass(frozen=True, kw_only=True)
class ReadView(ODView):
    """The verifier's: it reads the rows again, whenever they are needed, and never holds them."""

    folder: Path

    def batches(self) -> Iterable[Rows]:
        """Returns the rows of the Parquet file."""
        return read_parquet(self.folder / PARQUET, self.universe)


def view_of(table: ODTable) -> TableView:
    """Returns what is public about a table of published numbers."""
    return TableView(
        universe=table.universe,
        threshold=table.threshold,
        zeros_left_out=table.zeros_left_out,
        rows=facts_of_rows(batches_of(table)),
        margins=published_sums(table),
        table=table,
    )
