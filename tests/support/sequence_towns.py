"""A city small enough to count by hand, and a counter that walks every record down the tree."""

from collections import Counter
from collections.abc import Sequence
from datetime import date

import numpy as np

from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.events import Event
from hushway.privacy.query import ExactCounts, Query

Record = Sequence[tuple[int, int]]


class Town:
    """Records as lists of (period, location), counted one by one; a budget without bottom."""

    unit = Unit.PERSON

    def __init__(self, records: Sequence[Record], *, most: int = 1) -> None:
        self._records = records
        self._bound = Bound(cells=most, each=most, total=most)
        self.charged: list[Event] = []
        self.counted = 0

    def bound(self, query: Query) -> Bound:
        assert query.cells.size > 0
        return self._bound

    def count(self, query: Query) -> ExactCounts:
        assert isinstance(query.cells, PrefixCells)
        self.counted += 1
        found = Counter(_place(record, query.cells) for record in self._records)
        found.pop(-1, None)
        cells = np.array(sorted(found), dtype=np.int64)
        values = np.array([found[int(cell)] for cell in cells], dtype=np.int64)
        return ExactCounts(cells=cells, values=values)

    def charge(self, event: Event) -> None:
        self.charged.append(event)


def _place(record: Record, cells: PrefixCells) -> int:
    """The candidate that a record lies in, or -1 if it has ended or lies under no kept node."""
    if cells.stop >= len(record):
        return -1
    node = 0
    if cells.above is not None:
        above = _place(record, cells.above)
        if above not in cells.kept:
            return -1
        node = int(np.searchsorted(cells.kept, above))
    period, location = record[cells.stop]
    return int(cells.cell(*(np.array([x]) for x in (node, period, location)))[0])


def universe_of(locations: int, *levels: Sequence[int], hours: int = 0) -> SequenceUniverse:
    """Returns a universe, given the group of every location at each level, coarsest first."""
    places = (Location(id=f"p{i}", name="", lon=0, lat=0, zone="") for i in range(locations))
    labels = tuple(
        labels_of_codes(
            f"level{number}",
            np.array(codes, dtype=np.int32),
            [f"g{code}" for code in range(max(codes) + 1)],
        )
        for number, codes in enumerate(levels)
    )
    day = date(2024, 1, 15)
    periods = (
        Periods(zone="UTC", first_day=day, last_day=day, opens=0, closes=60 * hours, minutes=60)
        if hours
        else None
    )
    taxonomy = Taxonomy(locations=Locations(tuple(places)), levels=labels)
    return SequenceUniverse(taxonomy=taxonomy, periods=periods)
