"""How a budget is shared out between the stops of a tree and between granularities, exactly."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from hushway.errors import PlanError
from hushway.families.sequences.mechanism.steps import ExpectedFalse, Thresholds
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.privacy.loss import Loss, loss_of

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

    Args:
        taxonomy: The public tree over the locations.
        moments: Number of public periods; 1 if times are not kept.
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
    return ExpectedFalse(kappa=_KAPPA)
