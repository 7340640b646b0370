"""Columns of published tables: labels of public lists, read and written in batches."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.release.formats.places import number_array, numbers_of

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
