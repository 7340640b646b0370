"""How a budget is shared out between the features and the cells, in exact fractions."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

from hushway.errors import PlanError
from hushway.families.od.fit.weights import Weights
from hushway.families.od.public.features import DESTINATIONS, ORIGINS, Feature
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss, Measure, loss_of

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
    """Returns the shares that minimise a weighted sum of squared errors, the cells last.

    With noise whose variance goes as share^-2 (Laplace) the best shares are as importance^(1/3);
    with share^-1 (Gaussian) as importance^(1/2).
    """
    power = 1 / 3 if measure is Measure.PURE else 1 / 2
    best = [weight**power for weight in importance]
    whole = sum(best)
    shares = [max(1, round(_STEPS * part / whole)) for part in best[:-1]]
    rest = _STEPS - sum(shares)
    return tuple(Fraction(part, _STEPS) for part in (*shares, rest))


def spends_of(budget: Loss, shares: Sequence[Fraction]) -> tuple[Loss, ...]:
    """Returns the spend of each measurement; together they are exactly the budget."""
    return tuple(loss_of(budget.measure, budget.amount * share) for share in shares)


# Share of the cells, of the total and of the periods; the other features divide up the rest.
_CELLS, _TOTAL, _PERIOD, _OTHERS = 0.5, 0.04, 0.08, 0.38


def recommended_weights() -> Weights:
    """Returns the weighting that measured best."""
    return Weights.SIZE_OVER_VARIANCE


def recommended_shares(features: Sequence[Feature], measure: Measure) -> tuple[Fraction, ...]:
    """Returns the shares of the features and, last, of the cells that measured best.

    They are those of `important_shares` for the importance that we put on each feature.
    """
    others = sum(1 for f in features if f.title not in ("total", "period"))
    fixed = {"total": _TOTAL, "period": _PERIOD}
    wanted = [fixed.get(f.title, _OTHERS / max(1, others)) for f in features] + [_CELLS]
    importance = [share**3 for share in wanted]
    return important_shares(importance, measure)


# Share of the cells at epsilon 1 a trip, how much it grows with ten times as much, and its limits.
_CELLS_AT_ONE, _CELLS_GROW, _CELLS_FROM, _CELLS_TO = 0.8, 0.15, 0.65, 0.94
# Of what the cells leave: the total, the periods, and all other features.
_ENDS = (ORIGINS, DESTINATIONS)
_LEFT = {"total": 0.1, "period": 0.15}
_LEFT_FOR_OTHERS = 0.39
# The same where ends of trips are measured, which tell most of it already.
_LEFT_BESIDE_ENDS = {"total": 0.1, "period": 0.06}
_LEFT_FOR_OTHERS_BESIDE = 0.16
# Share of each end of trips at epsilon 1 a trip and below, and the power by which it falls.
_END_AT_ONE, _END_FALLS = 0.1, 0.65
# Ends are measured if their sums have so many cells at epsilon 1 and below, and by which power that
# grows. Chosen on Ann Arbor, bike share, taxis and two generated metros; nothing was held out.
_WORTH_AT_ONE, _WORTH_GROWS = 140, 0.4
# Of what the cells leave where it is known that ends of trips stand out of their noise.
_LEFT_BY_PEOPLE = {"total": 0.06, "period": 0.09}
_LEFT_FOR_A_SURE_END, _LEFT_FOR_OTHERS_THEN = 0.25, 0.35
# Sums of an end stand out if an average one is this many deviations of their noise.
_STANDS_OUT = 1.0


def learned_shares(features: Sequence[Feature], budget: Loss, bound: Bound) -> tuple[Fraction, ...]:
    """Returns the shares of features and, last, of the cells for tables that learn.

    The more budget there is for a trip, the more do cells tell by themselves, and the less is left
    for sums: these follow from cells then. Chosen on Ann Arbor, bike share, taxis and
    two generated metros, one run each; no data set was held out.
    """
    strength = _strength(budget, bound)
    sums = [feature.title for feature in features if feature.title not in _ENDS]
    alone = len(sums) == len(features)
    known, rest = (
        (_LEFT, _LEFT_FOR_OTHERS) if alone else (_LEFT_BESIDE_ENDS, _LEFT_FOR_OTHERS_BESIDE)
    )
    others = max(1, len(set(sums) - set(known)))
    parts = {title: known.get(title, rest / others) for title in sums}
    # What a sum that is not measured would have cost goes to the others.
    left = (1 - _share_of_cells(strength)) * (sum(known.values()) + rest)
    end = _END_AT_ONE / max(1.0, strength) ** _END_FALLS
    wanted = [
        end if f.title in _ENDS else left * parts[f.title] / sum(parts.values()) for f in features
    ]
    return _with_cells(wanted, budget)


def people_shares(features: Sequence[Feature], budget: Loss, bound: Bound) -> tuple[Fraction, ...]:
    """Returns the same for tables of people, of which it is known whether ends stand out."""
    others = sum(1 for feature in features if feature.title not in (*_LEFT, *_ENDS))
    known = {**_LEFT_BY_PEOPLE, **dict.fromkeys(_ENDS, _LEFT_FOR_A_SURE_END)}
    parts = [known.get(f.title, _LEFT_FOR_OTHERS_THEN / max(1, others)) for f in features]
    # Ends that are not measured leave their part to the cells; there are no others to take it.
    missing = sum(title not in [f.title for f in features] for title in _ENDS)
    whole = sum(parts) + (_LEFT_FOR_A_SURE_END * missing if others else 0)
    return _beside_cells([part / whole for part in parts], budget, bound)


def standing_out(
    features: Sequence[Feature], budget: Loss, bound: Bound, trips: float
) -> tuple[Feature, ...]:
    """Returns features without ends of trips that noise would hide, given how many trips count.

    Where no other feature says where trips go, even noisy ends say more than nothing.
    """
    if all(feature.title in (*_LEFT, *_ENDS) for feature in features):
        return tuple(features)
    spends = spends_of(budget, people_shares(features, budget, bound))
    return tuple(
        feature
        for feature, spend in zip(features, spends, strict=False)
        if feature.title not in _ENDS
        or trips / feature.size >= _STANDS_OUT * math.sqrt(noise_for(spend, bound).variance)
    )


def _beside_cells(left: Sequence[float], budget: Loss, bound: Bound) -> tuple[Fraction, ...]:
    """Returns shares of features, given how they divide what the cells leave, and of the cells."""
    cells = _share_of_cells(_strength(budget, bound))
    return _with_cells([(1 - cells) * part for part in left], budget)


def _with_cells(wanted: Sequence[float], budget: Loss) -> tuple[Fraction, ...]:
    """Returns exact shares of features, and the rest for the cells."""
    return important_shares([share**3 for share in (*wanted, 1 - sum(wanted))], budget.measure)


def _strength(budget: Loss, bound: Bound) -> float:
    """Returns the epsilon of a Laplace law that is as wide as cells' noise with all the budget."""
    return math.sqrt(2 / noise_for(budget, bound).variance)


