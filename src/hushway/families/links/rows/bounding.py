"""Which items of a person count: one rule on arrays, compiled, shared by all counters of movements.

An item is a link that a person was on in a period, or a node at which a trip of the person began or
ended in a period, however often.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.counting import (
    BoundedCounter,
    index_column,
    is_same,
    other_cells,
    whole_column,
)
from hushway.engine.key import PRIME, BoundingKey, circle, placed
from hushway.errors import DataError, PrivacyError
from hushway.families.links.public.universe import (
    WEIGHTS,
    LinkUniverse,
    MovementCells,
    MovementLimits,
    MovementQueryCells,
    SpeedSums,
)
from hushway.numerics.compiled import compiled_for_threads
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.query import ExactCounts, Query

# A gigabyte of counts.
_MOST_CELLS = 1 << 27


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PeopleItems:
    """Items of some people, all of each, together by person.

    Attributes:
        start: Where each person's items begin; one entry more than people.
        code: period * items + item, in any order, with repetitions.
        when: When each was entered, in seconds; infinite if it tells nothing about speeds.
        steps: Steps of its speed from the usual one.
        salt: A number made of each person's own id alone.
    """

    start: IntArray
    code: IntArray
    when: FloatArray
    steps: IntArray
    salt: IntArray


def refuse_too_many_cells(universe: LinkUniverse, limits: MovementLimits) -> None:
    """Refuses a universe whose movements cannot be counted in memory."""
    most = _MOST_CELLS // (len(WEIGHTS) if limits.left_out else 1)
    if universe.items * len(universe.periods) > most:
        raise DataError(
            f"There are more than {most:,} pairs of a period and a link or node.",
            advice="Choose a shorter window, longer periods or a smaller network"
            + (', or set left_out = "0".' if limits.left_out else "."),
        )


class BoundedMovements:
    """What was counted, exactly. Private: for a counter's answers to a curator only.

    Attributes:
        counts: Persons by cell of `MovementCells`.
        sums: Steps by cell of `SpeedSums`.
        left: Persons by cell of `LeftOutCells`; nothing if the limits do not count them.
    """

    def __init__(self, universe: LinkUniverse, limits: MovementLimits, key: BoundingKey) -> None:
        self._universe = universe
        self._limits = limits
        self._key = np.array(key.coefficients, dtype=np.int64)
        self.counts = np.zeros(universe.items * len(universe.periods), dtype=np.int64)
        self.sums = np.zeros(universe.size, dtype=np.int64)
        weights = len(WEIGHTS) if limits.left_out else 0
        self.left = np.zeros(weights * len(self.counts), dtype=np.int64)

    def add(self, people: PeopleItems) -> None:
        """Adds people who have not been added before.

        Privacy:
            Each person adds one to at most `max_items` counts and at most `speed_steps` to the sums
            of the same links, and one to at most `max_items` counts of what is left out. What is
            kept of a person depends on that person's items and salt and on the key.
        """
        # More than 64 bits would not pass, and more than all cells changes nothing.
        most = min(self._limits.max_items, len(self.counts))
        add_people_items(
            people.start,
            people.code,
            people.when,
            people.steps,
            people.salt,
            self._universe.items,
            self._universe.roads.links,
            most,
            self._limits.speed_steps,
            self._key,
            self.counts,
            self.sums,
            self.left,
        )


class MovementCounter(BoundedCounter[MovementQueryCells]):
    """Answers queries over movements of one universe, each person bounded."""

    universe: LinkUniverse
    limits: MovementLimits
    found: BoundedMovements

    def asked(self, query: Query) -> MovementQueryCells:
        """Returns the query's cells."""
        cells = query.cells
        if not isinstance(cells, MovementQueryCells) or not is_same(cells.universe, self.universe):
            raise other_cells("movements of the universe")
        return cells

    def bound_of(self, cells: MovementQueryCells) -> Bound:
        """Returns how far one person moves an answer."""
        return Bound(**cells.reach(self.limits)._asdict())

    def counts_of(self, cells: MovementQueryCells) -> ExactCounts:
        """Returns the exact count, or sum, of each cell where it is not 0."""
        if isinstance(cells, MovementCells):
            return ExactCounts.of_all(self.found.counts)
        if isinstance(cells, SpeedSums):
            return ExactCounts.of_all(self.found.sums)
        if not self.limits.left_out:
            raise PrivacyError(
                "This engine did not count what is left out, and the query asks for it.",
                advice="Count with limits that have left_out.",
            )
        return ExactCounts.of_all(self.found.left)


