"""Reads the public labels of pairs of places. Public, so its errors may name ids and rows."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.families.od.public.text_columns import TextColumn, read_text_columns
from hushway.geography.locations import Locations

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
        locations: The public places.
        column: The column of the labels, such as "mode".
        origin: The column of the origins' ids.
        destination: The column of the destinations' ids.

    Raises:
        GeographyError: The file cannot be used; the message says where it is wrong.
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
            f"locations: {_some(unknown)}.",
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