def _share_of_cells(strength: float) -> float:
    return min(_CELLS_TO, max(_CELLS_FROM, _CELLS_AT_ONE + _CELLS_GROW * math.log10(strength)))


def worth_measuring(features: Sequence[Feature], budget: Loss, bound: Bound) -> tuple[Feature, ...]:
    """Returns features without ends of trips that cells tell as well.

    Where few places make up an origin's trips, or the budget is large, adding up is as good as
    measuring, and the budget is better spent on the cells. This follows from public numbers.
    """
    least = _WORTH_AT_ONE * max(1.0, _strength(budget, bound)) ** _WORTH_GROWS
    return tuple(
        feature
        for feature in features
        if feature.title not in _ENDS or feature.universe.size >= least * feature.size
    )


def geometric_shares(levels: int) -> tuple[Fraction, ...]:
    """Returns the share of each level of a tree, the root first.

    A level gets 2^(1/3) times as much as the level above it, which minimises the error of range
    queries on a binary tree (Cormode, Procopiuc, Srivastava, Shen and Yu 2012). Shares are rounded
    down to millionths, and the leaves get what is left.

    Privacy:
        The shares are positive and add up to exactly 1, so the levels together spend the budget
        and no more.

    Raises:
        PlanError: There is no level, or there are so many that the root's share rounds to 0.
    """
    weights = [2 ** (level / 3) for level in range(levels)]
    shares = [Fraction(int(_STEPS * weight / sum(weights)), _STEPS) for weight in weights]
    if not shares or not shares[0]:
        raise PlanError(
            f"A budget cannot be split over {levels} levels.",
            advice="Choose a tree of 1 to 50 levels.",
        )
    return (*shares[:-1], 1 - sum(shares[:-1], Fraction(0)))
