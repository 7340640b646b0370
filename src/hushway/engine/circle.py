"""The bounded choice on arrays: of everybody's things in a circle, some neighbours are kept."""

import numpy as np

from hushway.arrays import IntArray
from hushway.engine.key import PRIME, SUM_MASK, BoundingKey


def kept_in_circle(
    person: IntArray, place: IntArray, ties: tuple[IntArray, ...], most: int, key: BoundingKey
) -> IntArray:
    """Returns which things are kept, at most `most` of each person, a uniform choice.

    Privacy:
        Exactly min(n, most) of a person's n things stay, whatever they are: turned by any number
        that is not negative, the ranks 0 .. n-1 are still all remainders of n, each once. The
        choice reads the person's own things and the key.

    Args:
        person: Whose each thing is; the persons are 0, 1, 2, ..., and each has at least one thing.
        place: Where it stands in the person's circle.
        ties: What decides between things at one place, the most important last.
        most: How many may stay.
        key: Says where in the circle the choice starts.
    """
    order = _in_order(person, place, ties)
    size = np.bincount(person)
    first = np.cumsum(size) - size
    # In order, so each person's things are one run.
    total = np.add.reduceat(place[order], first) & SUM_MASK
    whose = person[order]
    rank = np.arange(len(order)) - first[whose]
    turned = (rank + key.turn(total)[whose]) % size[whose]
    kept: IntArray = order[turned < most]
    return kept


def _in_order(person: IntArray, place: IntArray, ties: tuple[IntArray, ...]) -> IntArray:
    """Returns things by person, place and what decides ties: one sort, and ties after it."""
    both = person * PRIME + place
    order = np.argsort(both, kind="stable")
    same = both[order[1:]] == both[order[:-1]]
    if same.any():
        tied = np.zeros(len(order), dtype=np.bool_)
        tied[1:] |= same
        tied[:-1] |= same
        at = np.flatnonzero(tied)
        things = order[at]
        order[at] = things[np.lexsort((*(tie[things] for tie in ties), both[things]))]
    return order
