"""Published tables as CSV, rendered some rows at a time, and columns of labels.

No reader of these files is needed: a verifier renders them again and compares the bytes.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.release.formats.places import number_array, numbers_of, text_array
from hushway.release.untrusted.limits import guarded, is_risky

_SPECIAL = frozenset('",\r\n')
_ROWS_AT_ONCE = 1 << 16
_DECIMALS = 6


def table_csv(
    names: Sequence[str], batches: Iterable[pa.RecordBatch], *, labels: Iterable[str]
) -> Iterator[bytes]:
    """Yields batches as CSV, quoting text only if one of its labels needs it.

    Text that a spreadsheet would run gets a quote in front; numbers have six decimals at most.
    """
    labels = tuple(labels)
    risky = any(map(is_risky, labels))
    quoted = any(_SPECIAL.intersection(label) or not label for label in labels)
    options = arrow_csv.WriteOptions(
        include_header=False, quoting_style="needed" if quoted else "none"
    )
    yield (",".join(names) + "\n").encode()
    for batch in batches:
        for start in range(0, len(batch), _ROWS_AT_ONCE):
            columns = [_plain(one, risky=risky) for one in batch.slice(start, _ROWS_AT_ONCE)]
            sink = io.BytesIO()
            rows = pa.RecordBatch.from_arrays(columns, names=list(names))
            arrow_csv.write_csv(rows, sink, write_options=options)
            yield sink.getvalue()


def _plain(column: pa.Array, *, risky: bool) -> pa.Array:
    """Returns a column without a dictionary, its texts guarded if any label needs it."""
    if pa.types.is_dictionary(column.type):
        texts = _plain(column.dictionary, risky=risky)
        return texts.take(column.indices)
    if risky and pa.types.is_string(column.type):
        return text_array([guarded(text) for text in column.to_pylist()])
    return in_short(column)


def in_short(column: pa.Array) -> pa.Array:
    """Returns a column whose numbers have six decimals at most: nobody reads 5.642149668143987."""
    return pc.round(column, _DECIMALS) if pa.types.is_floating(column.type) else column


def labelled(positions: IntArray, labels: pa.Array) -> pa.DictionaryArray:
    """Returns an array that shows the label at each position."""
    return pa.DictionaryArray.from_arrays(number_array(positions.astype(np.int32)), labels)


def positions_among(column: pa.Array, labels: pa.Array) -> IntArray:
    """Returns the position of each label in a public list."""
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
    """Returns the numbers of a column."""
    if column.null_count:
        raise ReleaseError("A number is missing from a row.", advice="The table was rewritten.")
    return numbers_of(column)
