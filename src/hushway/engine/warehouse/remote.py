"""A warehouse that Ibis has a driver for: rows are brought from it, or counted in it."""

from functools import cached_property
from typing import Final

import ibis
import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession
from hushway.engine.session import Reading, Sums, sums_of_columns
from hushway.engine.warehouse.connection import Connection, quietly_there
from hushway.engine.warehouse.typed import brought, instants, rows_between
from hushway.tables.layout import Layout

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
