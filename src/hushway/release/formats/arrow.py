"""Between numpy and Arrow, by sharing memory.

`pyarrow.array` and `to_numpy` would load pandas first, which takes longer than a verification.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_KINDS: dict[Any, Any] = {
    np.dtype(np.int32): pa.int32(),
    np.dtype(np.int64): pa.int64(),
    np.dtype(np.float64): pa.float64(),
}


def number_array(numbers: NDArray[Any]) -> pa.Array:
    """Returns numbers as an Arrow array."""
    plain = np.ascontiguousarray(numbers)
    return pa.Array.from_buffers(_KINDS[plain.dtype], len(plain), [None, pa.py_buffer(plain)])


def text_array(texts: Sequence[str]) -> pa.Array:
    """Returns texts as an Arrow array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)]).astype(np.int32)
    return pa.StringArray.from_buffers(
        len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))
    )


def numbers_of(column: pa.Array) -> NDArray[Any]:
    """Returns the numbers of an Arrow array without missing values."""
    kind = column.type.to_pandas_dtype()
    whole = np.frombuffer(column.buffers()[1] or b"", dtype=kind)
    return whole[column.offset : column.offset + len(column)]
