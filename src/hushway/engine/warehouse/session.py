"""Protected rows that a warehouse holds: counted there where that is known to be the same."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol, TypeVar

import ibis
import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession, embedded_session, quietly
from hushway.engine.session import Part, Reading, Sums
from hushway.engine.settings import EngineSettings, Warehouse
from hushway.engine.warehouse.connection import scheme_of
from hushway.engine.warehouse.remote import Remote
from hushway.errors import DataError
from hushway.progress import ShareProgress
from hushway.tables.layout import Layout, Source, layout_of_table
from hushway.tables.row_files import needed_table

T = TypeVar("T")


class Holder(Protocol):
    """A warehouse, as far as rows are concerned."""

    def schema(self, table: str) -> pa.Schema:
        """Returns the columns of a table; no row is read."""
        ...

    def give(
        self, session: EmbeddedSession, layout: Layout, span_us: tuple[int, int] | None
    ) -> None:
        """Lets rows of a table stand for those of files; those outside a span may be left out."""
        ...

    def counted(self, reading: Reading) -> Sums | None:
        """Returns what is counted inside the warehouse; None if that is to be done here."""
        ...

    def close(self) -> None:
        """Ends it."""
        ...


class WarehouseSession(EmbeddedSession):
    """A DuckDB beside a warehouse. A `hushway.engine.session.Session`.

    The columns that are needed are brought here and read as those of files are, so that every
    family works, and alike. Trips are counted in the warehouse where the suite has run.

    Privacy:
        The warehouse belongs to those who hold the rows. Where it counts, it is told the bounding
        key within its query, and hands back exact bounded counts.
    """

    def __init__(self, here: EmbeddedSession, there: Holder) -> None:
        super().__init__(here.backend, here.settings)
        self._there = there
        self._brought: tuple[Layout, tuple[int, int] | None] | None = None

    def layout(self, source: Source) -> Layout:
        """Returns the columns of the source's table; no row is read."""
        table = needed_table(source.path, source.noun)
        return layout_of_table(table, self._there.schema(table), source)

    def rows(self, reading: Reading) -> ibis.Table:
        """Returns all rows, to be looked at by expressions."""
        layout = reading.layout
        if layout is None:
            raise DataError(
                "MDS and GPX files are read on one machine only, and by no warehouse.",
                advice='Set kind = "duckdb" in [engine], or put the rows into a table.',
            )
        # All rows that are here already serve for any span.
        if self._brought not in ((layout, None), (layout, reading.span_us)):
            self._there.give(self, layout, reading.span_us)
            self._brought = layout, reading.span_us
        return super().rows(reading)

    def count(self, reading: Reading, part: Part[T], progress: ShareProgress | None = None) -> T:
        """Returns what is counted of all people, in the warehouse if it can."""
        sums = self._there.counted(reading)
        if sums is not None:
            return part.counted(sums)
        return super().count(reading, part, progress)


@contextmanager
def warehouse_session(settings: EngineSettings, warehouse: Warehouse) -> Iterator[WarehouseSession]:
    """Opens a warehouse for one piece of work."""
    with embedded_session(settings) as here:
        there: Holder = (
            Attached(here, warehouse.url)
            if scheme_of(warehouse.url) == "duckdb"
            else Remote(warehouse.url)
        )
        try:
            yield WarehouseSession(here, there)
        finally:
            there.close()


_NAME: Final = "warehouse"


class Attached:
    """A DuckDB database in a file, opened to be read only."""

    def __init__(self, here: EmbeddedSession, url: str) -> None:
        self._here = here
        file = url.partition("://")[2].replace("'", "''")
        opened = False
        try:
            quietly(lambda: here.backend.con.execute(f"ATTACH '{file}' AS {_NAME} (READ_ONLY)"))
            opened = True
        except DataError:
            pass
        if not opened:
            raise DataError(
                "The DuckDB database cannot be opened.",
                advice="Check the path in url, and that nobody has it open to write.",
            )

    def schema(self, table: str) -> pa.Schema:
        """Returns the columns of a table; no row is read."""
        query = f"SELECT * FROM {_quoted(table)} LIMIT 0"  # noqa: S608  quoted
        return quietly(lambda: self._here.backend.con.execute(query).to_arrow_table().schema)

    def give(
        self, session: EmbeddedSession, layout: Layout, _span_us: tuple[int, int] | None
    ) -> None:
        """Lets rows of a table stand for those of files, without copying them.

        All of them: none travels, and the engine that reads them looks at their times anyway.

        Privacy:
            Texts are told apart exactly, whatever collation the table gives them: two people who
            share a limit are not bounded one by one.
        """
        columns = {
            name: f"CAST({name} AS VARCHAR) COLLATE C" if kind == "text" else name
            for name, kind in (
                (_identifier(layout.names[role]), kind) for role, kind in layout.kinds.items()
            )
        }
        listed = ", ".join(f"{value} AS {name}" for name, value in columns.items())
        session.give_view(f"SELECT {listed} FROM {_quoted(layout.files.table)}")  # noqa: S608  quoted

    def counted(self, _reading: Reading) -> None:
        """Counts nothing: what reads these rows is the engine that counts."""

    def close(self) -> None:
        """Leaves it to the DuckDB that opened it."""


def _quoted(table: str) -> str:
    return ".".join(_identifier(part) for part in (_NAME, *table.split(".")))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
