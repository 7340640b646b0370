"""The claim that something happens just as often as the law of the noise says."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.audit.bounds import lower_bound, upper_bound
from hushway.audit.finding import Finding
from hushway.audit.harness import Sampler, enough


@dataclass(frozen=True, kw_only=True)
class ChanceCheck:
    """The claim that an event has a known probability.

    Attributes:
        name: What is audited.
        statistic: What happens.
        epsilon: The claimed epsilon of the release.
        delta: The claimed delta.
        chance: The probability.
        sample: Returns 1 where it happens and 0 where it does not.
    """

    name: str
    statistic: str
    epsilon: Fraction
    delta: Fraction
    chance: float
    sample: Sampler

    def examine(self, runs: int) -> Finding:
        """Compares how often it happens with the probability, by exact bounds."""
        runs = enough(runs)
        seen = np.array([np.count_nonzero(self.sample(runs))])
        low, high = float(lower_bound(seen, runs)[0]), float(upper_bound(seen, runs)[0])
        return Finding(
            name=self.name,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            epsilon_lower=0.0,
            runs=runs,
            event=(
                f"{self.statistic} {100 * seen[0] / runs:.4g}% of the time; "
                f"its law says {100 * self.chance:.4g}%"
            ),
            passed=low <= self.chance <= high,
            reason=f"Chance explains {100 * low:.4g}% to {100 * high:.4g}%.",
        )


def gaussian_tail(sigma_squared: Fraction, least: float) -> float:
    """Returns the probability that a discrete Gaussian number is at least `least`."""
    reach = math.ceil(40 * math.sqrt(sigma_squared))
    values = np.arange(-reach, reach + 1, dtype=np.float64)
    mass = np.exp(-(values**2) / (2 * float(sigma_squared)))
    return float(mass[values >= least].sum() / mass.sum())
