"""A warehouse that Ibis has a driver for: rows are brought from it, or counted in it."""

from functools import cached_property
from typing import Any, Final, TypeVar

import ibis
import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession
from hushway.engine.session import ByExpression, Reading
from hushway.engine.warehouse.connection import Connection
from hushway.engine.warehouse.postgresql import can_count
from hushway.engine.warehouse.typed import brought, instants, rows_between
from hushway.tables.layout import Layout

T = TypeVar("T")

_UTC: Final = ("UTC", "Etc/UTC")


class Remote:
    """A warehouse at work.

    Args:
        url: Its address.

    Raises:
        DataError: It may not be used, does not answer, or its driver is missing.
    """

    def __init__(self, url: str) -> None:
        self._connection = Connection(url)

    def schema(self, table: str) -> pa.Schema:
        """Returns the columns of a table; no row is read.

        Raises:
            DataError: There is no such table.
        """
        schema = self._connection.table(table).schema().to_pyarrow()
        return instants(schema) if self._shows_instants else schema

    def give(
        self, session: EmbeddedSession, layout: Layout, span_us: tuple[int, int] | None
    ) -> None:
        """Brings the rows of a table, only the columns and the span of time that are needed.

        Raises:
            DataError: The warehouse cannot give them, or there is no room for them here.
        """
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

    def counted(self, reading: Reading, part: ByExpression[T]) -> T | None:
        """Returns what is counted inside the warehouse.

        None stands for what is to be done here: where the warehouse is of a kind that was not
        compared, or has columns that it may read or compare otherwise.

        Raises:
            DataError: The warehouse cannot count.
        """
        layout = reading.layout
        if layout is None or reading.place is None or not self._can_count(layout):
            return None
        connection = self._connection
        between = rows_between(connection.table(layout.files.table), layout)

        def stored(start_us: int, end_us: int) -> ibis.Table:
            # Once for all: engines work times out again at every place that names them.
            return connection.store("trips", between(start_us, end_us))

        found = connection.fetch(part.expression(reading.place(connection, stored)))
        columns: dict[str, Any] = {name: found[name].to_numpy() for name in found.column_names}
        return part.found(columns)

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
