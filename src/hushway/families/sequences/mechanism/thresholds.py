"""From which noisy count on a candidate becomes a node: rules over public numbers alone."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from hushway.errors import PlanError
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.noise.forecast import threshold_for

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
        group: Whether candidates are groups, not locations.
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
        kappa: How many empty candidates of one node may become nodes on average, at every step;
            below 1, so that a false node has fewer than one false child.
    """

    kappa: float

    def __post_init__(self) -> None:
        if not 0 < self.kappa < 1:
            raise PlanError(
                "The expected number of false children must lie between 0 and 1.",
                advice="Choose for example 0.1: one node in ten has a child that nobody visited.",
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The rule as plain values."""
        return {"rule": "expected_false", "kappa": self.kappa}

    def threshold(self, shape: StepShape, spend: Loss, bound: Bound) -> int:
        """Returns the lowest threshold that at most kappa empty candidates of a node pass."""
        law = noise_for(spend, bound)
        return threshold_for(law, shape.candidates, self.kappa * shape.parents)
