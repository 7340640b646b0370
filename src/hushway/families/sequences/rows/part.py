"""What is kept of people's taps or sequences wherever they are read, and how it is asked."""

import io
from collections.abc import Iterator
from dataclasses import dataclass

import ibis.expr.types as ir
import numpy as np

from hushway.engine.embedded import EmbeddedSession
from hushway.engine.grids import day_grid
from hushway.engine.key import BoundingKey
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.families.sequences.public.questions import QuestionCells
from hushway.families.sequences.rows.counting import BoundedRecords
from hushway.families.sequences.rows.record_bounding import Records, bounded_records, records_of
from hushway.families.sequences.rows.sequences import (
    SequenceRule,
    ordered_sequences,
    ordered_taps,
    window_of,
)
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress
from hushway.tables.layout import Clock

# Some tens of megabytes: what a worker holds of a piece fits beside its other work.
_RECORDS_OF_A_PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class RecordPart:
    """Keeps bounded records of people, all of each. A `hushway.engine.session.Keeping`.

    Privacy:
        At most `most` records of each person of the part are kept, each with its first stops.

    Attributes:
        rule: What makes a record, and how much of it counts.
        clock: How times are meant; None for ready sequences, which have none.
        most: Most records of one person; None if each record is a unit of its own.
        key: Decides which records are kept, and the order of stops at one and the same time.
    """

    rule: SequenceRule
    clock: Clock | None
    most: int | None
    key: BoundingKey

    def keep(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> BoundedRecords:
        """Returns the bounded records."""
        if self.clock is None:
            ordered = ordered_sequences(session, rows, progress)
        else:
            grid = day_grid(window_of(self.rule), self.clock)
            ordered = ordered_taps(
                session, rows, grid, rule=self.rule, key=self.key, progress=progress
            )
        records = records_of(ordered, max_stops=self.rule.max_stops)
        if self.most is not None:
            records = bounded_records(records, self.most, self.key)
        return self._bounded(records)

    def packed(self, kept: BoundedRecords) -> Iterator[bytes]:
        """Returns records some at a time; nobody asks any more whose they are."""
        records = kept.records
        for first in range(0, len(records), _RECORDS_OF_A_PIECE):
            last = min(first + _RECORDS_OF_A_PIECE, len(records))
            start = records.start[first : last + 1]
            stops = slice(start[0], start[-1])
            columns = {"start": start - start[0], "stops": records.stops[stops]}
            if records.periods is not None:
                columns["periods"] = records.periods[stops]
            piece = io.BytesIO()
            np.savez(piece, allow_pickle=False, **columns)
            yield piece.getvalue()

    def unpacked(self, piece: bytes) -> BoundedRecords:
        """Returns the records of a piece."""
        with np.load(io.BytesIO(piece), allow_pickle=False) as columns:
            records = Records(
                start=columns["start"],
                stops=columns["stops"],
                periods=columns.get("periods"),
                person=None,
                since_us=None,
            )
        return self._bounded(records)

    def answer(self, kept: BoundedRecords, question: PrefixCells | QuestionCells) -> ExactCounts:
        """Returns the exact counts of a question."""
        return kept.count(question)

    def _bounded(self, records: Records) -> BoundedRecords:
        return BoundedRecords(records, height=self.rule.max_stops, key=self.key)
