"""A public tree over the locations: lines of stations, zones of stops, and groups of groups.

Every location lies in exactly one group of every level. That makes the nodes of a prefix tree
disjoint at every granularity, which its privacy rests on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.geography.labels import Labels
from hushway.geography.locations import Locations
from hushway.privacy.digest import digest_of
from hushway.privacy.public_facts import public_facts

LOCATION = "location"
"""What the finest granularity is called."""


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Taxonomy:
    """Levels of groups, from the coarsest to the locations themselves.

    Groups are numbered so that the children of a group have consecutive numbers: a path down the
    tree is a choice within a short range at every level.

    Attributes:
        locations: The public places.
        levels: The groups of each level above the locations, the coarsest first; each level refines
            the one before it. Without levels the tree is simple: locations only.
    """

    locations: Locations
    levels: tuple[Labels, ...] = ()

    def __post_init__(self) -> None:
        names = [level.column for level in self.levels]
        if len({*names, LOCATION}) != len(names) + 1:
            raise GeographyError(
                "Levels of a taxonomy need names of their own, other than 'location'.",
                advice="Rename the columns that the levels are made of.",
            )
        for level in self.levels:
            if len(level.codes) != len(self.locations):
                raise GeographyError(
                    f"The level {level.column!r} does not give every location a group.",
                    advice="Give one group for each location, in their order.",
                )
        for above, below in zip(self.levels, self.levels[1:], strict=False):
            _refuse_straddling(self.locations, above, below)

    @property
    def grains(self) -> int:
        """Number of granularities, the locations included."""
        return len(self.levels) + 1

    def size(self, grain: int) -> int:
        """Returns the number of groups at a granularity, from 0 (coarsest) to grains - 1."""
        return len(self.locations) if grain == len(self.levels) else len(self.levels[grain])

    def codes(self, grain: int) -> IntArray:
        """Returns the number of every location's group at a granularity."""
        return self._numbers[grain]

    def first_child(self, grain: int) -> IntArray:
        """Returns, for each group of granularity grain - 1, the number of its first child.

        One entry more than groups: children of group g are first[g] to first[g + 1] - 1. At
        granularity 0 the only parent is the root.
        """
        return self._first[grain]

    def location_of(self, code: IntArray) -> IntArray:
        """Returns the index of each location, given its number at the finest granularity."""
        return self._in_order[code]

    @cached_property
    def digest(self) -> str:
        """A digest of locations and groups."""
        levels = [[level.column, list(level.names), level.codes.tolist()] for level in self.levels]
        return digest_of({"locations": self.locations.digest, "levels": levels})

    @cached_property
    def _in_order(self) -> IntArray:
        """The locations, ordered by their groups from the coarsest level down."""
        places = np.arange(len(self.locations), dtype=np.int32)
        coarsest_last = [places, *(level.codes for level in reversed(self.levels))]
        return np.lexsort(np.stack(coarsest_last))

    @cached_property
    def _numbers(self) -> tuple[IntArray, ...]:
        order = self._in_order
        numbers = []
        for level in self.levels:
            code = np.empty(len(order), dtype=np.int64)
            code[order] = _runs(level.codes[order])
            numbers.append(code)
        finest = np.empty(len(order), dtype=np.int64)
        finest[order] = np.arange(len(order))
        return (*numbers, finest)

    @cached_property
    def _first(self) -> tuple[IntArray, ...]:
        order = self._in_order
        firsts = [np.array([0, self.size(0)], dtype=np.int64)]
        for grain in range(1, self.grains):
            parents, children = self._numbers[grain - 1][order], self._numbers[grain][order]
            begins = np.flatnonzero(np.diff(parents, prepend=-1))
            firsts.append(np.append(children[begins], self.size(grain)).astype(np.int64))
        return tuple(firsts)


def _runs(codes: Int32Array) -> IntArray:
    """Numbers the runs of equal codes in a list."""
    return np.cumsum(np.diff(codes, prepend=codes[0]) != 0).astype(np.int64)


def _refuse_straddling(locations: Locations, above: Labels, below: Labels) -> None:
    """Refuses a level whose groups do not each lie inside one group of the level above."""
    group_of: dict[int, int] = {}
    astray: list[str] = []
    pairs: Sequence[tuple[int, int]] = list(
        zip(below.codes.tolist(), above.codes.tolist(), strict=True)
    )
    for place, (small, large) in zip(locations.ids, pairs, strict=True):
        if group_of.setdefault(small, large) != large:
            astray.append(repr(place))
    if astray:
        raise GeographyError(
            f"Groups of {below.column!r} lie in several groups of {above.column!r}, because of "
            f"{', '.join(astray[:5])}{' and more' if len(astray) > 5 else ''}.",  # noqa: PLR2004
            advice="Give levels from the coarsest to the finest, each inside the one before.",
        )


_SHOWN = 5


def column_taxonomy(locations: Locations, columns: Sequence[str]) -> Taxonomy:
    """Returns the taxonomy that columns of the locations make.

    Args:
        locations: The public places, with the labels of these columns.
        columns: The columns, from the coarsest to the finest: districts before zones.

    Raises:
        GeographyError: A column is missing, a location has no label in it, or the groups of one
            column do not lie inside those of the column before.
    """
    if len(set(columns)) != len(columns):
        raise GeographyError(
            "A column makes two levels of the taxonomy.", advice="Name every column once."
        )
    levels = tuple(place_level(locations, name, locations.labels_in(name)) for name in columns)
    return Taxonomy(locations=locations, levels=levels)


def place_level(locations: Locations, column: str, labels: Sequence[str]) -> Labels:
    """Returns one level of a taxonomy: the group of every location, groups sorted by name.

    Raises:
        GeographyError: A location has no label.
    """
    bare = [repr(key) for key, label in zip(locations.ids, labels, strict=True) if not label]
    if bare:
        shown = ", ".join(bare[:_SHOWN])
        raise GeographyError(
            f"Locations have no {column}: {shown}"
            f"{f' and {len(bare) - _SHOWN:,} more' if len(bare) > _SHOWN else ''}.",
            advice=f"Give every location exactly one {column}: groups must cover all locations.",
        )
    names = tuple(sorted(set(labels)))
    number = {name: code for code, name in enumerate(names)}
    codes = np.array([number[label] for label in labels], dtype=np.int32)
    return Labels(column=column, codes=codes, names=names)
