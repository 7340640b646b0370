"""The steps of a tree as planned: noise, thresholds and how many false nodes to expect."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod, sqrt
from typing import Any, Protocol, Self

from hushway.errors import PlanError, PrivacyError
from hushway.families.sequences.mechanism.table import StepSummary
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.forecast import expected_above, threshold_for
from hushway.privacy.noise.law import NoiseLaw
from hushway.privacy.noise.lazy import Shown

# The paper's thresholds in standard deviations of the noise: groups are only doors to locations,
# and a false door costs more than a missed one.
_GROUP_DEVIATIONS, _LOCATION_DEVIATIONS = 4, 2


@dataclass(frozen=True, kw_only=True)
class StepShape:
    """What is known about a step before anything is measured.

    Attributes:
        candidates: How many candidates all possible parents have together.
        parents: How many possible parents there are; the mean number of candidates of one node is
            their ratio.
        group: Whether candidates are groups, not locations.
    """

    candidates: int
    parents: int
    group: bool


class Thresholds(Protocol):
    """A public rule that says how high a noisy count must be."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The rule as plain values, for the certificate."""
        ...

    def threshold(self, shape: StepShape, spend: Loss, bound: Bound) -> int:
        """Returns the lowest noisy count that makes a node, at least 1.

        Privacy:
            A function of public numbers: looking at it reveals nothing.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class PaperThresholds:
    """The rule of the paper: 4 standard deviations for groups, 2 for locations.

    The deviation of Laplace noise of scale b counts as sqrt(2) b, as in the paper.
    """

    @property
    def parameters(self) -> dict[str, Any]:
        """The rule as plain values."""
        return {"rule": "paper"}

    def threshold(self, shape: StepShape, spend: Loss, bound: Bound) -> int:
        """Returns the lowest whole number that is not below the paper's threshold."""
        deviations = _GROUP_DEVIATIONS if shape.group else _LOCATION_DEVIATIONS
        variance = (
            2 * Fraction(bound.l1, 1) ** 2 / spend.epsilon**2
            if isinstance(spend, PureLoss)
            else Fraction(bound.l2_squared, 1) / (2 * spend.rho)
        )
        # t >= sqrt(v) and t*t >= v and t*t >= ceil(v) say the same of a whole t.
        return math.isqrt(math.ceil(deviations**2 * variance) - 1) + 1


@dataclass(frozen=True, kw_only=True)
class ExpectedFalse:
    """The lowest thresholds that keep false nodes rare, by the exact law of the noise.

    Attributes:
        kappa: How many empty candidates of one node may become nodes on average, at every step;
            below 1, so that a false node has fewer than one false child.
    """

    kappa: float

    def __post_init__(self) -> None:
        if not 0 < self.kappa < 1:
            raise PlanError(
                "The expected number of false children must lie between 0 and 1.",
                advice="Choose for example 0.1: one node in ten has a child that nobody visited.",
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The rule as plain values."""
        return {"rule": "expected_false", "kappa": self.kappa}

    def threshold(self, shape: StepShape, spend: Loss, bound: Bound) -> int:
        """Returns the lowest threshold that at most kappa empty candidates of a node pass."""
        law = noise_for(spend, bound)
        return threshold_for(law, shape.candidates, self.kappa * shape.parents)


@dataclass(frozen=True, kw_only=True)
class PlannedStep:
    """One stop at one granularity, before anything is measured.

    Attributes:
        stop: Which stop, from 0.
        grain: Which granularity, the last being locations.
        spend: What it costs.
        law: The noise in each count.
        threshold: Candidates measured at or above it become nodes.
        chance: The probability that an empty candidate does.
        false_children: How many empty candidates of one node do, on average.
    """

    stop: int
    grain: int
    spend: Loss
    law: NoiseLaw
    threshold: int
    chance: float
    false_children: float


def planned_steps(
    universe: SequenceUniverse, spends: Sequence[Loss], thresholds: Thresholds, bound: Bound
) -> tuple[PlannedStep, ...]:
    """Returns the steps of a tree, in the order of measuring.

    Privacy:
        A function of public numbers; `bound` is how far one unit moves any step.
    """
    taxonomy = universe.taxonomy
    rules: dict[tuple[int, Loss], tuple[int, float, float]] = {}
    steps = []
    places = product(range(len(spends) // taxonomy.grains), range(taxonomy.grains))
    for (stop, grain), spend in zip(places, spends, strict=True):
        law = noise_for(spend, bound)
        if (grain, spend) not in rules:
            shape = _shape(taxonomy, universe.moments, grain)
            threshold = thresholds.threshold(shape, spend, bound)
            chance = expected_above(law, 1, threshold)
            rules[grain, spend] = threshold, chance, chance * shape.candidates / shape.parents
        threshold, chance, false_children = rules[grain, spend]
        steps.append(
            PlannedStep(
                stop=stop,
                grain=grain,
                spend=spend,
                law=law,
                threshold=threshold,
                chance=chance,
                false_children=false_children,
            )
        )
    return tuple(steps)


def most_false_children(steps: Sequence[PlannedStep], grains: int) -> float:
    """Returns how many false prefixes, one stop longer, a false prefix has on average at most."""
    stops = [steps[first : first + grains] for first in range(0, len(steps), grains)]
    return max(prod(step.false_children for step in stop) for stop in stops)


def refuse_supercritical(steps: Sequence[PlannedStep], grains: int) -> None:
    """Refuses a tree in which false prefixes would multiply from stop to stop.

    Raises:
        PrivacyError: A false prefix has one false child or more, on average.
    """
    children = most_false_children(steps, grains)
    if children >= 1:
        raise PrivacyError(
            f"Every prefix that nobody took would have {children:.3g} such prefixes below it, on "
            "average: noise alone would make the tree grow without end. It must be below 1.",
            advice='Choose thresholds by "expected_false", or give the locations groups.',
        )


def _shape(taxonomy: Taxonomy, moments: int, grain: int) -> StepShape:
    group = grain < taxonomy.grains - 1
    if grain == 0:
        return StepShape(candidates=taxonomy.size(0) * moments, parents=1, group=group)
    return StepShape(candidates=taxonomy.size(grain), parents=taxonomy.size(grain - 1), group=group)


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
