"""Names of public things, beside the ids by which rows call them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hushway.arrays import IntArray
from hushway.errors import damaged
from hushway.geography.locations import Locations
from hushway.release.formats.columns import LABEL, Column
from hushway.release.formats.csv import labelled, positions_among
from hushway.release.formats.places import text_array


@dataclass(frozen=True, kw_only=True, eq=False)
class Names:
    """What people call public things.

    Attributes:
        texts: All distinct names.
        codes: For each thing the position of its name among them.
    """

    texts: tuple[str, ...]
    codes: IntArray

    def of(self, positions: IntArray) -> pa.DictionaryArray:
        """Returns the names of the things at some positions."""
        return labelled(self.codes[positions], text_array(self.texts))

    def check(self, column: pa.Array, positions: IntArray) -> None:
        """Makes sure that a column holds the names of the things at some positions.

        Raises:
            ReleaseError: It holds others.
        """
        found = positions_among(column, text_array(self.texts))
        if not np.array_equal(found, self.codes[positions]):
            raise damaged("A name in a row is not that of its id in the public lists.")


def names_beside(ids: Iterable[str], names: Sequence[str]) -> Names | None:
    """Returns the names of things; None if no name says more than the id does."""
    if not any(name and name != key for key, name in zip(ids, names, strict=True)):
        return None
    return names_of(names)


def names_of(names: Iterable[str]) -> Names:
    """Returns the names of things, each text once, as Parquet wants those of a dictionary."""
    code: dict[str, int] = {}
    codes = [code.setdefault(name, len(code)) for name in names]
    return Names(texts=tuple(code), codes=np.array(codes, dtype=np.int64))


def place_names(locations: Locations) -> Names | None:
    """Returns the names of places, if they have any."""
    return names_beside(locations.ids, [place.name for place in locations.places])


def name_column(of: str, what: str, names: Names | None) -> tuple[Column, ...]:
    """Returns the column that stands behind a column of ids, if there are names."""
    return () if names is None else (Column(f"{of}_name", LABEL, f"Name of the {what}."),)
