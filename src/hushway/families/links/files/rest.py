"""What the links that do not show carry together, as CSV: one row a period, zone and class."""

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.links.fit.publication import Rest, hidden_links
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import ClassZones, LinkUniverse
from hushway.release.formats.places import csv_bytes
from hushway.release.untrusted.limits import LIST_BYTES, csv_rows, rewritten

REST = "rest.csv"
COLUMNS = ("period", "zone", "class", "links", "count", "standard_error", "km", "km_error")

_NUMBERS = 4


def rest_csv(table: LinkTable) -> bytes:
    """Returns what is fitted to the links that do not show, of every group and period."""
    groups = ClassZones(universe=table.universe)
    hidden = hidden_links(table.period, table.link, groups).tolist()
    facts = _facts(table.universe)
    rest = table.rest
    numbers = zip(
        rest.counts.tolist(),
        rest.standard_error.tolist(),
        rest.km.tolist(),
        rest.km_error.tolist(),
        strict=True,
    )
    rows = (
        (*fact, str(links), *(f"{number:.2f}" for number in own))
        for fact, links, own in zip(facts, hidden, numbers, strict=True)
    )
    return csv_bytes(COLUMNS, rows)


def read_rest(data: bytes, universe: LinkUniverse) -> Rest:
    """Reads the numbers back. Whether all else is right shows once they are written again.

    Raises:
        ReleaseError: There are not so many rows, or something is not a number.
    """
    _, *rows = csv_rows(REST, data, most=LIST_BYTES)
    if len(rows) != len(_facts(universe)):
        raise rewritten(REST)
    try:
        numbers = np.array(
            [[float(number) for number in row[-_NUMBERS:]] for row in rows], dtype=np.float64
        ).reshape(-1, _NUMBERS)
    except ValueError:
        raise rewritten(REST) from None
    columns: list[FloatArray] = [np.ascontiguousarray(column) for column in numbers.T]
    return Rest(counts=columns[0], standard_error=columns[1], km=columns[2], km_error=columns[3])


def _facts(universe: LinkUniverse) -> list[tuple[str, str, str]]:
    """Returns the period, the zone and the class of each row."""
    group, used = ClassZones(universe=universe).links
    # Any link of a group tells its zone and class.
    _, some = np.unique(group, return_index=True)
    zones, classes = universe.zone[some].tolist(), universe.roads.road_class[some].tolist()
    return [
        (period, str(zones[place]), str(classes[place]))
        for period in universe.periods.labels
        for place in range(len(used))
    ]
