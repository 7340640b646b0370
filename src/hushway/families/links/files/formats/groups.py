"""The public zones of links, and what was measured by zone and class, as small CSV files."""

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.links.public.universe import ClassZones, LinkUniverse
from hushway.release.bounded import LIST_BYTES, csv_rows, refuse_large
from hushway.release.formats.places import csv_bytes

ZONE_COLUMNS = ("zone", "name")
MEASURED_COLUMNS = ("period", "kind", "zone", "class", "measured")


def zones_csv(zones: tuple[str, ...]) -> bytes:
    """Returns the names of the public zones, by their number."""
    return csv_bytes(ZONE_COLUMNS, ((str(i), name) for i, name in enumerate(zones)))


def read_zones(data: bytes) -> tuple[str, ...]:
    """Reads the names of the public zones back.

    Raises:
        ReleaseError: The bytes are not what `zones_csv` writes.
    """
    zones = tuple(row[-1] for row in _rows("zones.csv", data)[1:])
    if zones_csv(zones) != data:
        raise _rewritten("zones.csv")
    return zones


def group_facts(universe: LinkUniverse) -> tuple[tuple[str, str, str], ...]:
    """Returns the kind, the zone and the class of each group of a period, as text."""
    group, _ = ClassZones(universe=universe).links
    # Any link of a group tells its zone and class.
    _, some = np.unique(group, return_index=True)
    zones, classes = universe.zone[some].tolist(), universe.roads.road_class[some].tolist()
    return (
        *(("links", str(zone), str(own)) for zone, own in zip(zones, classes, strict=True)),
        ("beginnings", "", ""),
        ("ends", "", ""),
    )


def measured_classes_csv(universe: LinkUniverse, measured: IntArray) -> bytes:
    """Returns the noisy number of persons of every group and period."""
    groups = group_facts(universe)
    numbers = iter(measured.tolist())
    rows = (
        (period, *group, str(next(numbers)))
        for period in universe.periods.labels
        for group in groups
    )
    return csv_bytes(MEASURED_COLUMNS, rows)


def read_measured_classes(data: bytes, universe: LinkUniverse) -> IntArray:
    """Reads the noisy numbers of all groups back.

    Raises:
        ReleaseError: The bytes are not what `measured_classes_csv` writes for these groups.
    """
    _, *rows = _rows("measured_classes.csv", data)
    measured = np.array([int(row[-1]) for row in rows], dtype=np.int64)
    expected = ClassZones(universe=universe).size
    if len(measured) != expected or measured_classes_csv(universe, measured) != data:
        raise _rewritten("measured_classes.csv")
    return measured


def _rows(name: str, data: bytes) -> list[list[str]]:
    refuse_large(name, len(data), LIST_BYTES)
    return csv_rows(name, data)


def _rewritten(name: str) -> ReleaseError:
    return ReleaseError(
        f"{name} is not as hushway writes it.", advice="The list was edited or rewritten."
    )
