"""Public labels: every pair of places, or every period, in exactly one named class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.families.od.public.cells import ODCells
from hushway.privacy.public_facts import public_facts

Side = Literal["origin", "destination", "both"]

_SHOWN = 5
# A table of all combinations up to this size is quicker than sorting the ones that occur.
_MOST_COMBINATIONS = 1 << 26


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """A public partition of numbered things into named classes, none of them empty.

    Things are pairs of places, or periods, in the order of their numbers.

    Attributes:
        column: What the classes are called, such as "mode".
        codes: The class of each thing. The array cannot be written to.
        names: The names of the classes.
    """

    column: str
    codes: Int32Array
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        whole = self.codes.dtype == np.int32 and self.codes.ndim == 1 and len(self.codes) > 0
        if not whole or len(set(self.names)) != len(self.names):
            raise GeographyError(
                f"The labels {self.column!r} are not one class for each.",
                advice="Give every class a name of its own.",
            )
        used = np.bincount(self.codes, minlength=len(self.names)) if self.codes.min() >= 0 else ()
        if len(used) != len(self.names) or not np.all(used):
            raise GeographyError(
                f"The labels {self.column!r} have a class that nothing belongs to.",
                advice="Name the classes that occur, and no others.",
            )
        self.codes.flags.writeable = False

    def __len__(self) -> int:
        return len(self.names)


def labels_of_codes(column: str, codes: Int32Array, names: Sequence[str]) -> Labels:
    """Returns labels with the classes that occur, in the order of their names' list."""
    present, codes = _renumbered(codes, len(names))
    return Labels(column=column, codes=codes, names=tuple(names[i] for i in present))


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
    square = (len(labels), len(labels))
    if side == "origin":
        codes = pairs_of_matrix(cells, np.broadcast_to(of_place[:, None], square))
        return labels_of_codes(f"origin {column}", codes, names)
    if side == "destination":
        codes = pairs_of_matrix(cells, np.broadcast_to(of_place, square))
        return labels_of_codes(f"destination {column}", codes, names)
    both = of_place[:, None] * np.int32(len(names)) + of_place
    # Only the routes that occur get a name: there may be as many routes as pairs.
    present, codes = _renumbered(pairs_of_matrix(cells, both), len(names) ** 2)
    routes = tuple(f"{names[i // len(names)]} → {names[i % len(names)]}" for i in present)
    return Labels(column=f"{column} pair", codes=codes, names=routes)


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
            advice="Read the table of pairs with the same list of locations.",
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
    if cells.same_place:
        return flat
    # After the first entry of the diagonal the next ones stand at the end of rows one longer.
    places = len(matrix)
    return flat[1:].reshape(places - 1, places + 1)[:, :-1].reshape(-1)


def joint_codes(parts: Sequence[tuple[Int32Array, int]], length: int) -> tuple[Int32Array, int]:
    """Returns the common refinement of several partitions of the same things, and its size.

    Args:
        parts: Codes and number of classes of each partition; none at all makes one class.
        length: Number of things.
    """
    joint, size = np.zeros(length, dtype=np.int32), 1
    for codes, classes in parts:
        if size * classes <= _MOST_COMBINATIONS:
            combined = joint * np.int32(classes) + codes
            present = np.zeros(size * classes, dtype=np.bool_)
            present[combined] = True
            joint = (np.cumsum(present, dtype=np.int32) - np.int32(1))[combined]
            size = int(np.count_nonzero(present))
        else:
            wide = joint.astype(np.int64) * classes + codes
            seen, inverse = np.unique(wide, return_inverse=True)
            joint, size = inverse.astype(np.int32), len(seen)
    return joint, size


def _renumbered(codes: Int32Array, classes: int) -> tuple[list[int], Int32Array]:
    """Returns the classes that occur, and the codes counted among these alone."""
    occurs = np.bincount(codes, minlength=classes) > 0
    among = (np.cumsum(occurs) - 1).astype(np.int32)
    return np.flatnonzero(occurs).tolist(), among[codes]


def _refuse_unlabelled(cells: ODCells, column: str, labels: Sequence[str]) -> None:
    bare = [key for key, label in zip(cells.locations.ids, labels, strict=True) if not label]
    if bare:
        raise GeographyError(
            f"{len(bare):,} locations have no {column}: {', '.join(map(repr, bare[:_SHOWN]))}"
            f"{' and more' if len(bare) > _SHOWN else ''}.",
            advice=f"Give every location a {column}, or leave the feature out.",
        )


def _some_pairs(cells: ODCells, pairs: IntArray) -> str:
    # Pairs of the first period are numbered like cells.
    _, origin, destination = cells.decode(pairs[:_SHOWN])
    ids = cells.locations.ids
    some = [f"{ids[o]!r} to {ids[d]!r}" for o, d in zip(origin, destination, strict=True)]
    return ", ".join(some) + (" and more" if len(pairs) > _SHOWN else "")
