"""How a budget is split over the levels of a tree: geometrically, most for the leaves."""

from fractions import Fraction

from hushway.errors import PlanError

# Shares are read by people and printed in plans, so they have six decimals.
_PARTS = 10**6


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
    shares = [Fraction(int(_PARTS * weight / sum(weights)), _PARTS) for weight in weights]
    if not shares or not shares[0]:
        raise PlanError(
            f"A budget cannot be split over {levels} levels.",
            advice="Choose a tree of 1 to 50 levels.",
        )
    return (*shares[:-1], 1 - sum(shares[:-1], Fraction(0)))
