"""What cells that are drawn only as far as a fit looks at them must not give away."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.harness import Examination, Trial
from hushway.families.od.audit.fitted_looks import FITTED_TOWN, LAZY, MEASUREMENTS, Look
from hushway.families.od.audit.product import Product, Spend, Stage
from hushway.families.od.audit.toy import NOBODY, Part
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import MeasuredSparse

_FIRST_LOOK, _SECOND_LOOK = 2, 0
_HIDDEN, _CHANGED = -1, -2


def two_looks(product: Product, epsilon: Fraction) -> Examination:
    """A cell looked at twice: whoever sees an empty one change knows that it is empty."""
    stage = Stage(product=product, town=FITTED_TOWN, spend=PureLoss(epsilon))
    look = TwoLooks(stage=stage, form=LAZY)
    return Trial(
        name="lazy cbdp: a cell looked at twice",
        statistic=f"the shown count of the cell ({_HIDDEN} if hidden, {_CHANGED} if it changed)",
        # Two looks cost no more than the one measurement of the cells that they look at.
        epsilon=epsilon / MEASUREMENTS,
        worlds=stage.worlds(look.seen, ("the trip", (Part(),)), ("no trip", NOBODY)),
    )


@dataclass(frozen=True, kw_only=True)
class TwoLooks(Look[Spend]):
    """The first cell of each corner, looked at from a threshold up and then from a lower one."""

    def seen(self, curator: Curator) -> IntArray:
        """Returns the count that the second look shows, unless the first one contradicts it."""
        *_, cells = self.mechanism.measure(curator, self.stage.town.cells)
        assert isinstance(cells, MeasuredSparse)  # noqa: S101  what a lazy mechanism measures
        first, second = self._shown(cells, _FIRST_LOOK), self._shown(cells, _SECOND_LOOK)
        expected = np.where(second >= _FIRST_LOOK, second, _HIDDEN)
        return np.where(first == expected, second, _CHANGED)

    def _shown(self, cells: MeasuredSparse, threshold: int) -> IntArray:
        assert cells.groups is not None  # noqa: S101  or a fit could not look at it
        shown = cells.reveal_groups(np.full(cells.groups.count, threshold, dtype=np.int64))
        counts = np.full(self.stage.town.cells.size, _HIDDEN, dtype=np.int64)
        counts[shown.cells] = shown.values
        first: IntArray = self.stage.town.by_corner(counts)[0]
        return first
