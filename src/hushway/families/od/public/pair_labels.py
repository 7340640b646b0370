"""Labels of pairs of places, from public columns and public tables of pairs."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Labels, PairEnds, labels_of_codes, renumbered

Side = Literal["origin", "destination", "both"]

_SHOWN = 5


def place_pair_labels(
    cells: ODCells, column: str, labels: Sequence[str], *, side: Side = "both"
) -> Labels:
    """Returns what pairs of places are called by a label of their places, such as zone to zone.

    Args:
        cells: The universe.
        column: The name of the places' column.
        labels: The label of every place, in index order.
        side: Which end of the pair counts.

    Raises:
        GeographyError: A place has no label.
    """
    _refuse_unlabelled(cells, column, labels)
    names = sorted(set(labels))
    index = {name: code for code, name in enumerate(names)}
    of_place = np.array([index[label] for label in labels], dtype=np.int32)
    alike = np.zeros_like(of_place)
    origin, destination = {
        "origin": (of_place, alike),
        "destination": (alike, of_place),
        "both": (of_place, of_place),
    }[side]
    width = int(destination.max()) + 1
    every = origin[:, None] * np.int32(width) + destination
    # Only the routes that occur get a name: there may be as many routes as pairs.
    classes = int(origin.max() + 1) * width
    present, codes = renumbered(pairs_of_matrix(cells, every), classes)
    between = np.full(classes, -1, dtype=np.int32)
    between[present] = np.arange(len(present), dtype=np.int32)
    return Labels(
        column=f"{column} pair" if side == "both" else f"{side} {column}",
        codes=codes,
        names=tuple(
            f"{names[i // width]} → {names[i % width]}" if side == "both" else names[i]
            for i in present
        ),
        ends=PairEnds(origin=origin, destination=destination, between=between.reshape(-1, width)),
    )


def pair_table_labels(
    cells: ODCells, column: str, matrix: Int32Array, names: Sequence[str]
) -> Labels:
    """Returns the labels of pairs given as a matrix (origin, destination) of codes; -1 is none.

    Raises:
        GeographyError: The matrix is not one of these places, or a pair that has cells has no
            label.
    """
    places = len(cells.locations)
    if matrix.shape != (places, places) or matrix.max() >= len(names):
        raise GeographyError(
            f"The table of pairs does not say which {column} these places have.",
            advice="Read the table of pairs with the same list of places.",
        )
    codes = pairs_of_matrix(cells, matrix)
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise GeographyError(
            f"{len(missing):,} pairs of places have no {column}: {_some_pairs(cells, missing)}.",
            advice=f"Give every pair that trips may make a {column}.",
        )
    return labels_of_codes(column, codes, names)


def every_period(cells: ODCells) -> Labels:
    """Returns each period as a class of its own."""
    names = cells.periods.labels
    return Labels(column="period", codes=np.arange(len(names), dtype=np.int32), names=names)


def pairs_of_matrix(cells: ODCells, matrix: NDArray[Any]) -> NDArray[Any]:
    """Returns the entries of a matrix (origin, destination), in the order of pair numbers."""
    flat = np.ascontiguousarray(matrix).reshape(-1)
    if cells.include_intrazonal:
        return flat
    # After the first entry of the diagonal the next ones stand at the end of rows one longer.
    places = len(matrix)
    return flat[1:].reshape(places - 1, places + 1)[:, :-1].reshape(-1)


def _refuse_unlabelled(cells: ODCells, column: str, labels: Sequence[str]) -> None:
    bare = [key for key, label in zip(cells.locations.ids, labels, strict=True) if not label]
    if bare:
        raise GeographyError(
            f"{len(bare):,} places have no {column}: {', '.join(map(repr, bare[:_SHOWN]))}"
            f"{' and more' if len(bare) > _SHOWN else ''}.",
            advice=f"Give every place a {column}, or leave the published total out.",
        )


def _some_pairs(cells: ODCells, pairs: IntArray) -> str:
    # Pairs of the first period are numbered like cells.
    _, origin, destination = cells.decode(pairs[:_SHOWN])
    ids = cells.locations.ids
    some = [f"{ids[o]!r} to {ids[d]!r}" for o, d in zip(origin, destination, strict=True)]
    return ", ".join(some) + (" and more" if len(pairs) > _SHOWN else "")
