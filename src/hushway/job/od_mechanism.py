"""The mechanism that a plan asks for."""

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from hushway.fitting.tree_shares import geometric_shares
from hushway.geography.features import Feature
from hushway.geography.od import ODCells
from hushway.plan import CBDPPlan, HierarchicalPlan, LaplacePlan, ODPlan
from hushway.privacy.bound import Bound
from hushway.privacy.loss import Loss, Measure, PureLoss
from hushway.releases.od.catalogue import od_cbdp, od_hierarchical
from hushway.releases.od.laplace import od_laplace
from hushway.releases.od.measuring import feature_query
from hushway.releases.od.noise_choice import NoiseChoice, compare_noise
from hushway.releases.od.recommended import recommended_shares, recommended_weights
from hushway.releases.od.shares import (
    given_shares,
    important_shares,
    named_importance,
    uniform_shares,
)
from hushway.releases.od.terms import ODMechanism
from hushway.releases.od.weights import Weights


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
