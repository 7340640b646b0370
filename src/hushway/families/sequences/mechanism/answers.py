"""What one step of a tree has shown."""

from dataclasses import dataclass
from math import sqrt
from typing import Self

from hushway.families.sequences.mechanism.table import StepSummary
from hushway.families.sequences.public.prefixes import PrefixCells
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.lazy import Shown


@dataclass(frozen=True, kw_only=True, eq=False)
class StepAnswer:
    """The noisy answer to one step, as the fit reads it.

    Attributes:
        cells: The candidates.
        shown: Those at or above the threshold, with their noisy counts.
        threshold: The threshold.
        variance: Variance of the noise in each count.
    """

    cells: PrefixCells
    shown: Shown
    threshold: int
    variance: float

    @classmethod
    def of(cls, answer: Measured | MeasuredSparse) -> Self:
        """Returns what a measurement of `PrefixTree.measure` shows."""
        assert isinstance(answer, MeasuredSparse)  # noqa: S101  what `measure` returns
        assert isinstance(answer.query.cells, PrefixCells)  # noqa: S101
        assert answer.threshold is not None  # noqa: S101
        return cls(
            cells=answer.query.cells,
            shown=answer.reveal(),
            threshold=answer.threshold,
            variance=float(answer.variance),
        )

    @property
    def summary(self) -> StepSummary:
        """What is public about the step."""
        return StepSummary(
            stop=self.cells.stop,
            grain=self.cells.grain,
            candidates=self.cells.size,
            threshold=self.threshold,
            kept=len(self.shown.cells),
            standard_error=sqrt(self.variance),
        )
