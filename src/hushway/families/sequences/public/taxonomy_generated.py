"""Taxonomies made up from coordinates, where no public file says which places belong together.

The rule is public and looks at coordinates and ids alone: places are cut in two across their longer
side, as evenly as the wanted groups allow, and each half again, until every part is one group.
"""

from math import cos, radians

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.labels import Labels
from hushway.geography.locations import Locations


def generated_taxonomy(locations: Locations, fan_out: int, *, levels: int = 1) -> Taxonomy:
    """Returns groups of neighbouring places, and groups of groups.

    The finest groups have at most `fan_out` places each, and differ by few. Every further level
    puts runs of at most `fan_out` groups together, in the order of the cuts, which keeps
    neighbours together.

    Args:
        locations: The public places.
        fan_out: Most places in a group, and most groups in a group of groups.
        levels: Number of levels above the locations.

    Raises:
        GeographyError: The fan-out is below 2, or so many levels would leave one group only.
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
            f"Groups of {fan_out} put all {len(locations)} locations into one group.",
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
