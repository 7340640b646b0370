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
# The last radius, taken if no other one is.
_MOST_M: Final = 2000.0
_RADII: Final = np.arange(FIRST_M, _MOST_M + STEP_M / 2, STEP_M)
# So many streets are enough.
_STREETS: Final = 25


@dataclass(frozen=True, kw_only=True)
class RangePlan:
    """How the radius of an end is chosen.

    Attributes:
        rule: "adaptive" is algorithm 1. "fix" takes the first radius with enough streets, without
            noise; "max" takes the largest of these over all ends, for all.
        epsilon: The budget that the paper gives to the choice of one radius.
    """

    rule: RangeRule
    epsilon: float

    def __post_init__(self) -> None:
        if self.rule not in get_args(RangeRule):
            raise PlanError(
                f"The paper has no variant {self.rule!r}.", advice='Use "adaptive", "fix" or "max".'
            )
        if not self.epsilon > 0:
            raise PlanError(
                "Epsilon must be above 0.", advice="The paper uses budgets from 0.1 to 10."
            )


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
    counts = matcher.links_within(*where, _RADII)
    if plan.rule == "adaptive":
        return _RADII[above_threshold(counts, _STREETS, plan.epsilon, rng)]
    found = _RADII[_first(counts >= _STREETS)]
    return found if plan.rule == "fix" else np.full_like(found, found.max(initial=FIRST_M))


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
