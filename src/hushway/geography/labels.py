"""Public labels: every pair of places, or every period, in exactly one named class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import Int32Array
from hushway.errors import GeographyError
from hushway.privacy.public_facts import public_facts

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
    present, codes = renumbered(codes, len(names))
    return Labels(column=column, codes=codes, names=tuple(names[i] for i in present))


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


def renumbered(codes: Int32Array, classes: int) -> tuple[list[int], Int32Array]:
    """Returns the classes that occur, and the codes counted among these alone."""
    occurs = np.bincount(codes, minlength=classes) > 0
    among = (np.cumsum(occurs) - 1).astype(np.int32)
    return np.flatnonzero(occurs).tolist(), among[codes]