# What a choice is made for; choices of different kinds are made at different points of the key.
FOR_ITEMS: Final = 3
FOR_TRIPS: Final = 4
FOR_WEIGHTS: Final = 5

_INDEX_BITS = 32
_INDEX = (1 << _INDEX_BITS) - 1


@compiled_for_threads
def add_people_items(  # noqa: PLR0913, PLR0917  one argument for each array
    start: IntArray,
    code: IntArray,
    when: FloatArray,
    steps: IntArray,
    salt: IntArray,
    items: int,
    links: int,
    max_items: int,
    most_steps: int,
    key: IntArray,
    counts: IntArray,
    sums: IntArray,
    left: IntArray,
) -> None:
    """Adds the bounded items of people to counts, to sums of steps and to counts of what is left.

    Privacy:
        Of each person exactly min(n, max_items) of the n distinct codes enter the counts, each by
        one, and the sums at the same links, each by at most `most_steps`, whatever the rows are.
        Of the other codes at most `max_items` enter the counts of what is left out, each by one and
        all with one weight. What enters depends on the person's own rows and salt and on the key.

    Args:
        start: Where each person's rows begin; one entry more than people.
        code: period * items + item of each row, in any order, with repetitions.
        when: When the item was entered. The earliest of a person's rows with one code tells the
            steps; infinite if a row tells nothing about them.
        steps: Steps from the usual speed.
        salt: A number of each person's own.
        items: Number of items of a period.
        links: Number of items of a period that are links; they come first.
        max_items: Most items of one person.
        most_steps: Steps beyond it are cut off.
        key: The coefficients of a bounding key.
        counts: Persons by code, added to.
        sums: Steps by period * links + link, added to.
        left: Persons by weight * codes + code, added to; empty to leave it.
    """
    longest = 0
    for person in range(len(salt)):
        longest = max(longest, start[person + 1] - start[person])
    ring = np.empty(longest, dtype=np.int64)
    first = np.empty(longest, dtype=np.int64)
    for person in range(len(salt)):
        low = start[person]
        count = _distinct(code, when, steps, low, start[person + 1], ring, first)
        kept, turn = count, 0
        if count > max_items:
            kept = max_items
            turn = circle(code[first[:count]], salt[person], FOR_ITEMS, key, ring)
        else:
            for i in range(count):
                ring[i] = i
        for i in range(kept):
            # Different for all i below `count`, as remainders of neighbours are.
            row = first[ring[(i + turn) % count] & PRIME]
            counts[code[row]] += 1
            period, item = code[row] // items, code[row] % items
            if item < links and when[row] < np.inf:
                sums[period * links + item] += min(max(steps[row], -most_steps), most_steps)
        if len(left):
            weight = _weight(count - kept, max_items, salt[person], key)
            # The next ones in the circle: none of them is among the kept ones.
            for i in range(kept, kept + min(count - kept, max_items)):
                row = first[ring[(i + turn) % count] & PRIME]
                left[weight * len(counts) + code[row]] += 1


@compiled_for_threads
def chosen(salt: int, count: int, most: int, kind: int, key: IntArray) -> IntArray:
    """Returns which of a person's `count` things in a row stay: exactly min(count, most) of them.

    Privacy:
        The choice reads the number of the person's things, the person's salt and the key.
    """
    if count <= most:
        return np.arange(count)
    ring = np.empty(count, dtype=np.int64)
    turn = circle(np.arange(count), salt, kind, key, ring)
    kept = np.empty(most, dtype=np.int64)
    for i in range(most):
        kept[i] = ring[(i + turn) % count] & PRIME
    kept.sort()
    return kept


