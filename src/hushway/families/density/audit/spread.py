"""The claim that the noise of several questions is as wide as was paid for, neither less nor more.

A run gives the mean square of each question's noise, in variances. The mean over many runs is 1,
and a single square of a normal number is as far from it as any.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from hushway.audit.finding import Finding
from hushway.audit.harness import Sampler, enough

# As for other means: 8 standard errors leave room for the normal law to be wrong by a factor of a
# million before 1e-9.
_STANDARD_ERRORS = 8
# The square of a normal number varies by the root of 2, and the mean of several by less.
_MOST_SPREAD = math.sqrt(2)
_THOUSAND = 1000


@dataclass(frozen=True, kw_only=True)
class SpreadCheck:
    """The claim that mean squares, in variances, are 1.

    Attributes:
        name: What is audited.
        statistics: What has the variance; a run has a column for each.
        epsilon: The claimed epsilon.
        delta: The claimed delta.
        sample: Returns the mean squares of so many runs, in thousandths, one row each.
        effort: How many times the runs that are asked for it takes.
    """

    name: str
    statistics: tuple[str, ...]
    epsilon: Fraction
    delta: Fraction
    sample: Sampler
    effort: Fraction = Fraction(1)

    def examine(self, runs: int) -> Finding:
        """Compares each mean with 1, and tells the one that is furthest from it."""
        runs = enough(runs, self.effort)
        means = self.sample(runs).mean(axis=0) / _THOUSAND
        worst = int(abs(means - 1).argmax())
        slack = _STANDARD_ERRORS * _MOST_SPREAD / math.sqrt(runs)
        return Finding(
            name=self.name,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            epsilon_lower=0.0,
            runs=runs,
            event=(
                f"{self.statistics[worst]} has {means[worst]:.4f} times the variance that was "
                "paid for"
            ),
            passed=bool(abs(means[worst] - 1) <= slack),
            reason=f"Chance explains {1 - slack:.3f} to {1 + slack:.3f}.",
        )
