"""Exact counts of protected sequences: of files by whatever engine keeps them, or of arrays."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.engine.counting import index_column, whole_column
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.grids import day_grid
from hushway.engine.key import BoundingKey
from hushway.engine.opening import open_session
from hushway.engine.session import Ask
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.record_bounding import (
    OrderedStops,
    Records,
    bounded_records,
    records_of,
)
from hushway.families.sequences.rows.record_questions import (
    AskedCells,
    BoundedRecords,
    SequenceCounter,
)
from hushway.families.sequences.rows.sequences import (
    SequenceRule,
    SequencesSource,
    TapsSource,
    ordered_sequences,
    ordered_taps,
    record_bound,
    stops_read,
    window_of,
)
from hushway.privacy.bound import Unit
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress
from hushway.tables.header import Clock


@dataclass(kw_only=True, eq=False, repr=False)
class EngineSequences(SequenceCounter):
    """Counts sequences by prefix, each unit bounded.

    The rows are read when counts are first asked for; after that the bounded sequences are in
    memory, about four bytes a stop and sixteen a record, or on the cluster.

    Privacy:
        Taps without a person, a location or a time, with an unknown location, outside the window
        or outside service hours are dropped one by one against public lists. The rest become
        records by person, cut to their first stops, and each person's records are cut down to the
        bound. Counting is the same for every order and split of the rows.
    """

    source: TapsSource | SequencesSource
    taxonomy: Taxonomy
    rule: SequenceRule
    unit: Unit
    key: BoundingKey
    ladder: tuple[int, ...] = ()
    settings: EngineSettings | None = None
    progress: ShareProgress | None = None

    def __post_init__(self) -> None:
        _refuse_what_is_missing(self.source, self.rule, self.unit)
        self.periods = self.rule.periods
        # All taps of a window are one record.
        one = isinstance(self.source, TapsSource) and self.rule.record == "window"
        self.step_bound = record_bound(self.unit, 1 if one else self.rule.max_records)

    def counts_of(self, cells: AskedCells) -> ExactCounts:
        """Returns the exact counts of a question."""
        return self._ask(cells)

    @cached_property
    def _ask(self) -> Ask:
        """Whom to ask about the bounded records, wherever they are kept."""
        source, many = self.source, self.unit.has_many_records
        part = RecordPart(
            rule=self.rule,
            clock=source.clock,
            most=self.most if many else None,
            limit=self.step_bound.total,
            key=self.key,
        )
        with open_session(self.settings or EngineSettings()) as session:
            reading = stops_read(
                session,
                source,
                self.taxonomy.locations,
                self.rule,
                owned=many or isinstance(source, TapsSource),
            )
            return session.keep(reading, part, self.progress)


def _refuse_what_is_missing(
    source: TapsSource | SequencesSource, rule: SequenceRule, unit: Unit
) -> None:
    if isinstance(source, TapsSource):
        window_of(rule)
        return
    if unit.has_many_records and source.columns.person is None:
        raise DataError(
            "The sequences have no column of persons, so persons cannot be protected.",
            advice='Name the column of persons, or choose unit = "record".',
        )
    if rule.keep_times:
        raise DataError(
            "Ready sequences carry no times, so times cannot be kept.",
            advice="Give taps with times, or leave times out.",
        )


# Some tens of megabytes: what a worker holds of a piece fits beside its other work.
_RECORDS_OF_A_PIECE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class RecordPart:
    """Keeps bounded records of people, all of each. A `hushway.engine.session.Keeping`.

    Privacy:
        At most `most` records of each person of the part are kept, each with its first stops.

    Attributes:
        clock: How times are meant; None for ready sequences, which have none.
        most: Records of this rank and above are not kept; None if each record is a unit of its own.
        limit: Most records of one person where a question names no ranks.
        key: Decides which records are kept, and the order of stops at one and the same time.
    """

    rule: SequenceRule
    clock: Clock | None
    most: int | None
    limit: int
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
            if records.rank is not None:
                columns["rank"] = records.rank[first:last]
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
                rank=columns.get("rank"),
            )
        return self._bounded(records)

    def answer(self, kept: BoundedRecords, question: AskedCells) -> ExactCounts:
        """Returns the exact counts of a question."""
        return kept.count(question)

    def _bounded(self, records: Records) -> BoundedRecords:
        return BoundedRecords(records, limit=self.limit, height=self.rule.max_stops, key=self.key)


class ArraySequences(SequenceCounter):
    """Counts sequences given as arrays, each unit bounded: for audits and studies.

    The same rule and the same arithmetic as for files: the same records and the same key give the
    same counts.

    Privacy:
        At most `max_records` records of each person are counted; the choice reads that person's
        records and the key alone.

    Args:
        unit: Who is protected: a person, or one record with unit "record".
        max_records: Most records of one person; without meaning for unit "record".
        max_stops: Stops of a record that count: its first ones.
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
