"""Margins as partitions of groups: which refine which, and the two chains that hold the most.

Only the groups that have to be rounded are looked at, so a margin may refine another here that does
not refine it everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.numerics.compiled import compiled

_NONE = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class Partition:
    """A margin over the groups that have to be rounded.

    Attributes:
        element: The element of each of these groups.
        count: Number of elements, none of them empty.
    """

    element: IntArray
    count: int


@dataclass(frozen=True, kw_only=True)
class _Chains:
    """Two chains of margins, each from coarse to fine, and how many elements they have."""

    first: tuple[int, ...] = ()
    second: tuple[int, ...] = ()
    elements: int = 0

    @property
    def ends(self) -> tuple[int, int]:
        """The finest margin of each chain."""
        return (self.first or (_NONE,))[-1], (self.second or (_NONE,))[-1]

    def grown(self, margin: int, count: int, coarser: set[int]) -> "list[_Chains]":
        """Returns the chains with one margin more, at the end of either where it refines it."""
        first, second = self.ends
        elements = self.elements + count
        grown = []
        if first in coarser:
            grown.append(
                _Chains(first=(*self.first, margin), second=self.second, elements=elements)
            )
        if second in coarser:
            grown.append(
                _Chains(first=self.first, second=(*self.second, margin), elements=elements)
            )
        return grown


def partition_of(element: IntArray) -> Partition:
    """Numbers the elements that occur from 0, in the order of their first group."""
    renumbered, count = _renumber(element, int(element.max()) + 1)
    return Partition(element=renumbered, count=count)


def two_chains(partitions: Sequence[Partition]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the two chains, each from coarse to fine, that together have the most elements.

    Margins of one element are in neither: they are the total, which is always rounded. Whether a
    chain can grow depends on its end alone, so the best chains for each pair of ends are enough.
    """
    best = {(_NONE, _NONE): _Chains()}
    order = sorted(range(len(partitions)), key=lambda margin: partitions[margin].count)
    seen: list[int] = []
    for margin in order:
        here = partitions[margin]
        if here.count == 1:
            continue
        coarser = {_NONE, *(other for other in seen if _refines(here, partitions[other]))}
        seen.append(margin)
        for chains in list(best.values()):
            for grown in chains.grown(margin, here.count, coarser):
                if grown.ends not in best or best[grown.ends].elements < grown.elements:
                    best[grown.ends] = grown
    most = max(best.values(), key=lambda chains: chains.elements)
    return most.first, most.second


@compiled
def sums_over(parts: IntArray, element: IntArray, count: int) -> IntArray:
    """Returns whole-number sums over each element, which a weighted bincount would make floats."""
    sums = np.zeros(count, dtype=np.int64)
    for group in range(len(parts)):
        sums[element[group]] += parts[group]
    return sums


def _refines(finer: Partition, coarser: Partition) -> bool:
    return bool(_determines(finer.element, finer.count, coarser.element))


@compiled
def _determines(finer: IntArray, count: int, coarser: IntArray) -> bool:
    above = np.full(count, _NONE, dtype=np.int64)
    for group in range(len(finer)):
        known = above[finer[group]]
        if known == _NONE:
            above[finer[group]] = coarser[group]
        elif known != coarser[group]:
            return False
    return True


@compiled
def _renumber(element: IntArray, size: int) -> tuple[IntArray, int]:
    number = np.full(size, _NONE, dtype=np.int64)
    renumbered = np.empty(len(element), dtype=np.int64)
    count = 0
    for group in range(len(element)):
        old = element[group]
        if number[old] == _NONE:
            number[old] = count
            count += 1
        renumbered[group] = number[old]
    return renumbered, count
