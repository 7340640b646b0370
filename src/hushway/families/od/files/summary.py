"""What a verifier keeps of a table: facts and digests, so that tables are compared unheld."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import damaged
from hushway.families.od.files.rows import Rows

_MOST_TRIPS = np.iinfo(np.int64).max


@dataclass(frozen=True, kw_only=True)
class RowFacts:
    """What the rows of a table have in common.

    Attributes:
        number: How many there are.
        least: The lowest count; None without rows.
        standard_errors: The lowest and the highest one; None without rows.
    """

    number: int
    least: int | None
    standard_errors: tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class Summary(RowFacts):
    """What was read from a table, small enough to compare.

    Attributes:
        moving: Number of rows with a count above 0.
        numbers: Digest of all cells, counts and standard errors, in order.
        flows: Digest of the cells and counts above 0, in order.
    """

    moving: int
    numbers: str
    flows: str


def summary_of(batches: Iterable[Rows]) -> Summary:
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
    return Summary(
        number=rows,
        least=int(least) if rows else None,
        standard_errors=(float(lowest), float(highest)) if rows else None,
        moving=with_trips,
        numbers="".join(digest.hexdigest() for digest in digests),
        flows=flows.text,
    )


def flows_digest(batches: Iterable[tuple[IntArray, IntArray]]) -> str:
    """Returns the digest of cells and counts, as `Summary` has it of those above 0."""
    flows = _FlowsDigest()
    for cells, counts in batches:
        flows.add(cells, counts)
    return flows.text


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
