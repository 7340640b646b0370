"""Which items of a person count: one rule on arrays, compiled, shared by all counters of movements.

An item is a link that a person was on in a period, or a node at which a trip of the person began or
ended in a period, however often.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.counting import BoundedCounter, index_column, is_same, other_cells, whole_column
from hushway.engine.key import PRIME, BoundingKey, circle, placed
from hushway.errors import DataError, PrivacyError
from hushway.families.links.public.universe import (
    ITEM_LADDER,
    WEIGHTS,
    LinkUniverse,
    MovementCells,
    MovementLimits,
    MovementQueryCells,
    SpeedSums,
    bound_within,
    people_by_items,
)
from hushway.numerics.compiled import compiled_for_threads
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.contribution import UnitsByRecords
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
    most = _MOST_CELLS // (len(WEIGHTS) * len(limits.steps) if limits.left_out else 1)
    if universe.items * len(universe.periods) > most:
        smaller = ', or set left_out = "0".' if limits.left_out else "."
        raise DataError(
            f"There are more than {most:,} pairs of a period and a link or node.",
            advice="Choose a shorter window, longer periods or a smaller network"
            + (", or give max_items a number." if limits.choices else smaller),
        )


class BoundedMovements:
    """What was counted for every limit, exactly. Private: for answers to a curator only.

    Items of a person have ranks, in an order of the person's own.

    Attributes:
        counts: Persons by cell of `MovementCells`, by items of ranks below the first limit.
        left: Persons by (limit, cell of `LeftOutCells`), by items from a limit to below its double;
            nothing if the limits do not count them.
        sums: Steps by (limit, cell of `SpeedSums`), of items below a limit but not the one before.
        people: People by class of their number of items.
    """

    def __init__(self, universe: LinkUniverse, limits: MovementLimits, key: BoundingKey) -> None:
        self._universe = universe
        self._limits = limits
        self._key = np.array(key.coefficients, dtype=np.int64)
        steps, cells = len(limits.steps), universe.items * len(universe.periods)
        self.counts = np.zeros(cells, dtype=np.int64)
        self.sums = np.zeros(steps * universe.size, dtype=np.int64)
        weights = len(WEIGHTS) if limits.left_out else 0
        self.left = np.zeros(steps * weights * cells, dtype=np.int64)
        self.people = np.zeros(len(ITEM_LADDER), dtype=np.int64)

    def add(self, people: PeopleItems) -> None:
        """Adds people who have not been added before.

        Privacy:
            Each person adds one to at most as many counts as a limit says and at most `speed_steps`
            to the sums of the same links, one to at most as many counts of what that limit leaves
            out, and one to one class of people. What is kept of a person depends on that person's
            items and salt and on the key.
        """
        # More than 64 bits would not pass, and more than all cells changes nothing.
        steps = [min(step, len(self.counts)) for step in self._limits.steps]
        add_people_items(
            people.start,
            people.code,
            people.when,
            people.steps,
            people.salt,
            self._universe.items,
            self._universe.roads.links,
            np.array(steps, dtype=np.int64),
            self._limits.speed_steps,
            self._key,
            np.array(ITEM_LADDER, dtype=np.int64),
            self.counts,
            self.sums,
            self.left,
            self.people,
        )

    def within(self, step: int) -> IntArray:
        """Returns persons by cell of `MovementCells` within one of the limits."""
        beyond = self.left.reshape(len(self._limits.steps), -1, len(self.counts))
        return np.asarray(self.counts + beyond[:step].sum(axis=(0, 1)))

    def steps_within(self, step: int) -> IntArray:
        """Returns steps by cell of `SpeedSums` within one of the limits."""
        sums = self.sums.reshape(len(self._limits.steps), -1)
        return np.asarray(sums[: step + 1].sum(axis=0))

    def beyond(self, step: int) -> IntArray:
        """Returns persons by cell of `LeftOutCells` beyond one of the limits."""
        return np.asarray(self.left.reshape(len(self._limits.steps), -1)[step])


class MovementCounter(BoundedCounter[MovementQueryCells]):
    """Answers queries over movements of one universe, each person bounded."""

    universe: LinkUniverse
    limits: MovementLimits
    found: BoundedMovements

    def asked(self, query: Query) -> MovementQueryCells:
        """Returns the query's cells."""
        cells = query.cells
        if not isinstance(cells, MovementQueryCells):
            raise other_cells("movements of the universe")
        if isinstance(cells, UnitsByRecords):
            known = is_same(cells, people_by_items(self.universe))
        else:
            known = is_same(cells.universe, self.universe)
        if not known:
            raise other_cells("movements of the universe")
        return cells

    def bound_of(self, cells: MovementQueryCells) -> Bound:
        """Returns how far one person moves an answer."""
        return bound_within(cells, self.limits)

    def counts_of(self, cells: MovementQueryCells) -> ExactCounts:
        """Returns the exact count, or sum, of each cell where it is not 0."""
        if isinstance(cells, UnitsByRecords):
            return ExactCounts.of_all(self.found.people)
        step = self.limits.steps.index(self.limits.with_most(cells.most).max_items)
        if isinstance(cells, MovementCells):
            return ExactCounts.of_all(self.found.within(step))
        if isinstance(cells, SpeedSums):
            return ExactCounts.of_all(self.found.steps_within(step))
        if not self.limits.left_out:
            raise PrivacyError(
                "This engine did not count what is left out, and the query asks for it.",
                advice="Count with limits that have left_out.",
            )
        return ExactCounts.of_all(self.found.beyond(step))


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
    limits: IntArray,
    most_steps: int,
    key: IntArray,
    ladder: IntArray,
    counts: IntArray,
    sums: IntArray,
    left: IntArray,
    people: IntArray,
) -> None:
    """Adds the bounded items of people to counts, to sums of steps and to counts of what is left.

    Privacy:
        The n distinct codes of each person have each rank from 0 to n - 1 once. Those of ranks
        below the first limit enter the counts, each by one; those from each limit to below its
        double enter the counts of what that limit leaves out, each by one and all with one weight.
        So within a limit m are exactly min(n, m) of them, whatever the rows are, and beyond it at
        most m. Sums change at the same links, each by at most `most_steps`. The person is in one
        class of people. What enters depends on the person's own rows and salt and on the key.

    Args:
        start: Where each person's rows begin; one entry more than people.
        code: period * items + item of each row, in any order, with repetitions.
        when: When the item was entered. The earliest of a person's rows with one code tells the
            steps; infinite if a row tells nothing about them.
        steps: Steps from the usual speed.
        links: Number of items of a period that are links; they come first.
        limits: Most items of one person; each is twice the one before, or as large as can be.
        most_steps: Steps beyond it are cut off.
        ladder: The fewest items of each class of people.
        counts: Persons by code, added to.
        sums: Steps by limit and period * links + link, added to.
        left: Persons by limit and weight * codes + code, added to; empty to leave it.
    """
    longest = 0
    for person in range(len(salt)):
        longest = max(longest, start[person + 1] - start[person])
    ring = np.empty(longest, dtype=np.int64)
    first = np.empty(longest, dtype=np.int64)
    for person in range(len(salt)):
        low = start[person]
        count = _distinct(code, when, steps, low, start[person + 1], ring, first)
        if count == 0:
            continue
        people[np.searchsorted(ladder, count, side="right") - 1] += 1
        turn = 0
        if count > limits[0]:
            turn = circle(code[first[:count]], salt[person], FOR_ITEMS, key, ring)
        else:
            for i in range(count):
                ring[i] = i
        step, at = 0, 0
        # Beyond its last limit, as many again: nothing if what is left out is not counted.
        for i in range(min(count, 2 * limits[-1] if len(left) else limits[-1])):
            while step < len(limits) and i >= limits[step]:
                weight = _weight(count - limits[step], limits[step], salt[person], key)
                at = (step * len(WEIGHTS) + weight) * len(counts)
                step += 1
            # Different for all i below `count`, as remainders of neighbours are.
            row = first[ring[(i + turn) % count] & PRIME]
            if step == 0:
                counts[code[row]] += 1
            else:
                left[at + code[row]] += 1
            period, item = code[row] // items, code[row] % items
            if step < len(limits) and item < links and when[row] < np.inf:
                cell = step * (len(sums) // len(limits)) + period * links + item
                sums[cell] += min(max(steps[row], -most_steps), most_steps)


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
        person: Code of each row's person, a whole number of 64 bits.
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
