"""Reads the public labels of pairs of places. Public, so its errors may name ids and rows."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.geography.locations import Locations
from hushway.tables.first_lines import read_header
from hushway.tables.unpacking import refuse_unfit

_TEXTS = pa.dictionary(pa.int32(), pa.string())
_DAMAGED = (OSError, EOFError, UnicodeDecodeError, csv.Error, pa.ArrowException)


@dataclass(frozen=True, kw_only=True, eq=False)
class TextColumn:
    """A column of texts.

    Attributes:
        codes: Which of the texts each row holds.
        texts: The texts that occur; a missing value is an empty one.
    """

    name: str
    codes: Int32Array
    texts: tuple[str, ...]


def read_text_columns(file: Path, names: Sequence[str]) -> tuple[TextColumn, ...]:
    """Reads columns of a CSV or Parquet file."""
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
            advice=f"Its columns are: {some_of(header) or 'none'}.",
        )
    twice = [name for name in names if list(header).count(name) > 1]
    if twice:
        raise GeographyError(
            f"The file {file.name} has two columns {some_of(map(repr, twice))}.",
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


_SHOWN = 5


class PairLabels(NamedTuple):
    """What pairs of places are labelled with.

    Attributes:
        matrix: Number of the label by (origin, destination); -1 where the table says nothing.
        names: The labels that occur, sorted.
    """

    matrix: Int32Array
    names: tuple[str, ...]


def read_pairs(
    path: Path | str,
    locations: Locations,
    *,
    column: str,
    origin: str = "origin",
    destination: str = "destination",
) -> PairLabels:
    """Reads one label of each (origin, destination) from a table of pairs.

    A pair may be left out, and may be there twice with the same label. Ids are compared as text.

    Args:
        path: A .csv, .csv.gz, .parquet or .pq file with one row a pair.
        column: The column of the labels, such as "mode".
        origin: The column of the origins' ids.
        destination: The column of the destinations' ids.
    """
    file = Path(path)
    starts, ends, labels = read_text_columns(file, (origin, destination, column))
    if not len(labels.codes):
        raise GeographyError(
            f"The table of pairs {file.name} is empty.",
            advice="Give a row for every pair of places that trips may make.",
        )
    pair = _places(file, locations, starts) * len(locations)
    pair += _places(file, locations, ends)
    names, codes = _labelled(file, labels)
    matrix = np.full(len(locations) ** 2, -1, dtype=np.int32)
    matrix[pair] = codes
    # Of several rows of a pair one has won; any other label of the pair differs from it.
    torn = np.unique(pair[matrix[pair] != codes])
    if len(torn):
        raise GeographyError(
            f"Pairs in {file.name} have more than one {column}: {_pairs(locations, torn)}.",
            advice=f"Give every pair one {column}.",
        )
    return PairLabels(matrix=matrix.reshape(len(locations), len(locations)), names=names)


def _places(file: Path, locations: Locations, ids: TextColumn) -> IntArray:
    """Returns the index of the place in each row."""
    unknown = [repr(text) for text in ids.texts if text not in locations.index]
    if unknown:
        raise GeographyError(
            f"The column {ids.name!r} of {file.name} names places that are not in the list of "
            f"places: {_some(unknown)}.",
            advice="Leave these rows out, or add the places to the list.",
        )
    return np.array([locations.index[text] for text in ids.texts], dtype=np.int64)[ids.codes]


def _labelled(file: Path, labels: TextColumn) -> tuple[tuple[str, ...], Int32Array]:
    """Returns the labels in order, and the number of the label in each row."""
    bare = [i for i, text in enumerate(labels.texts) if not text]
    if bare:
        rows = np.flatnonzero(np.isin(labels.codes, bare)) + 1
        raise GeographyError(
            f"Rows of {file.name} have no {labels.name}: "
            f"{_some([f'row {row}' for row in rows[: _SHOWN + 1]], len(rows))}.",
            advice=f"Give every row a {labels.name}; the first row is the one after the header.",
        )
    names = tuple(sorted(set(labels.texts)))
    number = {name: code for code, name in enumerate(names)}
    return names, np.array([number[text] for text in labels.texts], dtype=np.int32)[labels.codes]


def _pairs(locations: Locations, pairs: IntArray) -> str:
    ends = (divmod(int(pair), len(locations)) for pair in pairs[:_SHOWN])
    ids = locations.ids
    return _some([f"{ids[start]!r} to {ids[end]!r}" for start, end in ends], len(pairs))


def _some(names: list[str], count: int | None = None) -> str:
    count = len(names) if count is None else count
    shown = ", ".join(names[:_SHOWN])
    return shown if count <= _SHOWN else f"{shown} and {count - _SHOWN:,} more"
