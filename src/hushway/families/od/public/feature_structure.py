"""How features lie to each other: groups of cells, trees of refinements, and labels of both ends.

Groups are the cells that no feature tells apart. A feature is a label of pairs times a label of
periods, so the common refinement of several is one too: a grid of pair classes and period classes.
Nothing here is as long as the universe.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from hushway.arrays import Int32Array, IntArray
from hushway.errors import PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.geography.locations import Labels, PairEnds, joint_codes
from hushway.privacy.curator import MOST_DENSE_CELLS
from hushway.privacy.public_facts import public_facts

# Of fewer pairs, one end may tell the other.
_MANY_PAIRS = 1 << 20


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """A numbering of groups: period class times the number of pair classes, plus pair class.

    Attributes:
        pair_classes: Number of classes of pairs, none of them empty.
        period_classes: Number of classes of periods, none of them empty.
    """

    universe: ODCells
    pair_class: Int32Array
    pair_classes: int
    period_class: Int32Array
    period_classes: int

    @property
    def count(self) -> int:
        """Number of groups."""
        return self.period_classes * self.pair_classes

    @cached_property
    def sizes(self) -> IntArray:
        """Number of cells in each group, never 0."""
        periods = np.bincount(self.period_class, minlength=self.period_classes)
        pairs = np.bincount(self.pair_class, minlength=self.pair_classes)
        return np.outer(periods, pairs).ravel().astype(np.int64)

    def of(self, cells: IntArray) -> IntArray:
        """Returns the group of each cell."""
        period, pair = np.divmod(cells, self.universe.pairs)
        return (
            self.period_class[period].astype(np.int64) * self.pair_classes + self.pair_class[pair]
        )

    def rank(self, cells: IntArray) -> IntArray:
        """Returns the place of each cell among the cells of its group, from 0, in cell order."""
        period, pair = np.divmod(cells, self.universe.pairs)
        width = self._pairs_each[self.pair_class[pair]]
        return self._period_rank[period] * width + self._pair_rank[pair]

    def cell(self, group: IntArray, rank: IntArray) -> IntArray:
        """Returns the cell at a place of a group: the inverse of `of` and `rank`."""
        period_class, pair_class = np.divmod(group, self.pair_classes)
        row, column = np.divmod(rank, self._pairs_each[pair_class])
        period = self._periods_in_order[self._period_start[period_class] + row]
        pair = self._pairs_in_order[self._pair_start[pair_class] + column]
        return period.astype(np.int64) * self.universe.pairs + pair

    def element_of(self, feature: Feature) -> IntArray:
        """Returns the element of a feature that each group lies in."""
        period = np.zeros(self.period_classes, dtype=np.int64)
        if feature.periods is not None:
            period[self.period_class] = feature.periods.codes
        pair = np.zeros(self.pair_classes, dtype=np.int64)
        if feature.pairs is not None:
            pair[self.pair_class] = feature.pairs.codes
        return (period[:, None] * feature.pair_classes + pair[None, :]).ravel()

    @cached_property
    def _pairs_each(self) -> IntArray:
        return np.bincount(self.pair_class, minlength=self.pair_classes)

    @cached_property
    def _pair_start(self) -> IntArray:
        return np.cumsum(self._pairs_each) - self._pairs_each

    @cached_property
    def _pairs_in_order(self) -> Int32Array:
        return _in_order(self.pair_class, self.pair_classes)

    @cached_property
    def _pair_rank(self) -> Int32Array:
        return _ranks(self._pairs_in_order, self.pair_class, self._pair_start)

    @cached_property
    def _period_start(self) -> IntArray:
        each = np.bincount(self.period_class, minlength=self.period_classes)
        return np.cumsum(each) - each

    @cached_property
    def _periods_in_order(self) -> Int32Array:
        return _in_order(self.period_class, self.period_classes)

    @cached_property
    def _period_rank(self) -> Int32Array:
        return _ranks(self._periods_in_order, self.period_class, self._period_start)


def groups_of(universe: ODCells, features: Sequence[Feature]) -> Groups:
    """Returns the common refinement of some features."""
    pairs = [(f.pairs.codes, len(f.pairs)) for f in features if f.pairs is not None]
    periods = [(f.periods.codes, len(f.periods)) for f in features if f.periods is not None]
    pair_class, pair_classes = joint_codes(pairs, universe.pairs)
    period_class, period_classes = joint_codes(periods, len(universe.periods))
    return Groups(
        universe=universe,
        pair_class=pair_class,
        pair_classes=pair_classes,
        period_class=period_class,
        period_classes=period_classes,
    )


def refines(finer: Feature, coarser: Feature) -> bool:
    """Says whether every element of one feature lies inside one element of the other."""
    return _inside(finer, coarser, "pairs") and _inside(finer, coarser, "periods")


def _inside(finer: Feature, coarser: Feature, part: str) -> bool:
    coarse = getattr(coarser, part)
    if coarse is None or len(coarse) == 1:
        return True
    fine = getattr(finer, part)
    if fine is None:
        return False
    if fine.ends is not None and coarse.ends is not None and len(fine.codes) > _MANY_PAIRS:
        return _ends_inside(fine.ends, coarse.ends)
    _, together = joint_codes(
        [(fine.codes, len(fine)), (coarse.codes, len(coarse))], len(fine.codes)
    )
    return together == len(fine)


def _ends_inside(fine: PairEnds, coarse: PairEnds) -> bool:
    """Says the same of pairs of many places, by the classes of their ends: these are far fewer."""
    return all(
        joint_codes([(one, int(one.max()) + 1), (other, int(other.max()) + 1)], len(one))[1]
        == len(np.unique(one))
        for one, other in (
            (fine.origin, coarse.origin),
            (fine.destination, coarse.destination),
        )
    )


def _in_order(codes: Int32Array, classes: int) -> Int32Array:
    """Returns things ordered by class, and within a class by number."""
    # Keys of 16 bits are sorted by counting, many times faster than by comparing.
    short = classes <= np.iinfo(np.uint16).max + 1
    keys = codes.astype(np.uint16) if short else codes
    return np.argsort(keys, kind="stable").astype(np.int32)


def _ranks(order: Int32Array, codes: Int32Array, start: IntArray) -> Int32Array:
    """Returns each thing's place within its class, given all things ordered by class."""
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    place -= start.astype(np.int32)[codes]
    return place


