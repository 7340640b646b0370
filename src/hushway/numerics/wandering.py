"""Numbers that wander from step to step of a series, and what other steps expect of them.

A number wanders from step to step, and strays from its way in each: both in proportion to its size,
by variances that are learnt from all numbers. So what steps before and after say is filtered (from
either side, Kalman 1960), and weighed against what the step itself has measured. Steps beyond a
clear change of a number say nothing of it.
"""

from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import nnls

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.numerics.breaks import doubted, unchanged

# The variance of what a step did not measure. Its square is still a number.
UNKNOWN: Final = 1e150
# Steps are compared with those so many places further, in their order.
_GAPS: Final = (1, 2, 4, 8)
# When changes are learnt, none counts for more than so many times its variance.
_OUTLIER: Final = 8.0
_ROUNDS: Final = 4
# Expectations are doubted from so many deviations on.
_SURPRISE: Final = 1.8
_USUAL: Final = (0.01, 0.001, 0.0)
_NOTHING: Final = 1e-12


class Numbers(NamedTuple):
    """Numbers and the variances of their errors."""

    values: FloatArray
    variance: FloatArray


def weighed(own: Numbers, steps: Numbers, away: IntArray) -> tuple[Numbers, FloatArray]:
    """Returns numbers between the measured and the expected ones, and how far the former count."""
    expected = expected_numbers(own, steps, away)
    apart = own.values - expected.values
    prior = doubted(apart, own.variance, expected.variance, _SURPRISE)
    trust = prior / (prior + own.variance)
    return Numbers(expected.values + trust * apart, trust * own.variance), trust


def expected_numbers(own: Numbers, steps: Numbers, away: IntArray) -> Numbers:
    """Returns what other steps expect of the numbers of one step."""
    size = _size(own, steps)
    white, walk, more = _learnt_changes(own, steps, away, size)
    chance = white * size**2 + (1 + more) * size
    noisy = Numbers(steps.values, steps.variance + chance)
    same = unchanged(Numbers(own.values, own.variance + chance), noisy, away)
    kept = Numbers(noisy.values, np.where(same > 0, noisy.variance, UNKNOWN))
    sides = [_filtered(kept, away, side, walk * size**2) for side in (away > 0, away < 0)]
    sure = np.sum([1 / side.variance for side in sides], axis=0)
    values = np.sum([side.values / side.variance for side in sides], axis=0) / sure
    variance = np.minimum(1 / sure + chance, UNKNOWN)
    return Numbers(values, variance + _apart(own, Numbers(values, variance), size))


def _apart(own: Numbers, expected: Numbers, size: FloatArray) -> FloatArray:
    """Returns the variances by which one step as a whole is further from what was expected.

    One part is relative to squares of sizes, the other one alike for all.
    """
    by = np.stack([size**2, np.ones_like(size)])
    seen, noise = (own.values - expected.values) ** 2, own.variance + expected.variance
    found = np.zeros(2)
    for _ in range(_ROUNDS):
        usual = noise + found @ by
        found = _explained(by, np.minimum(seen, _OUTLIER * usual) - noise, 1 / usual**2)
    return np.asarray(found @ by)


def _explained(by: FloatArray, beyond: FloatArray, weight: FloatArray) -> FloatArray:
    """Returns the factors, none negative, by which some numbers explain others best."""
    return _solved((weight * by) @ by.T, (weight * by) @ beyond)


def _solved(left: FloatArray, right: FloatArray) -> FloatArray:
    scale = np.sqrt(np.maximum(np.diag(left), _NOTHING**2))
    return np.asarray(nnls(left / np.outer(scale, scale), right / scale)[0] / scale)


def _size(own: Numbers, steps: Numbers) -> FloatArray:
    """Returns about how large each number usually is."""
    sure = 1 / own.variance + (1 / steps.variance).sum(axis=0)
    mean = (own.values / own.variance + (steps.values / steps.variance).sum(axis=0)) / sure
    return np.asarray(np.maximum(mean, 0.0))


def _filtered(steps: Numbers, away: IntArray, side: BoolArray, walk: FloatArray) -> Numbers:
    """Returns what the steps of one side expect, from the furthest to the nearest one."""
    values, variance = np.zeros_like(walk), np.full_like(walk, UNKNOWN)
    last = 0
    for step in sorted(np.flatnonzero(side), key=lambda each: -abs(away[each])):
        variance = variance + (last - abs(away[step])) * walk if last else variance
        gain = variance / (variance + steps.variance[step])
        values, variance = (
            values + gain * (steps.values[step] - values),
            gain * steps.variance[step],
        )
        last = abs(away[step])
    return Numbers(values, np.minimum(variance + last * walk, UNKNOWN))


def _learnt_changes(own: Numbers, steps: Numbers, away: IntArray, size: FloatArray) -> FloatArray:
    """Returns by how much numbers stray in each step and wander to the next, as variances.

    Both are relative to the squares of their sizes. The third is how much more than by chance they
    stray, relative to their sizes: people who go together count as often as they are.
    """
    order = np.argsort(np.append(away, 0), kind="stable")
    number = np.append(away, 0)[order]
    line = Numbers(
        np.vstack([steps.values, own.values])[order],
        np.vstack([steps.variance, own.variance])[order],
    )
    sure = 1 / own.variance + (1 / steps.variance).sum(axis=0)
    square = np.maximum(size**2 - 1 / sure, 0.0)
    found = np.array(_USUAL)
    for _ in range(_ROUNDS):
        left, right = np.zeros((3, 3)), np.zeros(3)
        for gap in _GAPS:
            for one in range(len(number) - gap):
                other = one + gap
                by = np.stack([2 * square, abs(number[other] - number[one]) * square, 2 * size])
                noise = line.variance[one] + line.variance[other] + 2 * size
                usual = noise + found @ by
                seen = (line.values[one] - line.values[other]) ** 2
                beyond = np.minimum(seen, _OUTLIER * usual) - noise
                weight = 1 / usual**2
                left += (weight * by) @ by.T
                right += (weight * by) @ beyond
        found = _solved(left, right)
    return found
