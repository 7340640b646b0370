"""Counts that the bound has left out, put back: all post-processing.

A person with more items than count is missing from some links, and most from those that people
with long ways use. What was left out is measured link by link, by weight, with noise of its own. On
busy links that tells what is missing. Elsewhere the noise is larger than what is missing, and the
share that is missing from the class and zone, from the class or from all links tells it better.
Each is believed as far as noisy numbers say that links differ from each other.

People with very many items count by one weight or the next by a draw. So where a link has more of
them than others have, all weights are larger there, and errors of weights add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array, kron, vstack

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.fit.flows import Rules, least_squares
from hushway.families.links.fit.left_out_before import Beyond, missing_of
from hushway.families.links.fit.missing_shares import (
    LEAST_NOISE,
    Counted,
    Expected,
    LeftOutWeight,
    Nesting,
    Shares,
    excess_variance,
)
from hushway.families.links.public.universe import WEIGHTS, ClassZones
from hushway.privacy.measured import Measured

# By how much shares usually differ between links of a group, as variances in parts of the share:
# of people with a few items too many, who are many, and of those with very many, who are few.
# It is so for links of up to so many persons. Larger ones differ less, by a power of their counts.
_DIFFER: Final = (0.04, 0.16, 0.16)
_OF_SIZE: Final = 200.0
_LESS: Final = 0.75
# How far these go together: where one weight is larger, so are the others.
_TOGETHER: Final = ((1.0, 0.8, 0.8), (0.8, 1.0, 0.95), (0.8, 0.95, 1.0))


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """What was measured beyond the bound.

    Attributes:
        cells: By `LeftOutCells`.
        classes: By `LeftOutClasses`.
        expected: What the number of people by their items tells of it, if that was measured.
    """

    cells: Measured
    classes: Measured
    expected: Expected | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Completed:
    """Noisy counts with what was left out of them.

    Attributes:
        variance: Variance of each, as far as cells err by themselves.
        together: The rest of its variance, which cells that lie together have in common: the same
            people drive on them, and the same shares are missing.
        share: Of each group, persons that are missing for each that counted.
    """

    counts: FloatArray
    variance: FloatArray
    together: FloatArray
    share: FloatArray
    share_variance: FloatArray


def as_counted(items: Measured, groups: int) -> Completed:
    """Returns the noisy counts as they are, where nobody asked what was left out of them."""
    counts = items.values.astype(np.float64)
    nothing = np.zeros(groups)
    return Completed(
        counts=counts,
        variance=np.full(len(counts), float(items.variance)),
        together=np.zeros(len(counts)),
        share=nothing,
        share_variance=nothing,
    )


def beyond_of(
    items: Measured, left: LeftOut, nesting: Nesting, *, period: IntArray, most: int
) -> Beyond:
    """Returns what was measured beyond a bound of so many items."""
    noise = float(left.cells.variance), float(left.classes.variance)
    return Beyond(
        most=most,
        period=period,
        ground=Counted(
            counts=items.values.astype(np.float64), noise=float(items.variance), nesting=nesting
        ),
        told=tuple(
            LeftOutWeight(
                weight=weight, cells=cells, classes=classes, noise=noise[0], sum_noise=noise[1]
            )
            for weight, cells, classes in zip(
                WEIGHTS,
                left.cells.values.reshape(len(WEIGHTS), -1).astype(np.float64),
                left.classes.values.reshape(len(WEIGHTS), -1).astype(np.float64),
                strict=True,
            )
        ),
        expected=left.expected,
    )


def completed(beyond: Beyond, others: Sequence[Beyond] = ()) -> Completed:
    """Puts back what was left out.

    Args:
        others: What was measured beyond the bound in other steps.
    """
    missing = missing_of(beyond, others)
    known = _Known(
        ground=beyond.ground,
        told=np.stack([one.cells for one in beyond.told], axis=1),
        noise=beyond.told[0].noise,
        shares=missing.cells,
    )
    counts, variance, together = _whole(known)
    weighted = list(zip(WEIGHTS, missing.groups, strict=True))
    return Completed(
        counts=counts,
        variance=variance,
        together=together,
        share=np.maximum(sum(weight * one.mean for weight, one in weighted), 0.0),
        share_variance=np.asarray(sum(weight**2 * one.variance for weight, one in weighted)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Known:
    """What was counted, what was measured beyond by (cell, weight), and shares by weight."""

    ground: Counted
    told: FloatArray
    noise: float
    shares: list[Shares]


def _whole(known: _Known) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Returns whole counts, and their variances: of cells by themselves, and together.

    The best linear predictor. With C persons who count at a link, and shares s_w missing, the whole
    is C + sum of w (s_w C + d_w). The noisy count errs by e: noise, and the draw of who counts. The
    noisy number of weight w is off what its share says by a_w = d_w + f_w - s_w e, where f_w again
    is noise and a draw. Of somebody with 1 + w times the items that count, one item in 1 + w
    counts, and as many are in f_w: never the same.
    """
    counts = known.ground.counts
    weights = np.array(WEIGHTS, dtype=np.float64)
    one_in = 1 / (1 + weights)
    share = np.stack([one.mean for one in known.shares], axis=1)
    apart = known.told - share * counts[:, None]
    drawn = np.maximum(share, 0.0) * np.maximum(counts, 0.0)[:, None]
    differ = _differ(known, apart, share, drawn)

    whole = 1 + share @ weights
    draws, crossing = drawn * (1 - one_in), -drawn * one_in
    counted = known.ground.noise + draws.sum(axis=1)
    own = np.maximum(known.noise + draws, LEAST_NOISE)
    between = (
        differ
        + np.eye(len(weights)) * own[:, :, None]
        + _outer(share, share) * counted[:, None, None]
        - _outer(crossing, share)
        - _outer(share, crossing)
    )
    towards = differ @ weights + whole[:, None] * (share * counted[:, None] - crossing)
    trust = np.linalg.solve(between, towards[:, :, None])[:, :, 0]

    leaning = whole - (trust * share).sum(axis=1)
    doubt = weights - trust
    unknown = np.stack([one.variance for one in known.shares], axis=1)
    return (
        whole * counts + (trust * apart).sum(axis=1),
        leaning**2 * counted
        + (trust**2 * own).sum(axis=1)
        + 2 * leaning * (trust * crossing).sum(axis=1),
        np.einsum("ci,cij,cj->c", doubt, differ, doubt)
        + (doubt**2 * unknown).sum(axis=1) * np.maximum(counts, 0.0) ** 2,
    )


