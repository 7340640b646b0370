"""A warehouse that Ibis has a driver for: rows are brought from it, or counted in it.

Whatever types the table has, ids come out as 64-bit integers or as text, and times as microseconds
since 1970, as `hushway.engine.reading` reads them out of files.
"""

from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession
from hushway.engine.session import Between, Reading, Sums, sums_of_columns
from hushway.engine.warehouse.connection import Connection, quietly_there
from hushway.tables.layout import Kind, Layout

_SECOND_US: Final = 1_000_000
_DAY_US: Final = 86_400 * _SECOND_US
_TIMESTAMPS: Final = ("naive time", "zoned time")
_OWNERS: Final = ("person", "trip_id")
# What Python calls spaces, one by one: a class of characters that every engine reads alike.
_SPACES: Final = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_NOT_BLANK: Final = f"[^{_SPACES}]"
# The times that drivers can hand over, and those that stand for any beyond.
_FIRST: Final = datetime(1, 1, 1)  # noqa: DTZ001  of a wall clock
_LAST: Final = datetime(9999, 12, 31, 23, 59, 59, 999_999)  # noqa: DTZ001  likewise


def brought(
    table: ir.Table,
    layout: Layout,
    *,
    unbounded_times: bool,
    span_us: tuple[int, int] | None = None,
) -> ir.Table:
    """Returns the columns of a layout as they can be handed over, and nothing else.

    Args:
        unbounded_times: Whether there may be times before the year 1 and infinite ones. They are
            then moved to the first or last one that can be handed over, outside of any window.
        span_us: From when to when rows are needed, as they write it; None for all. A day more on
            either side comes along, because zones of sessions may move what is compared.
    """
    if span_us is not None and layout.kinds.get("time") in _TIMESTAMPS:
        time = table[layout.names["time"]]
        first, last = span_us[0] - _DAY_US, span_us[1] + _DAY_US
        table = table.filter(
            time >= _alike(time, _moment(first)), time < _alike(time, _moment(last))
        )
    names = dict.fromkeys(layout.names.values())
    return table.select(
        **{name: _handed_over(table[name], unbounded_times=unbounded_times) for name in names}
    )


def _handed_over(column: ir.Value, *, unbounded_times: bool) -> ir.Value:
    if column.type().is_uuid():
        return column.cast("string")
    if not unbounded_times or not (column.type().is_timestamp() or column.type().is_date()):
        return column
    first, last = (_alike(column, moment) for moment in (_FIRST, _LAST))
    return ibis.cases((column < first, first), (column > last, last), else_=column)


def _alike(column: ir.Value, moment: datetime) -> ir.Value:
    """Returns a moment as a literal of the column's type."""
    if column.type().is_date():
        return ibis.literal(moment.date())
    if column.type().timezone is None:
        return ibis.literal(moment)
    return ibis.literal(moment.replace(tzinfo=UTC))


def instants(schema: pa.Schema) -> pa.Schema:
    """Returns the schema with all times as instants."""
    for place, column in enumerate(schema):
        if pa.types.is_timestamp(column.type) and column.type.tz is None:
            zoned = pa.timestamp(column.type.unit, tz="UTC")
            schema = schema.set(place, column.with_type(zoned))
    return schema


def rows_between(table: ir.Table, layout: Layout) -> Between:
    """Returns what gives typed rows of a span of time: ids, and `us`."""

    def between(start_us: int, end_us: int) -> ir.Table:
        name = layout.names["time"]
        low, high = (_alike(table[name], _moment(us)) for us in (start_us, end_us))
        # By the column itself: an index on it serves.
        rows = table.filter(table[name] >= low, table[name] < high)
        time = rows[name]
        # Infinite times have no microseconds, and an engine may look at them before it drops them.
        timely = (time >= low) & (time < high)
        ids = {
            role: _id(rows[layout.names[role]], role, kind)
            for role, kind in layout.kinds.items()
            if role != "time"
        }
        return rows.select(**ids, us=timely.ifelse(_microseconds(time), ibis.null("int64")))

    return between


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1) + timedelta(microseconds=microseconds)  # noqa: DTZ001  either clock


def _microseconds(time: ir.TimestampValue) -> ir.IntegerValue:
    """Returns the microseconds since 1970.

    Seconds and what is left of them are whole numbers far below 2^53, so the way over floats loses
    nothing. It is what makes Ibis write the casts out: some engines give decimals otherwise.
    """
    seconds = time.truncate("s").epoch_seconds().cast("float64").cast("int64")
    return seconds * _SECOND_US + time.microsecond().cast("float64").cast("int64")


