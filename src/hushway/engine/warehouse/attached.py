"""A DuckDB database in a file: the DuckDB that reads everything opens it, and copies nothing."""

from typing import Final

import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession, quietly
from hushway.engine.session import ByExpression, Reading
from hushway.errors import DataError
from hushway.tables.layout import Layout

_NAME: Final = "warehouse"


class Attached:
    """A DuckDB database in a file, opened to be read only.

    Args:
        here: The DuckDB that opens it.
        url: Its address, such as "duckdb:///data/rows.counter".

    Raises:
        DataError: There is no such file, or it is in use.
    """

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
        """Returns the columns of a table; no row is read.

        Raises:
            DataError: There is no such table.
        """
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

        Raises:
            DataError: The table is not there any more.
        """
        columns = {
            name: f"CAST({name} AS VARCHAR) COLLATE C" if kind == "text" else name
            for name, kind in (
                (_identifier(layout.names[role]), kind) for role, kind in layout.kinds.items()
            )
        }
        listed = ", ".join(f"{value} AS {name}" for name, value in columns.items())
        session.give_view(f"SELECT {listed} FROM {_quoted(layout.files.table)}")  # noqa: S608  quoted

    def counted(self, _reading: Reading, _part: ByExpression[object]) -> None:
        """Counts nothing: what reads these rows is the engine that counts."""

    def close(self) -> None:
        """Leaves it to the DuckDB that opened it."""


def _quoted(table: str) -> str:
    return ".".join(_identifier(part) for part in (_NAME, *table.split(".")))


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
