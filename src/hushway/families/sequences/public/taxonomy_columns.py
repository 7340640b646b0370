"""Taxonomies from public columns of the locations, such as their line or their zone."""

from collections.abc import Sequence

import numpy as np

from hushway.errors import GeographyError
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.labels import Labels
from hushway.geography.locations import Locations

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
