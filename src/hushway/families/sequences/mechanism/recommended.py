"""The defaults for a prefix tree, as measured on synthetic Metro and Bus cities."""

import math
from fractions import Fraction

from hushway.errors import PlanError
from hushway.families.sequences.mechanism.shares import balanced_grain_shares, geometric_shares
from hushway.families.sequences.mechanism.thresholds import ExpectedFalse, Thresholds
from hushway.families.sequences.public.universe import SequenceUniverse

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
