"""A public tree over the locations: lines of stations, zones of stops, and groups of groups.

Every location lies in exactly one group of every level. That makes the nodes of a prefix tree
disjoint at every granularity, which its privacy rests on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, radians

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.geography.locations import Labels, Locations
from hushway.privacy.public_facts import digest_of, public_facts

LOCATION = "place"
"""What the finest granularity is called."""


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Taxonomy:
    """Levels of groups, from the coarsest to the locations themselves.

    Groups are numbered so that the children of a group have consecutive numbers: a path down the
    tree is a choice within a short range at every level.

    Attributes:
        levels: The groups of each level above the locations, the coarsest first; each level refines
            the one before it. Without levels the tree is simple: locations only.
    """

    locations: Locations
    levels: tuple[Labels, ...] = ()

    def __post_init__(self) -> None:
        names = [level.column for level in self.levels]
        if len({*names, LOCATION}) != len(names) + 1:
            raise GeographyError(
                "Levels of a taxonomy need names of their own, other than 'place'.",
                advice="Rename the columns that the levels are made of.",
            )
        for level in self.levels:
            if len(level.codes) != len(self.locations):
                raise GeographyError(
                    f"The level {level.column!r} does not give every place a group.",
                    advice="Give one group for each place, in their order.",
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
    """Returns the taxonomy that columns of the locations make."""
    if len(set(columns)) != len(columns):
        raise GeographyError(
            "A column makes two levels of the taxonomy.", advice="Name every column once."
        )
    levels = tuple(place_level(locations, name, locations.labels_in(name)) for name in columns)
    return Taxonomy(locations=locations, levels=levels)


def place_level(locations: Locations, column: str, labels: Sequence[str]) -> Labels:
    """Returns one level of a taxonomy: the group of every location, groups sorted by name."""
    bare = [repr(key) for key, label in zip(locations.ids, labels, strict=True) if not label]
    if bare:
        raise GeographyError(
            f"Places have no {column}: {some_of(bare, _SHOWN)}.",
            advice=f"Give every place exactly one {column}: groups must cover all places.",
        )
    names = tuple(sorted(set(labels)))
    number = {name: code for code, name in enumerate(names)}
    codes = np.array([number[label] for label in labels], dtype=np.int32)
    return Labels(column=column, codes=codes, names=names)


# Taxonomies made up from coordinates, where no public file says which places belong together.
#
# The rule is public and looks at coordinates and ids alone: places are cut in two across their
# longer side, as evenly as the wanted groups allow, and each half again, until every part is one
# group.


def generated_taxonomy(locations: Locations, fan_out: int, *, levels: int = 1) -> Taxonomy:
    """Returns groups of neighbouring places, and groups of groups.

    The finest groups have at most `fan_out` places each, and differ by few. Every further level
    puts runs of at most `fan_out` groups together, in the order of the cuts, which keeps
    neighbours together.
    """
    if fan_out < 2 or levels < 1:  # noqa: PLR2004
        raise GeographyError(
            "A group must have room for two places, and there must be a level of groups.",
            advice="Choose a fan-out of at least 2, near the square root of the number of places.",
        )
    sizes = [_parts(len(locations), fan_out)]
    while len(sizes) < levels:
        sizes.append(_parts(sizes[-1], fan_out))
    if sizes[-1] < 2 and len(locations) > 1:  # noqa: PLR2004
        raise GeographyError(
            f"Groups of {fan_out} put all {len(locations)} places into one group.",
            advice="Choose a smaller fan-out, or fewer levels.",
        )
    codes = _bisected(locations, sizes[0])
    made = [codes]
    for above, below in zip(sizes[1:], sizes, strict=False):
        made.append((made[-1].astype(np.int64) * above // below).astype(np.int32))
    return Taxonomy(
        locations=locations,
        levels=tuple(
            _level(f"group {level + 1}" if levels > 1 else "group", codes)
            for level, codes in enumerate(reversed(made))
        ),
    )


def _parts(things: int, fan_out: int) -> int:
    return -(-things // fan_out)


def _level(column: str, codes: Int32Array) -> Labels:
    count = int(codes.max()) + 1
    width = len(str(count))
    names = tuple(f"{column} {number:0{width}d}" for number in range(1, count + 1))
    return Labels(column=column, codes=codes, names=names)


def _bisected(locations: Locations, groups: int) -> Int32Array:
    """Returns the group of every place, numbered in the order of the cuts."""
    lon = np.array([place.lon for place in locations.places])
    lat = np.array([place.lat for place in locations.places])
    by_id = np.empty(len(locations), dtype=np.int64)
    by_id[np.argsort(np.array(locations.ids), kind="stable")] = np.arange(len(locations))
    codes = np.empty(len(locations), dtype=np.int32)
    waiting: list[tuple[IntArray, int, int]] = [(np.arange(len(locations)), 0, groups)]
    while waiting:
        places, first, count = waiting.pop()
        if count == 1:
            codes[places] = first
            continue
        x, y = lon[places], lat[places]
        # A degree of longitude is shorter than one of latitude, away from the equator.
        is_wide = np.ptp(x) * cos(radians(float(y.min() + y.max()) / 2)) >= np.ptp(y)
        order = np.lexsort((by_id[places], *((y, x) if is_wide else (x, y))))
        half = count // 2
        cut = len(places) * half // count
        waiting.append((places[order[:cut]], first, half))
        waiting.append((places[order[cut:]], first + half, count - half))
    return codes
