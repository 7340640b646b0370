"""What other steps of a series let one step expect of its links and groups, and what follows.

Steps are brought to the level of one step first. Then each link and each group is weighed against
what the others expect of it (`hushway.numerics.wandering`).

Privacy:
    Everything here is computed from noisy values: no row, no budget.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.fit.answers import Told
from hushway.families.links.fit.completion import ENDS, Completed, ToldSums
from hushway.families.links.fit.steps import NoisyStep
from hushway.numerics.wandering import UNKNOWN, Numbers, weighed

# A step tells of another one if its total is at least so many of its errors.
_STANDS_OUT: Final = 3.0
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Learnt:
    """What the answers of all steps say of one.

    Attributes:
        deviations: How many deviations of its noise each cell is above 0; None if no step helps.
    """

    whole: Completed
    sums: ToldSums
    deviations: FloatArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Level:
    """All persons on links of a step, in the groups that another one has too."""

    total: float
    variance: float

    @property
    def stands_out(self) -> bool:
        return self.total > _STANDS_OUT * math.sqrt(self.variance)

    @property
    def relative_variance(self) -> float:
        return self.variance / max(self.total, _NOTHING) ** 2


def with_past(own: Told, steps: Sequence[tuple[int, NoisyStep]]) -> Learnt:
    """Returns what a step was told, weighed against what other steps expect of it."""
    scaled = list(_scaled(own, steps))
    level = _level(own.sums.values, own.sums.variance)
    if not scaled or not level.stands_out:
        return Learnt(whole=own.whole, sums=own.sums)
    away = np.array([steps_away for steps_away, _ in scaled])
    past = [step for _, step in scaled]
    whole = _cells(own.whole, past, away, level)
    deviations = whole.counts / np.sqrt(whole.variance + whole.together)
    return Learnt(whole=whole, sums=_sums(own.sums, past, away), deviations=deviations)


def _scaled(own: Told, steps: Sequence[tuple[int, NoisyStep]]) -> Iterator[tuple[int, NoisyStep]]:
    """Yields steps at the level of one step, as far as they stand out from their noise."""
    for away, step in steps:
        known = step.sum_variance < UNKNOWN
        here, there = (
            _level(np.where(known, values, 0.0), np.where(known, variance, 0.0))
            for values, variance in (
                (own.sums.values, own.sums.variance),
                (step.sums, step.sum_variance),
            )
        )
        scaled = _times(step, here.total / max(there.total, _NOTHING))
        if there.stands_out and _alike(own.whole, scaled):
            yield away, scaled


def _alike(own: Completed, step: NoisyStep) -> bool:
    """Whether another step tells more of counts than that all of them are the same.

    Unless it is clear that it does not: both are seen through noise.
    """
    known = step.variance < UNKNOWN
    counts, variance = own.counts[known], own.variance[known]
    noise = variance + step.variance[known]
    apart = float(((counts - step.counts[known]) ** 2 - noise).sum())
    differ = float(((counts - counts.mean()) ** 2 - variance).sum())
    doubt = float(np.sqrt((2 * noise**2).sum()))
    return apart < differ + _STANDS_OUT * doubt


def _level(values: FloatArray, variance: FloatArray) -> _Level:
    links = slice(0, -ENDS)
    return _Level(total=float(values[:, links].sum()), variance=float(variance[:, links].sum()))


def _times(step: NoisyStep, factor: float) -> NoisyStep:
    return NoisyStep(
        counts=factor * step.counts,
        variance=np.minimum(factor**2 * step.variance, UNKNOWN),
        sums=factor * step.sums,
        sum_variance=np.minimum(factor**2 * step.sum_variance, UNKNOWN),
    )


def _sums(own: ToldSums, past: Sequence[NoisyStep], away: IntArray) -> ToldSums:
    """Returns sums drawn towards those of other steps; all links together keep their sum."""
    numbers = Numbers(own.values.ravel(), own.variance.ravel())
    steps = Numbers(
        np.stack([step.sums.ravel() for step in past]),
        np.stack([step.sum_variance.ravel() for step in past]),
    )
    found, _ = weighed(numbers, steps, away)
    values, links = found.values.reshape(own.values.shape), slice(0, -ENDS)
    values = np.clip(values, own.least, own.most)
    added = own.values[:, links].sum() - values[:, links].sum()
    variance = found.variance.reshape(values.shape)
    values[:, links] += added * variance[:, links] / variance[:, links].sum()
    return replace(own, values=values, variance=variance)


def _cells(own: Completed, past: Sequence[NoisyStep], away: IntArray, level: _Level) -> Completed:
    """Returns cells drawn towards those of other steps."""
    numbers = Numbers(own.counts, own.variance)
    steps = Numbers(
        np.stack([step.counts for step in past]), np.stack([step.variance for step in past])
    )
    found, trust = weighed(numbers, steps, away)
    # Whatever is expected is right or wrong together with the level.
    together = own.together + ((1 - trust) * found.values) ** 2 * level.relative_variance
    return replace(own, counts=found.values, variance=found.variance, together=together)
