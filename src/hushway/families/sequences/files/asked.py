"""Sums of records by their first stops, with how far they may be off."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hushway.families.sequences.files.atlas import Prefixes, read_shown
from hushway.geography.locations import Locations
from hushway.privacy.certificate import Certificate
from hushway.release.questions.cells import AskedCells, Dimension, correlated


def ask_sequences(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> AskedCells:
    """Returns the records of a release to be added up, as `Family.asked` asks."""
    universe, found = read_shown(folder, certificate, facts)
    return records_asked(universe.taxonomy.locations, found)


def records_asked(locations: Locations, found: Prefixes) -> AskedCells:
    """Returns records by their first stop, and by their first and second.

    Unless a second stop is asked for, records of one stop or more are counted by their first.
    """
    depth = found.depth
    one, two = np.flatnonzero(depth == 0), np.flatnonzero(depth == 1)
    first = np.concatenate([found.place[one], found.place[found.parent[two]]])
    second = np.concatenate([np.full(len(one), len(locations)), found.place[two]])
    both = np.concatenate([one, two])
    names = tuple(place.name for place in locations.places)
    zones = tuple(place.zone for place in locations.places)
    return AskedCells(
        counted="records",
        dimensions={
            "first": Dimension(ids=locations.ids, position=first, names=(names, zones)),
            "second": Dimension(
                ids=(*locations.ids, ""),
                position=second,
                names=((*names, ""), (*zones, "")),
                unasked=len(locations),
            ),
        },
        counts=found.counts[both].astype(np.float64),
        variances=correlated(found.errors[both]),
        notes=("Prefixes that are not sure enough are not published, and not in any sum.",),
    )
