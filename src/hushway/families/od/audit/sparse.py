"""What an OD release must not give away where only cells above a threshold are published."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import SameLaw
from hushway.audit.harness import Examination, Trial, World
from hushway.families.od.audit.product import NOBODY, Part, Product, Stage, toy_universe
from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.forecast import expected_above

THRESHOLD = 2
# A sparse release takes milliseconds whatever its size, so its toy universe is large.
_CORNERS = toy_universe(places=45, periods=1)
_TWO_PERIODS = toy_universe(places=45, periods=2)
# So many that one in as many is rarer than exp(-4).
_PERIODS = 80
_MANY_PERIODS = toy_universe(places=25, periods=_PERIODS, minutes=10)
# Two shown counts are packed into one number; larger ones are as good as this one.
_MOST = 63


def unvisited_cell(product: Product, epsilon: Fraction) -> Examination:
    """A cell that nobody visited must be published almost as often as one with a trip."""
    stage = Stage(product=product, toy=_CORNERS, spend=PureLoss(epsilon))
    shown = Published(stage, threshold=1)
    return Trial(
        name="a cell with one trip or an unvisited one",
        statistic="whether the cell is published (1) or not (0)",
        epsilon=epsilon,
        worlds=stage.worlds(shown.at_all, ("the trip", (Part(),)), ("no trip", NOBODY)),
        tight=True,
    )


def at_the_threshold(product: Product, epsilon: Fraction) -> Examination:
    """One more person at a cell whose exact count then reaches the threshold."""
    stage = Stage(product=product, toy=_CORNERS, spend=PureLoss(epsilon))
    shown = Published(stage, threshold=THRESHOLD)
    crowd = tuple(Part(person=i) for i in range(THRESHOLD))
    return Trial(
        name="one more person at the threshold",
        statistic="the published count of the cell (0 if it is not published)",
        epsilon=epsilon,
        worlds=stage.worlds(shown.count, ("the person", crowd), ("one person fewer", crowd[1:])),
        tight=True,
    )


def busy_neighbours(product: Product, epsilon: Fraction) -> Examination:
    """An empty cell where nearly all others are visited, and where none is: the same law."""
    stage = Stage(product=product, toy=_MANY_PERIODS, spend=PureLoss(epsilon))
    look = Published(stage, threshold=THRESHOLD).count
    busy = tuple(Part(person=when, period=when) for when in range(1, _PERIODS))
    return SameLaw(
        name="an empty cell among busy ones or among empty ones",
        statistic="the published count of the cell (0 if it is not published)",
        worlds=stage.worlds(look, ("busy neighbours", busy), ("empty ones", NOBODY)),
    )


def sparse_or_dense(product: Product, epsilon: Fraction) -> Examination:
    """A sparse measurement, looked at twice, against a dense one: the same law, so no loss."""
    stage = Stage(product=product, toy=_TWO_PERIODS, spend=PureLoss(epsilon))
    look = TwoCells(stage)
    return Trial(
        name="sparse or dense",
        statistic=f"{_MOST + 1} times one shown count plus another",
        epsilon=Fraction(0),
        worlds=(
            World(words="sparse noise", sample=stage.sampler((Part(),), look.sparse)),
            World(words="dense noise", sample=stage.sampler((Part(),), look.dense)),
        ),
    )


@dataclass(frozen=True)
class Published:
    """The table that the sparse mechanism publishes, seen from each corner."""

    stage: Stage[PureLoss]
    threshold: int

    def at_all(self, curator: Curator) -> IntArray:
        """Returns 1 for a corner whose cell is published, else 0."""
        return (self.count(curator) > 0).astype(np.int64)

    def count(self, curator: Curator) -> IntArray:
        """Returns the published count of a corner's cell, 0 if it has none."""
        cells = self.stage.toy.cells
        mechanism = self._mechanism()
        table = mechanism.fit(mechanism.measure(curator, cells), cells)
        counts = np.zeros(cells.size, dtype=np.int64)
        counts[table.cells] = table.counts
        first: IntArray = self.stage.toy.by_corner(counts)[0]
        return first

    def _mechanism(self) -> SparseLaplace:
        """Returns the mechanism whose own rule arrives at the threshold."""
        spend, size = self.stage.spend, self.stage.toy.cells.size
        law = noise_for(spend, Bound(cells=1, each=1, total=1))
        return SparseLaplace(spend=spend, expected_false=expected_above(law, size, self.threshold))


@dataclass(frozen=True)
class TwoCells:
    """The counts of at least 1 of a corner's two cells, in one whole number."""

    stage: Stage[PureLoss]

    def sparse(self, curator: Curator) -> IntArray:
        """Measures sparsely, looks at the threshold and then below it."""
        cells = self.stage.toy.cells
        mechanism = SparseLaplace(spend=self.stage.spend, expected_false=1)
        (answer,) = mechanism.measure(curator, cells)
        assert isinstance(answer, MeasuredSparse)  # noqa: S101  what a sparse mechanism returns
        answer.reveal()
        shown = answer.reveal(1)
        counts = np.zeros(cells.size, dtype=np.int64)
        counts[shown.cells] = shown.values
        return self._packed(counts)

    def dense(self, curator: Curator) -> IntArray:
        """Measures every cell."""
        mechanism = DenseLaplace(spend=self.stage.spend)
        (answer,) = mechanism.measure(curator, self.stage.toy.cells)
        assert isinstance(answer, Measured)  # noqa: S101  what a dense mechanism returns
        return self._packed(answer.values)

    def _packed(self, counts: IntArray) -> IntArray:
        first, second = self.stage.toy.by_corner(np.clip(counts, 0, _MOST))
        packed: IntArray = (_MOST + 1) * first + second
        return packed