def _id(column: ir.Value, role: str, kind: Kind) -> ir.Value:
    if kind == "integer":
        return column.cast("int64")
    text = column.cast("string")
    if role not in _OWNERS:
        return text
    # A text of blanks is nobody's.
    return text.re_search(_NOT_BLANK).ifelse(text, ibis.null("string"))


_UTC: Final = ("UTC", "Etc/UTC")


class Remote:
    """A connection to a warehouse."""

    def __init__(self, url: str) -> None:
        self._connection = Connection(url)

    def schema(self, table: str) -> pa.Schema:
        """Returns the columns of a table; no row is read."""
        schema = self._connection.table(table).schema().to_pyarrow()
        return instants(schema) if self._shows_instants else schema

    def give(
        self, session: EmbeddedSession, layout: Layout, span_us: tuple[int, int] | None
    ) -> None:
        """Brings the rows of a table, only the columns and the span of time that are needed."""
        table = self._connection.table(layout.files.table)
        rows = brought(
            table, layout, unbounded_times=self._connection.kind.unbounded_times, span_us=span_us
        )
        schema = rows.schema().to_pyarrow()
        if self._shows_instants:
            schema = instants(schema)
        session.give(pa.RecordBatchReader.from_batches(schema, []))
        for batch in self._connection.batches(rows):
            session.give_more(batch.cast(schema))

    def counted(self, reading: Reading) -> Sums | None:
        """Returns what is counted inside the warehouse.

        None stands for what is to be done here: where the warehouse is of a kind that was not
        compared, or has columns that it may read or compare otherwise.
        """
        layout, count = reading.layout, reading.in_warehouse
        if layout is None or count is None or not self._can_count(layout):
            return None
        connection = self._connection
        between = rows_between(connection.table(layout.files.table), layout)

        def stored(start_us: int, end_us: int) -> ibis.Table:
            # Once for all: engines work times out again at every place that names them.
            return connection.load("trips", between(start_us, end_us))

        found = connection.fetch(count(connection, stored))
        return sums_of_columns({name: found[name].to_numpy() for name in found.column_names})

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    @cached_property
    def _shows_instants(self) -> bool:
        """Whether times without a zone are instants that the warehouse shows in another than UTC.

        In UTC a wall clock and an instant are written alike, so it does not matter which it is.
        """
        if not self._connection.kind.only_instants:
            return False
        return self._connection.zone() not in _UTC

    def _can_count(self, layout: Layout) -> bool:
        # Texts are read as times by one engine only: the one that also reads those of files.
        timed = layout.kinds.get("time") in ("naive time", "zoned time")
        return self._connection.kind.counts and timed and can_count(self._connection, layout)


# A copy that only follows another server, and a user who may only read, make no tables.
_HAS_ROOM: Final = """
    SELECT has_database_privilege(current_database(), 'TEMP') AND NOT pg_is_in_recovery()
    AND current_setting('transaction_read_only') = 'off'
"""
# Text with a length that is filled up with blanks, and a collation for which "a" is "A", compare
# other than the engine that reads files. Only plain texts with the collation of the database, which
# is never such a one, compare alike.
_PLAIN: Final = """
    SELECT a.attname
    FROM pg_attribute AS a
    JOIN pg_type AS t ON t.oid = a.atttypid
    JOIN pg_collation AS c ON c.oid = a.attcollation
    WHERE a.attrelid = to_regclass(%s)
    AND t.typname IN ('text', 'varchar') AND t.typtype = 'b' AND c.collname = 'default'
"""


def can_count(connection: Connection, layout: Layout) -> bool:
    """Says whether PostgreSQL can count a table, and compares all its ids exactly.

    Privacy:
        Two people who share a limit are not bounded one by one.
    """
    schema = connection.table(layout.files.table).schema()
    texts = {name for name in layout.names.values() if schema[name].is_string()}
    table = ".".join('"' + part.replace('"', '""') + '"' for part in layout.files.table.split("."))

    def ask() -> bool:
        with connection.backend.con.cursor() as cursor:
            plain = {column for (column,) in cursor.execute(_PLAIN, (table,)).fetchall()}
            return bool(cursor.execute(_HAS_ROOM).fetchone()[0]) and texts <= plain

    return quietly_there(ask)
