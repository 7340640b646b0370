"""Names of tables, where the name of a file could be: "table:schema.trips"."""

from pathlib import Path
from typing import Final

from hushway.errors import DataError

_TABLE: Final = "table:"


def table_of(path: Path | str) -> str | None:
    """Returns the name of a table, such as "schema.trips"; None for files."""
    name = str(path)
    return name.removeprefix(_TABLE).strip() if name.startswith(_TABLE) else None


def refuse_table(path: Path | str, noun: str) -> None:
    """Refuses a table where files are read.

    Raises:
        DataError: It is one.
    """
    if table_of(path) is not None:
        raise DataError(
            f"The {noun} are a table of a warehouse or a cluster, and this engine reads files.",
            advice='Set kind = "warehouse" and url in [engine], or kind = "spark"; or name a file.',
        )


def needed_table(path: Path | str, noun: str) -> str:
    """Returns the name of a table, where no files are read.

    Raises:
        DataError: It is none.
    """
    table = table_of(path)
    if not table:
        raise DataError(
            f"The engine is a warehouse, and the {noun} are not named as a table of it.",
            advice='Name them as "table:schema.name", or set kind = "duckdb" in [engine].',
        )
    return table
