"""How a budget is shared out between the features and the cells, in exact fractions."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from hushway.errors import PlanError
from hushway.families.od.public.features import Feature
from hushway.privacy.loss import Loss, Measure, PureLoss, ZCDPLoss

CELLS = "cells"

_Number = TypeVar("_Number")

_STEPS = 10**6


def uniform_shares(features: Sequence[Feature]) -> tuple[Fraction, ...]:
    """Returns the paper's shares: as much for the cells as for each feature."""
    parts = len(features) + 1
    return (Fraction(1, parts),) * parts


def given_shares(
    given: Mapping[str, Fraction], features: Sequence[Feature]
) -> tuple[Fraction, ...]:
    """Returns shares that a plan gives by name.

    Raises:
        PlanError: A share is missing or too many, not positive, or they do not add up to 1.
    """
    shares = _in_order("split", given, features)
    if min(shares) <= 0 or sum(shares) != 1:
        raise PlanError(
            "The shares of the split must be positive and add up to exactly 1.",
            advice='Write shares in quotes, such as "0.4" or "1/3".',
        )
    return shares


def named_importance(given: Mapping[str, float], features: Sequence[Feature]) -> tuple[float, ...]:
    """Returns the importance that a plan puts on each feature and, last, on the cells.

    Raises:
        PlanError: One is missing or too many.
    """
    return _in_order("importance", given, features)


def _in_order(
    option: str, given: Mapping[str, _Number], features: Sequence[Feature]
) -> tuple[_Number, ...]:
    titles = [feature.title for feature in features] + [CELLS]
    if set(given) != set(titles):
        raise PlanError(
            f"The {option} must give a number to each of {', '.join(titles)} and to nothing else.",
            advice=f'Write, for example, {option} = {{ cells = "0.4", total = "0.1", ... }}.',
        )
    return tuple(given[title] for title in titles)


def important_shares(importance: Sequence[float], measure: Measure) -> tuple[Fraction, ...]:
    """Returns the shares that minimise a weighted sum of squared errors.

    With noise whose variance goes as share^-2 (Laplace) the best shares are as importance^(1/3);
    with share^-1 (Gaussian) as importance^(1/2).

    Args:
        importance: What the publisher holds of a squared error of each feature, the cells last.
        measure: The currency of the budget, which decides on the noise.
    """
    power = 1 / 3 if measure is Measure.PURE else 1 / 2
    best = [weight**power for weight in importance]
    whole = sum(best)
    shares = [max(1, round(_STEPS * part / whole)) for part in best[:-1]]
    rest = _STEPS - sum(shares)
    return tuple(Fraction(part, _STEPS) for part in (*shares, rest))


def spends_of(budget: Loss, shares: Sequence[Fraction]) -> tuple[Loss, ...]:
    """Returns the spend of each measurement; together they are exactly the budget."""
    if isinstance(budget, PureLoss):
        return tuple(PureLoss(budget.epsilon * share) for share in shares)
    return tuple(ZCDPLoss(budget.rho * share) for share in shares)
