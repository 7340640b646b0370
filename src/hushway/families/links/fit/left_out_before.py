"""What the bound leaves out, learnt from other steps of a series that counted people alike.

Which part of people's items is missing from a class, a zone and a period hardly changes from step
to step, while noise hides most of it in each. So answers of all steps are averaged as if one step
had measured them all; by how much this step leaves out more or less in all is its own.

Privacy:
    Everything here is computed from noisy values: no row, no budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import IntArray
from hushway.families.links.fit.missing_shares import (
    OFF_MIDDLE,
    Counted,
    Expected,
    LeftOutWeight,
    Shares,
    common_shares,
    excess_variance,
    group_shares,
    joined_shares,
    shares_by_period,
    shares_by_size,
)

# By how much all shares usually differ from step to step, as a variance in parts of the share.
_OVER_STEPS: Final = 0.01
_LEAST: Final = 1e-18


@dataclass(frozen=True, kw_only=True, eq=False)
class Beyond:
    """What was counted within the bound, and what was measured beyond it.

    Attributes:
        most: So many items of a person count.
        period: The period of each cell.
        told: What was measured beyond, by weight.
        expected: What the number of people by their items tells of it, if that was measured.
    """

    most: int
    period: IntArray
    ground: Counted
    told: tuple[LeftOutWeight, ...]
    expected: Expected | None

    @property
    def common(self) -> list[Shares]:
        """The share of all cells together, by weight."""
        if self.expected is None:
            return common_shares(self.told, float(self.ground.counts.sum()))
        return joined_shares(self.told, self.expected)

    @property
    def missing(self) -> "Missing":
        """What is missing, as this step alone says."""
        return self._in_cells(self._in_groups(self.common))

    def missing_by_period(self, common: Sequence[Shares], now: Counted) -> "Missing":
        """Returns what is missing, period by period, given the share of all cells together."""
        groups = [
            shares_by_period(self.ground, told, shares, self.period)
            for told, shares in zip(self.told, self._in_groups(common), strict=True)
        ]
        return self._in_cells(groups, now)

    def _in_groups(self, common: Sequence[Shares]) -> list[Shares]:
        return [group_shares(self.ground, *each) for each in zip(self.told, common, strict=True)]

    def _in_cells(self, groups: list[Shares], now: Counted | None = None) -> "Missing":
        cells = [
            shares_by_size(self.ground, told, shares, now)
            for told, shares in zip(self.told, groups, strict=True)
        ]
        return Missing(groups=groups, cells=cells)


@dataclass(frozen=True, kw_only=True, eq=False)
class Missing:
    """Shares of groups and of cells, by weight."""

    groups: list[Shares]
    cells: list[Shares]


def missing_of(own: Beyond, others: Sequence[Beyond] = ()) -> Missing:
    """Returns what is missing, as all steps that counted people alike say."""
    steps = [own, *(other for other in others if alike(own, other))]
    if len(steps) == 1:
        return own.missing
    pooled = _averaged(steps)
    # Weights make much of what noise puts below 0.
    common = [replace(share, mean=np.maximum(share.mean, 0.0)) for share in pooled.common]
    factors = _factors(common, [each.common for each in steps])
    usual = pooled.missing_by_period(common, own.ground)
    groups, cells = (
        [share.times(factor) for share, factor in zip(shares, factors, strict=True)]
        for shares in (usual.groups, usual.cells)
    )
    return Missing(groups=groups, cells=cells)


def alike(own: Beyond, other: Beyond) -> bool:
    """Whether what two steps leave out can be compared."""
    return own.most == other.most and (own.expected is None) == (other.expected is None)


def _averaged(steps: Sequence[Beyond]) -> Beyond:
    """Returns the mean of several steps, which has little noise."""
    first, many = steps[0], len(steps)
    told = tuple(
        replace(
            own[0],
            cells=np.mean([one.cells for one in own], axis=0),
            classes=np.mean([one.classes for one in own], axis=0),
            noise=sum(one.noise for one in own) / many**2,
            sum_noise=sum(one.sum_noise for one in own) / many**2,
        )
        for own in zip(*(step.told for step in steps), strict=True)
    )
    return replace(
        first,
        ground=replace(
            first.ground,
            counts=np.mean([step.ground.counts for step in steps], axis=0),
            noise=sum(step.ground.noise for step in steps) / many**2,
        ),
        told=told,
        expected=_mean_expected([step.expected for step in steps if step.expected is not None]),
    )


def _mean_expected(steps: Sequence[Expected]) -> Expected | None:
    """Returns what is expected on average: noise is less, what classes are taken for stays."""
    if not steps:
        return None
    shares = []
    for own in zip(*(step.shares for step in steps), strict=True):
        mean = np.mean([one.mean for one in own], axis=0)
        noise = np.mean([one.variance for one in own], axis=0) / len(own)
        shares.append(Shares(mean=mean, variance=noise + (OFF_MIDDLE * mean) ** 2))
    counted = float(np.mean([step.counted for step in steps]))
    return Expected(counted=counted, shares=tuple(shares))


def _factors(pooled: Sequence[Shares], steps: Sequence[Sequence[Shares]]) -> list[Shares]:
    """Returns how many times as much is missing from the first step, by weight."""
    found = []
    for usual, own in zip(pooled, zip(*steps, strict=True), strict=True):
        level = max(float(usual.mean[0]), _LEAST)
        apart = np.array([float(one.mean[0]) for one in own]) - level
        noise = np.array([float(one.variance[0]) for one in own])
        squares = np.full_like(noise, level**2)
        varies = excess_variance(apart, np.maximum(noise, _LEAST), squares, _OVER_STEPS) * level**2
        trust = varies / (varies + noise[0] + _LEAST)
        found.append(
            Shares(
                mean=np.array([1 + trust * apart[0] / level]),
                variance=np.array([trust * noise[0] / level**2]),
            )
        )
    return found
