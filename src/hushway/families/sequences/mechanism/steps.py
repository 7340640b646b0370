"""The steps of a tree as planned: shares of the budget, noise, thresholds, false nodes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod, sqrt
from typing import Any, Protocol, Self

from hushway.errors import PlanError, PrivacyError
from hushway.families.sequences.fit.table import StepSummary
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import expected_above, noise_for, threshold_for
from hushway.privacy.loss import Loss, PureLoss, loss_of
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.inversion import NoiseLaw
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
        expected_false_prefixes: How many empty candidates of one node may become nodes on average,
            at every step; below 1, so that a false node has fewer than one false child.
    """

    expected_false_prefixes: float

    def __post_init__(self) -> None:
        if not 0 < self.expected_false_prefixes < 1:
            raise PlanError(
                "The expected number of false children must lie between 0 and 1.",
                advice="Choose for example 0.1: one node in ten has a child that nobody visited.",
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The rule as plain values."""
        return {"rule": "expected_false", "expected_false_prefixes": self.expected_false_prefixes}

    def threshold(self, shape: StepShape, spend: Loss, bound: Bound) -> int:
        """Returns the lowest threshold that as few empty candidates of a node pass, on average."""
        law = noise_for(spend, bound)
        return threshold_for(law, shape.candidates, self.expected_false_prefixes * shape.parents)


@dataclass(frozen=True, kw_only=True)
class PlannedStep:
    """One stop at one granularity, before anything is measured.

    Attributes:
        stop: Which stop, from 0.
        grain: Which granularity, the last being locations.
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
            advice='Choose thresholds by "expected_false", or give the places groups.',
        )


def _shape(taxonomy: Taxonomy, moments: int, grain: int) -> StepShape:
    group = grain < taxonomy.grains - 1
    if grain == 0:
        return StepShape(candidates=taxonomy.size(0) * moments, parents=1, group=group)
    return StepShape(candidates=taxonomy.size(grain), parents=taxonomy.size(grain - 1), group=group)


@dataclass(frozen=True, kw_only=True, eq=False)
class StepAnswer:
    """The noisy answer to one step: candidates, those that were kept, and the variance."""

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


_STEPS = 10**6


def uniform_shares(height: int) -> tuple[Fraction, ...]:
    """Returns the paper's shares: the same for every stop.

    Raises:
        PlanError: A tree needs at least one stop.
    """
    return geometric_shares(height, ratio=Fraction(1))


def geometric_shares(height: int, *, ratio: Fraction) -> tuple[Fraction, ...]:
    """Returns shares that grow by a ratio from one stop to the next.

    Early stops are counted over more records than late ones; a ratio above 1 gives the late stops,
    whose counts are small, less noise.

    Raises:
        PlanError: A tree needs at least one stop, and the ratio must be positive.
    """
    if height < 1 or ratio <= 0:
        raise PlanError(
            "A tree needs at least one stop, and a positive ratio between the shares of its stops.",
            advice="Choose for example a height of 12 and a ratio of 1.",
        )
    if ratio == 1:
        return (Fraction(1, height),) * height
    return _rounded([ratio**stop for stop in range(height)])


def paper_grain_shares(taxonomy: Taxonomy) -> tuple[Fraction, ...]:
    """Returns the paper's share of each granularity in what a stop gets, the coarsest first.

    Groups with f children each on average get 2/f of what is left, but never more than half: with
    two children or fewer nothing would be left for the locations.
    """
    shares: list[Fraction] = []
    left = Fraction(1)
    for grain in range(taxonomy.grains - 1):
        fan_out = Fraction(taxonomy.size(grain + 1), taxonomy.size(grain))
        part = _in_steps(left * min(Fraction(1, 2), 2 / fan_out))
        shares.append(part)
        left -= part
    return (*shares, left)


def balanced_grain_shares(taxonomy: Taxonomy, *, moments: int = 1) -> tuple[Fraction, ...]:
    """Returns shares that put the thresholds of all granularities at about the same count.

    A threshold that few of c empty candidates pass lies about log(c) scales of noise above 0, so
    shares go as log(1 + c). A record is lost at the highest of the thresholds on its way, whatever
    the others are. The locations get at least half, for their counts are what is published.
    `moments` is the number of public periods.
    """
    sizes = [taxonomy.size(grain) for grain in range(taxonomy.grains)]
    candidates = [sizes[0] * moments, *(below / above for above, below in pairwise(sizes))]
    *groups, places = (Fraction(math.log1p(count)) for count in candidates)
    return _rounded([*groups, max(places, sum(groups, Fraction(0)))])


def step_spends(
    budget: Loss, level_shares: Sequence[Fraction], grain_shares: Sequence[Fraction]
) -> tuple[Loss, ...]:
    """Returns the spend of each step, stop by stop; together they are exactly the budget.

    Raises:
        PlanError: Shares are not positive, or do not add up to 1.
    """
    for shares in (level_shares, grain_shares):
        if not shares or min(shares) <= 0 or sum(shares) != 1:
            raise PlanError(
                "The shares of stops and of granularities must be positive and add up to exactly "
                "1.",
                advice='Write shares in quotes, such as "0.4" or "1/3".',
            )
    return tuple(
        loss_of(budget.measure, budget.amount * level * grain)
        for level in level_shares
        for grain in grain_shares
    )


def _rounded(parts: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Returns shares as multiples of a millionth; the largest one takes up what rounding leaves."""
    whole = sum(parts)
    shares = [_in_steps(part / whole) for part in parts]
    largest = max(range(len(shares)), key=shares.__getitem__)
    shares[largest] += 1 - sum(shares)
    return tuple(shares)


def _in_steps(share: Fraction) -> Fraction:
    return Fraction(max(1, round(share * _STEPS)), _STEPS)


# Few records are long: a tree often ends before its height, and what late stops had is unspent.
_RATIO = Fraction(17, 20)
_KAPPA = 0.4
# Heights from twice to five times the mean length measured alike; lower ones lose long records.
_LENGTHS = 2.5
_LOWEST, _HIGHEST = 6, 40


def recommended_height(mean_stops: float) -> int:
    """Returns the height of the tree, from a public guess of how many stops a record has.

    Raises:
        PlanError: A record has at least one stop.
    """
    if not mean_stops >= 1:
        raise PlanError(
            "A record has at least one stop on average.", advice="Guess 4 if nothing is known."
        )
    return min(_HIGHEST, max(_LOWEST, math.ceil(_LENGTHS * mean_stops)))


def recommended_shares(height: int) -> tuple[Fraction, ...]:
    """Returns the share of each stop.

    Raises:
        PlanError: A tree needs at least one stop.
    """
    return geometric_shares(height, ratio=_RATIO)


def recommended_grain_shares(universe: SequenceUniverse) -> tuple[Fraction, ...]:
    """Returns the share of each granularity in what a stop gets, the coarsest first."""
    return balanced_grain_shares(universe.taxonomy, moments=universe.moments)


def recommended_thresholds() -> Thresholds:
    """Returns the rule for thresholds."""
    return ExpectedFalse(expected_false_prefixes=_KAPPA)