def _outer(left: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(left[:, :, None] * right[:, None, :])


def _differ(known: _Known, apart: FloatArray, share: FloatArray, drawn: FloatArray) -> FloatArray:
    """Returns how cells differ from what is expected of them, as covariances of their weights."""
    counts, noise = known.ground.counts, known.ground.noise
    less = (_OF_SIZE / np.maximum(counts, _OF_SIZE)) ** _LESS
    squares = np.maximum(counts**2 - noise, 0.0) * less
    parts = []
    for one, usual in enumerate(_DIFFER):
        own = share[:, one]
        # Who is on a link is chance, too.
        chance = known.noise + own**2 * noise + (1 + own) * drawn[:, one]
        chance = np.maximum(chance, LEAST_NOISE)
        seen = excess_variance(apart[:, one], chance, squares * own**2, usual)
        parts.append(np.sqrt(seen * squares) * np.maximum(own, 0.0))
    scale = np.stack(parts, axis=1)
    chance = drawn / (1 + np.array(WEIGHTS))
    return np.asarray(
        np.array(_TOGETHER) * _outer(scale, scale) + np.eye(len(WEIGHTS)) * chance[:, :, None]
    )


# Sums of people by period, class and zone that flows must come to: all post-processing.
#
# What noise makes of empty links is above 0 on average once nothing may be negative, and thousands
# of them outvote one measured sum. So sums come first, without any bound: what was measured of a
# group, and its noisy links added up, each by its variance. Only then nothing may be negative, and
# whatever that adds to some is taken from others, by their variances: sums of all links keep what
# they were, then those of periods and of groups, then those of groups in periods.

# Beginnings and ends of trips are groups of their own, the last two of a period.
ENDS: Final = 2
# What is met may be missed by so much of its variance: rules need some looseness.
MET: Final = 1e-6
# No sum is further than so many of its errors from what was measured of it, and published as such,
# whatever its links say: readers could believe neither.
APART: Final = 2.4


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSums:
    """Persons by (period, group of `ClassZones`), with what was left out.

    Attributes:
        values: The sums, none negative.
        measured_variance: Variance of what was measured of each, without its links; infinite if
            nothing was.
    """

    values: FloatArray
    variance: FloatArray
    measured_variance: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ToldSums:
    """What noisy answers say of each sum, by (period, group), negative ones included.

    Attributes:
        least: No sum is to be published below this, or above `most`.
    """

    values: FloatArray
    variance: FloatArray
    least: FloatArray
    most: FloatArray


def told_sums(
    items: Measured, classes: Measured | None, whole: Completed, groups: ClassZones
) -> ToldSums:
    """Returns the sum of each group, with what was left out."""
    counted, noise, least, most = _as_bounded(items, classes, groups)
    factor = 1 + whole.share
    shape = len(groups.universe.periods), groups.groups
    return ToldSums(
        values=(factor * counted).reshape(shape),
        variance=(factor**2 * noise).reshape(shape),
        least=(factor * least).reshape(shape),
        most=(factor * most).reshape(shape),
    )


def group_sums(told: ToldSums, classes: Measured | None, whole: Completed) -> GroupSums:
    """Returns the sum of each group: none is negative, and all together are as they were told."""
    shape = told.values.shape
    factor = 1 + whole.share
    links = slice(0, -ENDS)
    met = np.maximum(told.values, 0.0)
    met[:, links] = not_negative(told.values[:, links], told.variance[:, links])
    unsure = met**2 * (whole.share_variance / factor**2).reshape(shape)
    alone = np.inf if classes is None else float(classes.variance)
    return GroupSums(
        values=met,
        variance=told.variance + unsure,
        measured_variance=(factor**2 * alone).reshape(shape) + unsure,
    )


def _as_bounded(
    items: Measured, classes: Measured | None, groups: ClassZones
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Returns sums of persons who count, their variances, and what they must lie between."""
    group = groups.of(np.arange(len(items.values)))
    added = np.bincount(group, items.values, minlength=groups.size).astype(np.float64)
    size = np.bincount(group, minlength=groups.size).astype(np.float64)
    noise = size * float(items.variance)
    if classes is None:
        anything = np.full_like(added, np.inf)
        return added, noise, -anything, anything
    measured, own = classes.values, float(classes.variance)
    best = (own * added + noise * measured) / (own + noise)
    least, most = measured - APART * own**0.5, measured + APART * own**0.5
    return np.clip(best, least, most), own * noise / (own + noise), least, most


def not_negative(sums: FloatArray, variance: FloatArray) -> FloatArray:
    """Returns the nearest sums by (period, group) that are not negative and keep their margins."""
    total = np.array([max(float(sums.sum()), 0.0)])
    periods, groups = (
        _onto(sums.sum(axis=axis), variance.sum(axis=axis), np.ones((1, size)), total)
        for axis, size in ((1, len(sums)), (0, sums.shape[1]))
    )
    margins = [
        kron(eye_array(len(periods)), np.ones((1, len(groups)))),
        kron(np.ones((1, len(periods))), eye_array(len(groups))),
    ]
    target = np.concatenate([periods, groups])
    return _onto(sums.ravel(), variance.ravel(), vstack(margins), target).reshape(sums.shape)


def _onto(
    values: FloatArray, variance: FloatArray, matrix: ArrayLike, target: FloatArray
) -> FloatArray:
    """Returns the nearest values, by their variances, that are not negative and add up so."""
    rows = csr_array(matrix)
    rules = Rules(matrix=rows, target=target, looseness=MET * (rows @ variance))
    return least_squares(values / variance, 1 / variance, rules)