@compiled_for_threads
def _distinct(  # noqa: PLR0917  one argument for each array
    code: IntArray,
    when: FloatArray,
    steps: IntArray,
    low: int,
    high: int,
    ring: IntArray,
    first: IntArray,
) -> int:
    """Writes one row for each distinct code, in ascending order, and returns their number.

    It is the earliest; among rows of one time the one with the lowest steps, so that the order of
    rows has no say.
    """
    rows = high - low
    for i in range(rows):
        ring[i] = (code[low + i] << _INDEX_BITS) | i
    ring[:rows].sort()
    count = 0
    for i in range(rows):
        row = low + (ring[i] & _INDEX)
        if count == 0 or code[first[count - 1]] != code[row]:
            first[count] = row
            count += 1
            continue
        best = first[count - 1]
        if when[row] < when[best] or (when[row] == when[best] and steps[row] < steps[best]):
            first[count - 1] = row
    return count


@compiled_for_threads
def _weight(beyond: int, max_items: int, salt: int, key: IntArray) -> int:
    """Returns the place in `WEIGHTS` of one of the two weights around beyond / max_items.

    The nearer a weight, the more likely, so that the mean is right between the first weight and
    the last one.
    """
    for i in range(len(WEIGHTS) - 1):
        low, high = WEIGHTS[i] * max_items, WEIGHTS[i + 1] * max_items
        if beyond < high:
            coin = placed(salt, beyond, FOR_WEIGHTS, key) / PRIME
            return i + 1 if coin * (high - low) < beyond - low else i
    return len(WEIGHTS) - 1


class ArrayMovements(MovementCounter):
    """Counts items given as arrays, each person bounded.

    The same rule and the same arithmetic as for files: the same items and the same key give the
    same counts. Of rows with the same person, period and item the first tells the speed.

    Privacy:
        At most `max_items` distinct items count for each person; the choice reads that person's
        items, that person's code and the key alone.

    Args:
        universe: The public roads, periods and zones.
        limits: How much of one person counts.
        key: Decides which items are kept.
        person: Code of each row's person, a whole number of 64 bits.
        period: Index of its period.
        item: Its link; or links + node for a beginning; or links + nodes + node for an end.
        steps: Steps of its speed from the usual one; without them, speeds cannot be asked for.
    """

    unit = Unit.PERSON

    def __init__(
        self,
        *,
        universe: LinkUniverse,
        limits: MovementLimits,
        key: BoundingKey,
        person: IntArray,
        period: IntArray,
        item: IntArray,
        steps: IntArray | None = None,
    ) -> None:
        refuse_too_many_cells(universe, limits)
        self.universe, self.limits = universe, limits
        self._has_steps = steps is not None
        owner = whole_column(person, len(np.asarray(person)), "items")
        items = index_column(item, len(owner), universe.items, "items")
        code = index_column(period, len(owner), len(universe.periods), "items") * universe.items
        speeds = np.zeros_like(owner) if steps is None else whole_column(steps, len(owner), "items")
        order = np.argsort(owner, kind="stable")
        salt, first = np.unique(owner[order], return_index=True)
        self.found = BoundedMovements(universe, limits, key)
        self.found.add(
            PeopleItems(
                start=np.append(first, len(owner)),
                code=(code + items)[order],
                when=order.astype(np.float64),
                steps=speeds[order],
                salt=salt,
            )
        )

    def counts_of(self, cells: MovementQueryCells) -> ExactCounts:
        """Returns the exact bounded counts; refuses to tell speeds that were not given."""
        if isinstance(cells, SpeedSums) and not self._has_steps:
            raise PrivacyError(
                "This engine was given no speeds, and the query asks for them.",
                advice="Give the steps from the usual speeds.",
            )
        return super().counts_of(cells)
