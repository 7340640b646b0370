"""The columns of a published table: one value from which schemas and the data package follow."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import ReleaseError, damaged
from hushway.release.untrusted.parquet import open_parquet

LABEL = pa.dictionary(pa.int32(), pa.string())
TEXT, WHOLE, NUMBER, WKB = pa.string(), pa.int64(), pa.float64(), pa.binary()
MOMENT = pa.timestamp("ms")
BATCH_ROWS = 1 << 20

_TYPES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_dictionary, "string"),
    (pa.types.is_string, "string"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "number"),
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_date, "date"),
    (pa.types.is_timestamp, "datetime"),
    (pa.types.is_list, "array"),
    (pa.types.is_binary, "any"),
)


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        name: What it is called in every format.
        kind: Its Arrow type.
        words: What it holds, with its unit.
        optional: Whether values may be missing.
        described_as: Its type in the data package, where that is not the one of its kind.
    """

    name: str
    kind: pa.DataType
    words: str
    optional: bool = False
    described_as: str | None = None

    @property
    def described(self) -> dict[str, str]:
        """What a data package says about it."""
        found = (name for is_kind, name in _TYPES if is_kind(self.kind))
        kind = self.described_as or next(found)
        return {"name": self.name, "type": kind, "description": self.words}


@dataclass(frozen=True)
class Columns:
    """The columns of a table, in order, and those that name a row."""

    columns: tuple[Column, ...]
    key: Sequence[str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(column.name for column in self.columns)

    @property
    def schema(self) -> pa.Schema:
        """The columns as an Arrow schema."""
        return pa.schema([pa.field(one.name, one.kind, one.optional) for one in self.columns])

    @property
    def described(self) -> dict[str, Any]:
        """The columns as a Frictionless table schema."""
        schema: dict[str, Any] = {"fields": [column.described for column in self.columns]}
        return schema if self.key is None else {**schema, "primaryKey": list(self.key)}

    def with_kinds(self, **kinds: pa.DataType) -> "Columns":
        """Returns the same columns, some of them of another kind."""
        changed = (replace(one, kind=kinds.get(one.name, one.kind)) for one in self.columns)
        return Columns(tuple(changed), self.key)

    def and_also(self, *further: Column) -> "Columns":
        """Returns the same columns with further ones behind them."""
        return Columns((*self.columns, *further), self.key)


def table_columns(*columns: Column, key: Sequence[str] | None = None) -> Columns:
    """Returns the columns of a table, and which of them name a row."""
    return Columns(columns, key)


def write_parquet(
    path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], **options: Any
) -> None:
    """Writes batches as one Parquet file, a row group each."""
    with pq.ParquetWriter(path, schema, compression="zstd", **options) as writer:
        for batch in batches:
            writer.write_batch(batch)


def rows_in_order(
    path: Path, schema: pa.Schema, rows: int
) -> Iterator[tuple[slice, pa.RecordBatch]]:
    """Yields the batches of a stranger's Parquet file, each with the rows that it holds."""
    row = 0
    with open_parquet(path, schema, rows=rows) as file:
        if file.metadata.num_rows != rows:
            raise out_of_order(path)
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            if row + len(batch) > rows:
                raise out_of_order(path)
            yield slice(row, row + len(batch)), batch
            row += len(batch)
    if row != rows:
        raise out_of_order(path)


def out_of_order(path: Path) -> ReleaseError:
    """Returns the error of a table whose rows are not those that the public lists give."""
    return damaged(
        f"{path.name} does not hold one row for everything in the public lists, in order."
    )
