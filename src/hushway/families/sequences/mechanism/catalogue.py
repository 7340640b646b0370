"""Prefix trees by name: from the public facts of a plan to a complete mechanism."""

from collections.abc import Sequence
from fractions import Fraction

from hushway.errors import PlanError
from hushway.families.sequences.mechanism.shares import (
    recommended_grain_shares,
    recommended_shares,
    recommended_thresholds,
    step_spends,
)
from hushway.families.sequences.mechanism.thresholds import Thresholds
from hushway.families.sequences.mechanism.tree import MOST_NODES, PrefixTree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.loss import Loss


def prefix_tree(  # noqa: PLR0913  one argument for each public choice
    universe: SequenceUniverse,
    *,
    budget: Loss,
    height: int,
    level_shares: Sequence[Fraction] | None = None,
    grain_shares: Sequence[Fraction] | None = None,
    thresholds: Thresholds | None = None,
    most_nodes: int = MOST_NODES,
    supercritical: bool = False,
) -> PrefixTree:
    """Returns a prefix tree; without a choice, shares and thresholds are the recommended ones.

    Privacy:
        The steps together cost exactly `budget`.

    Args:
        universe: The public taxonomy and periods.
        budget: What the whole tree may cost; its currency decides on the noise.
        height: The most stops of a published sequence.
        level_shares: The share of each stop in the budget.
        grain_shares: The share of each granularity in what a stop gets, the coarsest first.
        thresholds: From which noisy count on a candidate becomes a node.
        most_nodes: Where a tree that has grown too large stops.
        supercritical: Whether false nodes may multiply until `most_nodes`.

    Raises:
        PlanError: Shares do not add up to 1, or are not one for each stop and each granularity.
    """
    stops = recommended_shares(height) if level_shares is None else level_shares
    grains = recommended_grain_shares(universe) if grain_shares is None else grain_shares
    if len(stops) != height or len(grains) != universe.taxonomy.grains:
        raise PlanError(
            f"A tree of {height} stops and {universe.taxonomy.grains} granularities needs a share "
            f"for each; {len(stops)} and {len(grains)} are given.",
            advice="Give one share for each stop, and one for each granularity.",
        )
    return PrefixTree(
        universe=universe,
        spends=step_spends(budget, stops, grains),
        thresholds=recommended_thresholds() if thresholds is None else thresholds,
        most_nodes=most_nodes,
        supercritical=supercritical,
    )
