"""What an OD mechanism is made from, and which noise suits it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hushway.families.od.mechanism.measuring import ODMechanism, feature_query
from hushway.families.od.mechanism.options import TotalsOptions
from hushway.families.od.mechanism.shares import spends_of
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.release.catalogue import MechanismSpec

if TYPE_CHECKING:
    from hushway.families.od.plan import ODPlan


@dataclass(frozen=True, kw_only=True)
class NoiseChoice:
    """Standard errors of the measurements, and what is spent, with Laplace and Gaussian noise."""

    laplace: tuple[float, ...]
    gaussian: tuple[float, ...]
    laplace_budget: PureLoss
    gaussian_budget: ZCDPLoss

    @property
    def ratio(self) -> float:
        """Gaussian error over Laplace error, the geometric mean over all measurements."""
        logs = [math.log(g / p) for g, p in zip(self.gaussian, self.laplace, strict=True)]
        return math.exp(sum(logs) / len(logs))

    @property
    def gaussian_is_better(self) -> bool:
        """Whether Gaussian noise is smaller."""
        return self.ratio < 1

    @property
    def budget(self) -> Loss:
        """The budget of the better one."""
        return self.gaussian_budget if self.gaussian_is_better else self.laplace_budget

    @property
    def reason(self) -> str:
        """Says which is better and why, in one sentence or two."""
        parts = len(self.laplace)
        if self.gaussian_is_better:
            return (
                f"Gaussian noise is {1 / self.ratio:.2g} times smaller: its error grows with the "
                f"square root of the {parts} measurements and of what one unit moves, Laplace's "
                "with both in full. It needs an account kept in rho."
            )
        return (
            f"Laplace noise is {self.ratio:.2g} times smaller: with {parts} measurements, of which "
            "one unit may move a single cell by all it has, Gaussian noise gains too little to "
            "make up for its delta. Laplace also keeps the guarantee without a delta."
        )


def compare_noise(
    *,
    epsilon: Fraction,
    delta: Fraction,
    shares: Callable[[Loss], Sequence[Fraction]],
    bounds: Sequence[Bound],
) -> NoiseChoice:
    """Compares both kinds of noise for some measurements that share one budget."""
    pure, concentrated = PureLoss(epsilon), ZCDPLoss(rho_for(epsilon, delta))

    def errors(budget: Loss) -> tuple[float, ...]:
        spends = spends_of(budget, shares(budget))
        return tuple(
            math.sqrt(noise_for(spend, bound).variance)
            for spend, bound in zip(spends, bounds, strict=True)
        )

    return NoiseChoice(
        laplace=errors(pure),
        gaussian=errors(concentrated),
        laplace_budget=pure,
        gaussian_budget=concentrated,
    )


@dataclass(frozen=True, kw_only=True)
class ODSetting:
    """A plan and what was read of its public files.

    Attributes:
        features: The public totals that the plan asks for.
        bound: How far one unit moves the cells.
    """

    plan: "ODPlan"
    cells: ODCells
    features: tuple[Feature, ...]
    bound: Bound

    def noise(
        self, options: TotalsOptions, features: Sequence[Feature]
    ) -> tuple[Loss, NoiseChoice | None]:
        """Returns what the release costs, an epsilon or a rho, and how the two compare."""
        privacy = self.plan.privacy
        if privacy.delta is None:
            return PureLoss(privacy.epsilon), None
        choice = compare_noise(
            epsilon=privacy.epsilon,
            delta=privacy.delta,
            shares=lambda budget: options.shares(features, budget, self.bound),
            bounds=[*(feature_query(each).bound(self.bound) for each in features), self.bound],
        )
        budgets: dict[str, Loss] = {
            "laplace": choice.laplace_budget,
            "gaussian": choice.gaussian_budget,
        }
        return budgets.get(options.noise, choice.budget), choice


@dataclass(frozen=True, kw_only=True)
class PlannedMechanism:
    """A mechanism of a plan, and how the kinds of noise compare if a plan allows both."""

    mechanism: ODMechanism
    noise: NoiseChoice | None = None


ODSpec = MechanismSpec[ODSetting, PlannedMechanism]