def is_learnable(feature: Feature) -> bool:
    """Returns whether the elements of a feature follow from classes of origins and destinations."""
    return feature.pairs is None or feature.pairs.ends is not None


def pair_ends(feature: Feature) -> PairEnds:
    """Returns the classes of origins and destinations that a feature is made of."""
    if feature.pairs is None:
        alike = np.zeros(len(feature.universe.locations), dtype=np.int32)
        return PairEnds(origin=alike, destination=alike, between=np.zeros((1, 1), dtype=np.int32))
    if feature.pairs.ends is None:
        raise PrivacyError(
            f"The published total {feature.title!r} labels pairs of places one by one; a table of "
            f"{feature.universe.size:,} cells is too large to learn from such sums.",
            advice='Leave it out, or use mechanism "cbdp".',
        )
    return feature.pairs.ends


def nested(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Returns features such that each refines the one before it.

    The second becomes the common refinement of the first two, and so on: total, period, period and
    zone pair, period and zone pair and mode. This is the tree of the hierarchical mechanisms.
    """
    levels: list[Feature] = []
    for feature in features:
        levels.append(_crossed(levels[-1], feature) if levels else feature)
    return tuple(levels)


def _crossed(above: Feature, feature: Feature) -> Feature:
    return Feature(
        title=feature.title,
        universe=feature.universe,
        pairs=_joint(above.pairs, feature.pairs),
        periods=_joint(above.periods, feature.periods),
    )


def _joint(first: Labels | None, second: Labels | None) -> Labels | None:
    if first is None or second is None:
        return second if first is None else first
    codes, size = joint_codes(
        [(first.codes, len(first)), (second.codes, len(second))], len(first.codes)
    )
    if size == len(first):
        return first
    if size == len(second):
        return second
    example = np.empty(size, dtype=np.int64)
    example[codes] = np.arange(len(codes))
    names = tuple(
        f"{first.names[first.codes[i]]}, {second.names[second.codes[i]]}" for i in example
    )
    return Labels(column=f"{first.column}, {second.column}", codes=codes, names=names)


LEARNED: Final = "learned"
# A posterior of every cell is held in memory: up to 230 bytes for each while counts are made whole.
MOST_LEARNED: Final = MOST_DENSE_CELLS // 8
# Of a huge table about so many cells without trips show by chance.
EXPECTED_FALSE: Final = float(1 << 20)


def check_learnable(features: Sequence[Feature]) -> None:
    """Refuses sums that a huge table cannot be learnt from."""
    for feature in features:
        pair_ends(feature)
