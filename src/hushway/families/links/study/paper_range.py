"""Algorithm 1 of DP-ANI: how far an end of a trip is moved, from the streets around it.

The paper lets the sparse vector technique choose the radius and calls the choice differentially
private, because one user changes the visits of two links. But what is compared with the threshold
is not visits: it is the number of streets on a public map around a private point. Moving that point
may change the number by any amount, so the noise is for a sensitivity that does not exist.
"""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.links.matching.matcher import Matcher

RangeRule = Literal["adaptive", "fix", "max"]

# What the paper takes for the change that one user makes.
SENSITIVITY: Final = 2.0
STEP_M: Final = 10.0
# Not printed. With this one about as many ends move at the smallest budget as the paper says.
FIRST_M: Final = 60.0


@dataclass(frozen=True, kw_only=True)
class RangePlan:
    """How the radius of an end is chosen.

    Attributes:
        rule: "adaptive" is algorithm 1. "fix" takes the first radius with enough streets, without
            noise; "max" takes the largest of these over all ends, for all.
        epsilon: The budget that the paper gives to the choice of one radius.
        streets: How many streets are enough.
        first_m: The first radius; the next ones are 10 metres larger each.
        most_m: The last radius, taken if no other one is.
    """

    rule: RangeRule
    epsilon: float
    streets: int = 25
    first_m: float = FIRST_M
    most_m: float = 2000.0

    def __post_init__(self) -> None:
        if self.rule not in get_args(RangeRule):
            raise PlanError(
                f"The paper has no variant {self.rule!r}.",
                advice='Use "adaptive", "fix" or "max".',
            )
        if not (self.epsilon > 0 and self.streets >= 1 and 0 < self.first_m <= self.most_m):
            raise PlanError(
                "Epsilon, the number of streets and the radii must be above 0, in order.",
                advice="The paper uses budgets from 0.1 to 10 and 25 streets.",
            )

    @property
    def radii(self) -> FloatArray:
        """The radii that are tried, in metres."""
        return np.arange(self.first_m, self.most_m + STEP_M / 2, STEP_M)


def ranges(
    plan: RangePlan,
    matcher: Matcher,
    where: tuple[FloatArray, FloatArray],
    rng: np.random.Generator,
) -> FloatArray:
    """Returns the radius of every end at `where`, its (x, y) in metres.

    The paper counts links; here the two directions of a street count once.

    Privacy:
        None: see the module. "max" even takes the worst case over everybody's exact ends.
    """
    counts = matcher.links_within(*where, plan.radii)
    if plan.rule == "adaptive":
        return plan.radii[above_threshold(counts, plan.streets, plan.epsilon, rng)]
    found = plan.radii[_first(counts >= plan.streets)]
    return found if plan.rule == "fix" else np.full_like(found, found.max(initial=plan.first_m))


def above_threshold(
    counts: IntArray, threshold: float, epsilon: float, rng: np.random.Generator
) -> IntArray:
    """Returns for each row the first column whose noisy count passes a noisy threshold.

    The last column stands for rows where none does.
    """
    noisy = threshold + rng.laplace(0.0, 2 * SENSITIVITY / epsilon, len(counts))
    asked = counts + rng.laplace(0.0, 4 * SENSITIVITY / epsilon, counts.shape)
    return _first(asked >= noisy[:, None])


def _first(passed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> IntArray:
    passed[:, -1] = True
    return np.asarray(passed.argmax(axis=1), dtype=np.int64)
