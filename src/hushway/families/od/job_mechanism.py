"""The mechanism that a plan asks for."""

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from hushway.families.od.fit.tree_shares import geometric_shares
from hushway.families.od.mechanism.catalogue import od_cbdp, od_hierarchical
from hushway.families.od.mechanism.laplace import od_laplace
from hushway.families.od.mechanism.measuring import feature_query
from hushway.families.od.mechanism.recommended import recommended_shares, recommended_weights
from hushway.families.od.mechanism.shares import (
    given_shares,
    important_shares,
    named_importance,
    uniform_shares,
)
from hushway.families.od.mechanism.terms import ODMechanism
from hushway.families.od.mechanism.weights import Weights
from hushway.families.od.noise_choice import NoiseChoice, compare_noise
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_mechanisms import CBDPPlan, HierarchicalPlan, LaplacePlan
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.bound import Bound
from hushway.privacy.loss import Loss, Measure, PureLoss


def mechanism_of(
    plan: ODPlan, cells: ODCells, features: Sequence[Feature], bound: Bound
) -> tuple[ODMechanism, NoiseChoice | None]:
    """Returns what will measure and publish, and how the kinds of noise compare if asked."""
    chosen = plan.mechanism
    match chosen:
        case LaplacePlan():
            spend = PureLoss(plan.privacy.epsilon)
            laplace = od_laplace(
                spend=spend, form=chosen.form, expected_false=chosen.expected_false, cells=cells
            )
            return laplace, None
        case CBDPPlan():
            noise = _compared(plan, chosen, features, bound)
            budget = _budget(plan, chosen.noise, noise)
            cbdp = od_cbdp(
                cells,
                features,
                budget=budget,
                shares=_shares(chosen, features, budget.measure),
                weights=recommended_weights()
                if chosen.weights is None
                else Weights(chosen.weights),
                nest=chosen.structure == "hierarchical",
                controlled=chosen.rounding == "controlled",
                lazy=None if chosen.form == "auto" else chosen.form == "lazy",
            )
            return cbdp, noise
        case HierarchicalPlan():
            noise = _compared(plan, chosen, features, bound)
            budget = _budget(plan, chosen.noise, noise)
            tree = od_hierarchical(
                cells,
                features,
                budget=budget,
                shares=_shares(chosen, features, budget.measure),
                prune=chosen.prune,
            )
            return tree, noise
        case _:
            assert_never(chosen)


def _shares(
    chosen: CBDPPlan | HierarchicalPlan, features: Sequence[Feature], measure: Measure
) -> tuple[Fraction, ...]:
    split = chosen.split
    if isinstance(split, dict):
        return given_shares(split, features)
    if split == "uniform":
        return uniform_shares(features)
    if isinstance(chosen, CBDPPlan) and chosen.importance is not None:
        return important_shares(named_importance(chosen.importance, features), measure)
    if split == "geometric" or (split is None and isinstance(chosen, HierarchicalPlan)):
        return geometric_shares(len(features) + 1)
    return recommended_shares(features, measure)


def _compared(
    plan: ODPlan,
    chosen: CBDPPlan | HierarchicalPlan,
    features: Sequence[Feature],
    bound: Bound,
) -> NoiseChoice | None:
    if plan.privacy.delta is None:
        return None
    return compare_noise(
        epsilon=plan.privacy.epsilon,
        delta=plan.privacy.delta,
        shares=lambda measure: _shares(chosen, features, measure),
        bounds=[*(feature_query(feature).bound(bound) for feature in features), bound],
    )


def _budget(plan: ODPlan, asked: str, noise: NoiseChoice | None) -> Loss:
    """Returns what the release costs: an epsilon, or a rho if Gaussian noise is wanted."""
    if noise is None or asked == "laplace":
        return PureLoss(plan.privacy.epsilon)
    return noise.gaussian_budget if asked == "gaussian" else noise.budget
