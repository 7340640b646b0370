"""Published tables as CSV, streamed through Arrow, and the columns of labels that tables share."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.release.formats.places import number_array, numbers_of, text_array
from hushway.release.untrusted.limits import TABLE_BYTES, guarded, is_risky, open_plain, unguarded

_SPECIAL = frozenset('",\r\n')
_BLOCK = 1 << 24


def stream_csv(
    path: Path, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, labels: Iterable[str]
) -> None:
    """Writes batches with labelled columns as CSV, quoting text only if some label needs it.

    What a spreadsheet would run gets a quote in front.
    """
    labels = tuple(labels)
    plain = pa.schema([(field.name, _written_type(field.type)) for field in schema])
    quoted = any(_SPECIAL.intersection(label) or not label for label in labels)
    options = arrow_csv.WriteOptions(
        include_header=False, quoting_style="needed" if quoted else "none"
    )
    with pa.OSFile(str(path), "wb") as sink:
        sink.write(_header(schema))
        with arrow_csv.CSVWriter(sink, plain, write_options=options) as writer:
            for batch in batches:
                texts = _changed(batch, guarded) if any(map(is_risky, labels)) else batch
                columns = [column.cast(plain.field(i).type) for i, column in enumerate(texts)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=plain))


def read_batches(
    path: Path, schema: pa.Schema, *, labels: Iterable[str]
) -> Iterator[pa.RecordBatch]:
    """Yields the batches of a CSV file with the types of a schema; nothing is read as missing.

    Quotes in front of what a spreadsheet would run are taken away.

    Raises:
        ReleaseError: There are other columns, or text that a spreadsheet would run.
    """
    labels = tuple(labels)
    # Text that no label begins with is not in the public lists, whatever is done to it.
    risky = any(map(is_risky, labels))
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
        for batch in reader:
            yield _changed(batch, _checked) if risky else batch


def _changed(batch: pa.RecordBatch, change: Callable[[str], str]) -> pa.RecordBatch:
    """Returns a batch with every text in it changed."""
    columns = [_changed_column(column, change) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _changed_column(column: pa.Array, change: Callable[[str], str]) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        changed = _changed_column(column.dictionary, change)
        return pa.DictionaryArray.from_arrays(column.indices, changed)
    if pa.types.is_string(column.type):
        return text_array([change(text) for text in column.to_pylist()])
    return column


def _checked(text: str) -> str:
    plain = unguarded(text)
    if guarded(plain) != text:
        raise ReleaseError(
            "A CSV file holds text that a spreadsheet would run, or a quote too many before it.",
            advice="Do not open it in a spreadsheet; ask the publisher for an intact copy.",
        )
    return plain


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


BATCH_ROWS = 1 << 20


LABEL = pa.dictionary(pa.int32(), pa.string())


def labelled(positions: IntArray, labels: pa.Array) -> pa.DictionaryArray:
    """Returns an array that shows the label at each position."""
    return pa.DictionaryArray.from_arrays(number_array(positions.astype(np.int32)), labels)


def positions_among(column: pa.Array, labels: pa.Array) -> IntArray:
    """Returns the position of each label in a public list that is an Arrow array already.

    Raises:
        ReleaseError: A label is not in the list.
    """
    known = pc.SetLookupOptions(value_set=labels)
    if pa.types.is_dictionary(column.type):
        # A few thousand labels instead of millions of rows.
        distinct = pc.index_in(column.dictionary.cast(pa.string()), options=known)
        positions = distinct.take(column.indices)
    else:
        positions = pc.index_in(column.cast(pa.string()), options=known)
    if positions.null_count:
        raise ReleaseError(
            "A row names a place, a period or a class that is not in the public lists.",
            advice="The table and the public lists do not belong together.",
        )
    return numbers_of(positions).astype(np.int64)


def whole_column(column: pa.Array) -> NDArray[Any]:
    """Returns the numbers of a column.

    Raises:
        ReleaseError: One of them is missing.
    """
    if column.null_count:
        raise ReleaseError("A number is missing from a row.", advice="The table was rewritten.")
    return numbers_of(column)
