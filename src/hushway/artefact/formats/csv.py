"""OD tables as CSV, streamed through Arrow."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv

from hushway.artefact.bounded import TABLE_BYTES, open_plain
from hushway.artefact.formats.rows import COLUMNS, SCHEMA, Rows, batches_of, from_arrow, to_arrow
from hushway.errors import ReleaseError
from hushway.geography.od import ODCells
from hushway.releases.od.table import ODTable

_SPECIAL = frozenset('",\r\n')
_BLOCK = 1 << 24


def write_csv(table: ODTable, path: Path) -> None:
    """Writes a table as one CSV file."""
    batches = (to_arrow(table.universe, rows) for rows in batches_of(table))
    stream_csv(path, SCHEMA, batches, labels=labels_of(table.universe))


def read_csv(path: Path, universe: ODCells) -> Iterator[Rows]:
    """Yields the rows of a CSV file, some at a time.

    Raises:
        ReleaseError: A label is not in the public lists.
    """
    for batch in read_batches(path, SCHEMA, labels=labels_of(universe)):
        yield from_arrow(universe, batch.select(list(COLUMNS)))


def labels_of(universe: ODCells) -> tuple[str, ...]:
    """Returns every text that can appear in a row."""
    return universe.locations.ids + universe.periods.labels


def stream_csv(
    path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, labels: Iterable[str]
) -> None:
    """Writes batches with labelled columns as CSV, quoting text only if some label needs it."""
    plain = pa.schema([(field.name, _written_type(field.type)) for field in schema])
    quoted = any(_SPECIAL.intersection(label) or not label for label in labels)
    options = arrow_csv.WriteOptions(
        include_header=False, quoting_style="needed" if quoted else "none"
    )
    with pa.OSFile(str(path), "wb") as sink:
        sink.write(_header(schema))
        with arrow_csv.CSVWriter(sink, plain, write_options=options) as writer:
            for batch in batches:
                columns = [column.cast(plain.field(i).type) for i, column in enumerate(batch)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=plain))


def read_batches(
    path: Path, schema: pa.Schema, *, labels: Iterable[str]
) -> Iterator[pa.RecordBatch]:
    """Yields the batches of a CSV file with the types of a schema; nothing is read as missing."""
    reading = arrow_csv.ConvertOptions(
        column_types=schema, null_values=[], strings_can_be_null=False
    )
    several_lines = any("\n" in label or "\r" in label for label in labels)
    parsing = arrow_csv.ParseOptions(newlines_in_values=several_lines)
    # Lists of labels are searched once a block, so that blocks must not be too small.
    blocks = arrow_csv.ReadOptions(block_size=_BLOCK)
    _check_header(path, schema)
    with arrow_csv.open_csv(
        path, read_options=blocks, parse_options=parsing, convert_options=reading
    ) as reader:
        yield from reader


def _header(schema: pa.Schema) -> bytes:
    return (",".join(schema.names) + "\n").encode()


def _check_header(path: Path, schema: pa.Schema) -> None:
    """Makes sure of the columns before a reader makes room for each that a stranger names."""
    header = _header(schema)
    with open_plain(path, TABLE_BYTES) as file:
        if file.read(len(header)) != header:
            raise ReleaseError(
                f"The columns of {path.name} are not {', '.join(schema.names)}.",
                advice="The table was rewritten.",
            )


def _written_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
