"""Reads columns of a public table as text: every distinct text once, and a number a row."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from hushway.arrays import Int32Array
from hushway.errors import GeographyError
from hushway.tables.csv_header import read_header
from hushway.tables.unpacking import refuse_unfit

_TEXTS = pa.dictionary(pa.int32(), pa.string())
_DAMAGED = (OSError, EOFError, UnicodeDecodeError, csv.Error, pa.ArrowException)


@dataclass(frozen=True, kw_only=True, eq=False)
class TextColumn:
    """A column of texts.

    Attributes:
        name: What it is called.
        codes: Which of the texts each row holds.
        texts: The texts that occur; a missing value is an empty one.
    """

    name: str
    codes: Int32Array
    texts: tuple[str, ...]


def read_text_columns(file: Path, names: Sequence[str]) -> tuple[TextColumn, ...]:
    """Reads columns of a CSV or Parquet file.

    Args:
        file: A .csv, .csv.gz, .parquet or .pq file.
        names: The columns.

    Raises:
        GeographyError: The file cannot be read, lacks a column, or one holds neither text nor
            whole numbers.
    """
    if len(set(names)) != len(names):
        raise GeographyError(
            f"A column of {file.name} is named for two purposes: {', '.join(names)}.",
            advice="Name three different columns.",
        )
    is_csv = file.name.endswith((".csv", ".csv.gz"))
    if not is_csv and file.suffix not in {".parquet", ".pq"}:
        raise GeographyError(
            f"The file {file.name} has an unknown format.",
            advice="Give a .csv, .csv.gz, .parquet or .pq file.",
        )
    refuse_unfit(file)
    try:
        table = _csv(file, names) if is_csv else _parquet(file, names)
    except FileNotFoundError:
        raise GeographyError(f"There is no file {file.name}.", advice="Check its path.") from None
    except pa.ArrowInvalid as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise _unreadable(f"The file {file.name} cannot be read: {reason}.") from None
    except _DAMAGED:
        raise _unreadable(f"The file {file.name} cannot be read.") from None
    return tuple(_text_column(file, name, table.column(name)) for name in names)


def _csv(file: Path, names: Sequence[str]) -> pa.Table:
    delimiter, header = read_header(file)
    _check_names(file, header, names)
    return arrow_csv.read_csv(
        file,
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(names),
            column_types=dict.fromkeys(names, _TEXTS),
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _parquet(file: Path, names: Sequence[str]) -> pa.Table:
    _check_names(file, pq.read_schema(file).names, names)
    with pq.ParquetFile(file, read_dictionary=list(names)) as parquet:
        return parquet.read(columns=list(names))


def _check_names(file: Path, header: Sequence[str], names: Sequence[str]) -> None:
    missing = [name for name in names if name not in header]
    if missing:
        raise GeographyError(
            f"The file {file.name} has no column {', '.join(map(repr, missing))}.",
            advice=f"Its columns are: {', '.join(header) or 'none'}.",
        )
    twice = [name for name in names if list(header).count(name) > 1]
    if twice:
        raise GeographyError(
            f"The file {file.name} has two columns {', '.join(map(repr, twice))}.",
            advice="Give every column a name of its own.",
        )


def _unreadable(message: str) -> GeographyError:
    return GeographyError(
        message,
        advice="Check that it is whole, in UTF-8, and that every row has the fields of the first.",
    )


def _text_column(file: Path, name: str, column: pa.ChunkedArray) -> TextColumn:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not text and not pa.types.is_string_view(kind) and not pa.types.is_integer(kind):
        raise GeographyError(
            f"The column {name!r} of {file.name} holds neither text nor whole numbers.",
            advice="Write 7 or '7', not 7.0: ids and labels are compared as text.",
        )
    encoded = column.unify_dictionaries() if kind != column.type else column.dictionary_encode()
    whole = encoded.combine_chunks()
    texts = [*whole.dictionary.cast(pa.string()).to_pylist(), ""]
    return _without_unused(name, _numbers(whole.indices.cast(pa.int32()), len(texts) - 1), texts)


def _without_unused(name: str, codes: Int32Array, texts: Sequence[str]) -> TextColumn:
    used = np.bincount(codes, minlength=len(texts)) > 0
    renumber = (np.cumsum(used) - 1).astype(np.int32)
    kept = tuple(text for text, occurs in zip(texts, used, strict=True) if occurs)
    return TextColumn(name=name, codes=renumber[codes], texts=kept)


def _numbers(column: pa.Array, missing: int) -> Int32Array:
    # Without a need neither `fill_null` nor `to_numpy` is called: both load pandas first, which
    # takes longer than reading the table.
    full = column.fill_null(missing) if column.null_count else column
    whole = np.frombuffer(full.buffers()[1] or b"", dtype=np.int32)
    return whole[full.offset : full.offset + len(full)]
