"""What other steps of a series let one step expect of its links and groups, and what follows.

Steps are brought to the level of one step first. Then each link and each group is weighed against
what the others expect of it (`hushway.numerics.wandering`).

Privacy:
    Everything here is computed from noisy values: no row, no budget.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.fit.answers import Answers, Told, told_by
from hushway.families.links.fit.completion import ENDS, Completed, ToldSums
from hushway.families.links.fit.left_out_before import alike
from hushway.families.links.fit.steps import NoisyStep
from hushway.families.links.public.universe import ClassZones
from hushway.numerics.wandering import UNKNOWN, Numbers, weighed

# A step tells of another one if its total is at least so many of its errors.
_STANDS_OUT: Final = 3.0
_NOTHING: Final = 1e-12

Factor = float | FloatArray


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


def learnt(answers: Answers, groups: ClassZones, steps: Sequence[tuple[int, NoisyStep]]) -> Learnt:
    """Returns what answers say, weighed against what other steps expect of it."""
    own = told_by(answers, groups)
    helpful = [(away, step) for away, step in steps if _helps(own, step)]
    if not helpful:
        return Learnt(whole=own.whole, sums=own.sums)
    beyond = [step.beyond for _, step in helpful if step.beyond is not None]
    return _weighed(told_by(answers, groups, beyond), helpful)


def _weighed(own: Told, steps: Sequence[tuple[int, NoisyStep]]) -> Learnt:
    away = np.array([steps_away for steps_away, _ in steps])
    past = [_scaled(own, step) for _, step in steps]
    whole = _cells(own, past, away)
    deviations = whole.counts / np.sqrt(whole.variance + whole.together)
    return Learnt(whole=whole, sums=_sums(own.sums, past, away), deviations=deviations)


def _helps(own: Told, step: NoisyStep) -> bool:
    """Whether a step and another one stand out from their noise, and are alike."""
    here, there = _levels(own, step)
    return here.stands_out and there.stands_out and _alike(own.whole, _scaled(own, step))


def _scaled(own: Told, step: NoisyStep) -> NoisyStep:
    """Returns a step at the level of one step."""
    same = _completed_alike(own, step)
    here, there = _levels(own, same)
    factor = here.total / max(there.total, _NOTHING)
    return _times(same, factor, factor)


def _levels(own: Told, step: NoisyStep) -> tuple[_Level, _Level]:
    """Returns all persons on links that both steps have: by groups, or by links if none is same."""
    links = slice(0, -ENDS)
    known = step.sum_variance[:, links] < UNKNOWN
    if known.any():
        return (
            _level(own.sums.values[:, links][known], own.sums.variance[:, links][known]),
            _level(step.sums[:, links][known], step.sum_variance[:, links][known]),
        )
    cells = (step.variance < UNKNOWN) & own.on_link
    return (
        _level(own.whole.counts[cells], own.whole.variance[cells]),
        _level(step.counts[cells], step.variance[cells]),
    )


def _level(values: FloatArray, variance: FloatArray) -> _Level:
    return _Level(total=float(values.sum()), variance=float(variance.sum()))


def _completed_alike(own: Told, step: NoisyStep) -> NoisyStep:
    """Returns a step with what is missing from it as it is from one, if it can be compared."""
    if own.beyond is None or step.beyond is None or not alike(own.beyond, step.beyond):
        return step
    factor = (1 + own.whole.share) / (1 + step.share.ravel())
    return _times(step, factor[own.beyond.ground.nesting.group], factor.reshape(step.sums.shape))


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


def _times(step: NoisyStep, factor: Factor, of_sums: Factor) -> NoisyStep:
    return replace(
        step,
        counts=factor * step.counts,
        variance=np.minimum(factor**2 * step.variance, UNKNOWN),
        sums=of_sums * step.sums,
        sum_variance=np.minimum(of_sums**2 * step.sum_variance, UNKNOWN),
    )


def _sums(own: ToldSums, past: Sequence[NoisyStep], away: IntArray) -> ToldSums:
    """Returns sums drawn towards those of other steps; all links together keep theirs."""
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


def _cells(own: Told, past: Sequence[NoisyStep], away: IntArray) -> Completed:
    """Returns cells drawn towards those of other steps."""
    whole = own.whole
    numbers = Numbers(whole.counts, whole.variance)
    steps = Numbers(
        np.stack([step.counts for step in past]), np.stack([step.variance for step in past])
    )
    found, trust = weighed(numbers, steps, away)
    # Whatever is expected is right or wrong together with the level.
    level = _levels(own, past[0])[0].relative_variance
    together = whole.together + ((1 - trust) * found.values) ** 2 * level
    return replace(whole, counts=found.values, variance=found.variance, together=together)
