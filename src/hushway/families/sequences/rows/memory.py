"""Bounded counts of sequences in arrays: for audits, which count again and again, and studies."""

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.engine.counting import index_column, whole_column
from hushway.engine.key import BoundingKey
from hushway.errors import DataError
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.record_bounding import (
    OrderedStops,
    bounded_records,
    records_of,
)
from hushway.families.sequences.rows.record_questions import (
    AskedCells,
    BoundedRecords,
    SequenceCounter,
)
from hushway.families.sequences.rows.sequences import record_bound
from hushway.privacy.bound import Unit
from hushway.privacy.query import ExactCounts


class ArraySequences(SequenceCounter):
    """Counts sequences given as arrays, each unit bounded.

    The same rule and the same arithmetic as for files: the same records and the same key give the
    same counts.

    Privacy:
        At most `max_records` records of each person are counted; the choice reads that person's
        records and the key alone.

    Args:
        taxonomy: The public tree over the locations.
        unit: Who is protected: a person, or one record with unit "record".
        max_records: Most records of one person; without meaning for unit "record".
        max_stops: Stops of a record that count: its first ones.
        key: Decides which records are kept.
        start: Where each record begins among the stops; one entry more than records.
        stops: Index of the location of every stop.
        person: Code of each record's person; only equality matters. Not needed for unit "record".
        periods: Number of public periods; 1 if times are not kept.
        period: Period of every stop, if there are several.
        since_us: Microseconds from the window's start to each record's first stop. Without it, a
            person's records that are alike are told apart by numbering them.
        ladder: Other limits on the records of a person that queries may name.
    """

    def __init__(  # noqa: PLR0913  one argument for each column
        self,
        *,
        taxonomy: Taxonomy,
        unit: Unit,
        max_records: int,
        max_stops: int,
        key: BoundingKey,
        start: IntArray,
        stops: IntArray,
        person: IntArray | None = None,
        periods: int = 1,
        period: IntArray | None = None,
        since_us: IntArray | None = None,
        ladder: tuple[int, ...] = (),
    ) -> None:
        self.taxonomy, self.unit, self.periods = taxonomy, unit, periods
        self.step_bound, self.ladder = record_bound(unit, max_records), ladder
        if (unit.has_many_records and person is None) or (periods > 1) != (period is not None):
            raise DataError(
                "The arrays lack persons to protect or periods to count by, or have a column too "
                "many.",
                advice="Give persons for unit person, and the period of each stop if and only if "
                "there are several periods.",
            )
        start = _starts(start, len(stops))
        records, length = len(start) - 1, np.diff(start)
        spread = np.repeat(np.arange(records), length)
        ordered = OrderedStops(
            owner=None,
            part=spread,
            place=_indexes(stops, len(stops), len(taxonomy.locations)),
            period=None if period is None else _indexes(period, len(stops), periods),
            since_us=None
            if since_us is None
            else whole_column(since_us, records, "records")[spread],
        )
        found = records_of(ordered, max_stops=max_stops)
        if unit.has_many_records and person is not None:
            whose = whole_column(person, records, "records")[length > 0]
            found = bounded_records(found.owned_by(whose), self.most, key)
        self._records = BoundedRecords(
            found, limit=self.step_bound.total, height=max_stops, key=key
        )

    def counts_of(self, cells: AskedCells) -> ExactCounts:
        """Returns the exact counts of a question."""
        return self._records.count(cells)


def _starts(start: IntArray, stops: int) -> IntArray:
    begins = np.asarray(start)
    whole = begins.ndim == 1 and begins.dtype.kind in "iu" and len(begins) > 0
    if not whole or begins[0] != 0 or begins[-1] != stops or (begins[1:] < begins[:-1]).any():
        raise DataError(
            "The records do not begin and end where the stops do.",
            advice="Let start go up from 0 to the number of stops, one entry more than records.",
        )
    return begins.astype(np.int64)


def _indexes(column: IntArray, length: int, size: int) -> Int32Array:
    return index_column(column, length, size, "records").astype(np.int32)
