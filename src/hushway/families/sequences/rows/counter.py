"""Exact counts of protected sequences, by whatever engine reads and keeps them."""

from functools import cached_property

from hushway.engine.key import BoundingKey
from hushway.engine.opening import open_session
from hushway.engine.session import Ask
from hushway.engine.settings import EngineSettings
from hushway.errors import DataError
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counting import asked_cells, bound_of_cells
from hushway.families.sequences.rows.part import RecordPart
from hushway.families.sequences.rows.sequences import (
    SequenceRule,
    SequencesSource,
    TapsSource,
    record_bound,
    stops_read,
    window_of,
)
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query
from hushway.progress import ShareProgress

__all__ = ["EngineSequences"]


class EngineSequences:
    """Counts sequences by prefix, each unit bounded. A `hushway.privacy.query.Counter`.

    The rows are read at the first count; after that the bounded sequences are in memory, about
    four bytes a stop and twelve a record, or on the cluster.

    Privacy:
        Taps without a person, a location or a time, with an unknown location, outside the window
        or outside service hours are dropped one by one against public lists. The rest become
        records by person, cut to their first stops, and each person's records are cut down to the
        bound. Counting is the same for every order and split of the rows.

    Args:
        source: Where the rows are.
        taxonomy: The public tree over the locations.
        rule: What makes a record, and how much of it counts.
        unit: Who is protected: a person, or one record with unit "record".
        key: Decides which records are kept, and the order of stops at one and the same time.
        settings: How much of this machine to use.
        progress: Told from 0 to 1 how far the reading is, from another thread.

    Raises:
        DataError: The source does not have what the rule or the unit needs.
    """

    def __init__(
        self,
        *,
        source: TapsSource | SequencesSource,
        taxonomy: Taxonomy,
        rule: SequenceRule,
        unit: Unit,
        key: BoundingKey,
        settings: EngineSettings | None = None,
        progress: ShareProgress | None = None,
    ) -> None:
        _refuse_what_is_missing(source, rule, unit)
        self._source = source
        self._taxonomy = taxonomy
        self._rule = rule
        self._unit = unit
        self._bound = record_bound(unit, _most_records(source, rule))
        self._key = key
        self._settings = EngineSettings() if settings is None else settings
        self._progress = progress

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound that `count` enforces."""
        cells = asked_cells(query, self._taxonomy, self._rule.periods)
        return bound_of_cells(cells, self._bound)

    def count(self, query: Query) -> ExactCounts:
        """Returns the exact counts of a question.

        Raises:
            DataError: The rows cannot be read, or memory or disk ran out.
        """
        cells = asked_cells(query, self._taxonomy, self._rule.periods)
        return self._ask(cells)

    @cached_property
    def _ask(self) -> Ask:
        """Whom to ask about the bounded records, wherever they are kept."""
        source, locations, rule = self._source, self._taxonomy.locations, self._rule
        owned = self._unit.has_many_records or isinstance(source, TapsSource)
        part = RecordPart(
            rule=rule,
            clock=source.clock,
            most=self._bound.total if self._unit.has_many_records else None,
            key=self._key,
        )
        with open_session(self._settings) as session:
            reading = stops_read(session, source, locations, rule, owned=owned)
            return session.keep(reading, part, self._progress)


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


def _most_records(source: TapsSource | SequencesSource, rule: SequenceRule) -> int:
    """Returns how many records a person can have: all taps of the window are one record."""
    one = isinstance(source, TapsSource) and rule.record == "window"
    return 1 if one else rule.max_records
