"""Empirical Bayes: posteriors of counts, given noisy ones and prior means.

Counts with similar priors are put into one bin. The law of the true counts of a bin is estimated
from its noisy ones by EM, with the prior mean; each count is then its posterior mean. Nothing but
noisy answers and the law of their noise is read.
"""

import math
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.geography.locations import Locations
from hushway.numerics.compiled import compiled
from hushway.privacy.events import GaussianEvent, LaplaceEvent
from hushway.privacy.measured import Measured

# Counts of a bin, so that a law can be learnt from it.
FEWEST: Final = 400
_ROUNDS: Final = 25
# Values further than this from 0, in scales of the noise, are left as they were measured. Laplace
# noise comes as far in one of many values: from here on in one of so many releases, as a logarithm.
_FAR: Final = 11.0
_SELDOM: Final = 5.0
_LOW: Final = -10.0
# Classes of values and of counts are this many scales wide.
_STEP: Final = 0.25
_LEAST_STEP: Final = 0.5
_LEAST_EXPECTED: Final = 1e-4
# Noise is of one kind if its width is, up to this factor.
_ONE_KIND: Final = 1.19
_TINY: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The law of the noise in an answer: a Laplace scale, or a Gaussian standard deviation."""

    scale: float
    gaussian: bool

    @classmethod
    def of(cls, answer: Measured, worth: int = 1) -> Self:
        """Returns the noise of an answer, once it is divided by what one count is worth."""
        event = answer.event
        if isinstance(event, GaussianEvent):
            return cls(scale=float(event.sigma_squared) ** 0.5 / worth, gaussian=True)
        assert isinstance(event, LaplaceEvent)  # noqa: S101  counts carry one or the other
        return cls(scale=float(event.scale) / worth, gaussian=False)

    @property
    def variance(self) -> float:
        """The variance."""
        return self.scale**2 * (1.0 if self.gaussian else 2.0)

    def far(self, cells: int) -> float:
        """Returns how far from 0 no noise in so many answers comes."""
        scales = _FAR if self.gaussian else max(_FAR, math.log(cells) + _SELDOM)
        return scales * self.scale

    def density(self, distance: FloatArray) -> FloatArray:
        """Returns how likely each distance is, up to a factor."""
        relative = np.abs(distance) / self.scale
        return np.exp(-(relative**2) / 2 if self.gaussian else -relative)

    def with_variance(self, variance: float) -> "Noise":
        """Returns the same law, as wide as a variance says."""
        scale = self.scale * (variance / self.variance) ** 0.5
        return Noise(scale=scale, gaussian=self.gaussian)

    def over(self, cells: int) -> "Noise":
        """Returns the noise in the sum of so many answers, as if its law were the same."""
        return Noise(scale=self.scale * cells**0.5, gaussian=self.gaussian)


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior:
    """The posterior mean and variance of each count."""

    mean: FloatArray
    variance: FloatArray


def posterior(
    values: FloatArray,
    expected: FloatArray,
    noise: Noise,
    *,
    fewest: int = FEWEST,
    free: bool = False,
    unsure: FloatArray | None = None,
) -> Posterior:
    """Returns the posterior of noisy counts, given prior means.

    Args:
        fewest: How many counts a bin has at least, if there are as many.
        free: Whether the mean of a bin is that of its values instead of the prior.
        unsure: The variance of each value, where they differ.
    """
    if not len(values):
        return Posterior(mean=np.array(values, dtype=np.float64), variance=np.empty(0))
    kinds = _kinds(values, noise, unsure)
    counts = _grid(
        min(kind.noise.scale for kind in kinds), max(kind.noise.far(len(values)) for kind in kinds)
    )
    mean = np.array(values, dtype=np.float64)
    variance = np.concatenate([np.full(len(kind.at), kind.noise.variance) for kind in kinds])
    variance[np.concatenate([kind.at for kind in kinds])] = variance.copy()
    likely = [kind.noise.density(kind.centres[:, None] - counts) for kind in kinds]
    bins = _bins(expected, fewest)
    # Numbers of two bytes are sorted without comparisons, and there are few bins.
    order = np.argsort(bins.astype(np.int16), kind="stable")
    ends = np.cumsum(np.bincount(bins))
    for first, end in zip([0, *ends[:-1]], ends, strict=True):
        part = order[first:end]
        inside = [kind.among(part) for kind in kinds]
        found = [kind.found(some) for kind, some in zip(kinds, inside, strict=True)]
        aim = max(float((values if free else expected)[part].mean()), _LEAST_EXPECTED)
        law = _first_law(counts, aim, noise.scale)
        law = _learnt(np.concatenate(found), np.concatenate(likely), counts, law, aim)
        for kind, some, each in zip(kinds, inside, likely, strict=True):
            given = each * law
            given /= given.sum(axis=1, keepdims=True) + 1e-300
            means = given @ counts
            spreads = np.maximum(given @ counts**2 - means**2, 0.0)
            table = kind.centres, means, spreads
            _read_off((mean, variance), (values, some), table, kind.noise.far(len(values)))
    return Posterior(mean=np.maximum(mean, 0.0), variance=variance)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Kind:
    """Values with noise of about one width: which they are, and the classes they are put into.

    Attributes:
        classes: The class of every value, of this kind or not.
    """

    noise: Noise
    at: IntArray
    centres: FloatArray
    classes: IntArray
    mine: BoolArray | None

    def among(self, part: IntArray) -> IntArray:
        """Returns those of some values that are of this kind."""
        return part if self.mine is None else part[self.mine[part]]

    def found(self, some: IntArray) -> FloatArray:
        """Returns how many of some values are in each class."""
        return np.bincount(self.classes[some], minlength=len(self.centres)).astype(np.float64)


def _kinds(values: FloatArray, noise: Noise, unsure: FloatArray | None) -> list[_Kind]:
    """Returns values by how wide their noise is."""
    if unsure is None:
        return [_kind(values, noise, np.arange(len(values)))]
    width = np.rint(np.log(np.maximum(unsure, _TINY)) / (2 * np.log(_ONE_KIND)))
    some = [np.flatnonzero(width == one) for one in np.unique(width)]
    return [_kind(values, noise.with_variance(float(unsure[at].mean())), at) for at in some]


def _kind(values: FloatArray, noise: Noise, at: IntArray) -> _Kind:
    far = noise.far(len(values))
    step = max(_STEP * noise.scale, _LEAST_STEP)
    # The last centre is not below any value that is read off.
    centres = np.arange(_LOW * noise.scale, far + max(noise.scale, step), step)
    classes = np.clip(np.rint((values - centres[0]) / step), 0, len(centres) - 1).astype(np.int64)
    mine = None
    if len(at) < len(values):
        mine = np.zeros(len(values), dtype=np.bool_)
        mine[at] = True
    return _Kind(noise=noise, at=at, centres=centres, classes=classes, mine=mine)


@compiled
def _read_off(
    believed: tuple[FloatArray, FloatArray],
    measured: tuple[FloatArray, IntArray],
    table: tuple[FloatArray, FloatArray, FloatArray],
    far: float,
) -> None:
    """Interpolates the posteriors of some values between the centres of classes, in place.

    Args:
        believed: Means and variances, to be filled in.
        measured: The noisy values, and which of them it is about.
        table: Evenly spaced centres of values, and mean and variance given each.
        far: Values above this are left as they are.
    """
    values, part = measured
    centres = table[0]
    step = centres[1] - centres[0]
    for at in part:
        value = values[at]
        if value > far:
            continue
        left = int(min(max((value - centres[0]) / step, 0.0), len(centres) - 2.0))
        # Rounding may put a value that is at a centre on its other side.
        while left > 0 and value < centres[left]:
            left -= 1
        while left < len(centres) - 2 and value >= centres[left + 1]:
            left += 1
        along = max(value - centres[left], 0.0)
        gap = centres[left + 1] - centres[left]
        for which in range(2):
            found = table[1 + which]
            believed[which][at] = (found[left + 1] - found[left]) / gap * along + found[left]


def _grid(scale: float, far: float) -> FloatArray:
    """Returns the counts that laws are made of: fine at 0, then even steps."""
    step = max(_STEP * scale, 1.0)
    even = np.arange(1, int((far + 5 * scale) / step) + 2) * step
    fine = 2.0 ** np.arange(0, max(np.ceil(np.log2(step)), 0))
    whole = np.rint(even) if step < 2 * _LEAST_STEP + 1 else even
    return np.unique(np.concatenate([[0.0], fine, whole]))


def _bins(expected: FloatArray, fewest: int) -> IntArray:
    """Puts counts into bins of half an octave of expectation, joined until large enough."""
    octave = np.floor(2 * np.log2(np.maximum(expected, _LEAST_EXPECTED))).astype(np.int64)
    octave -= octave.min()
    joined = np.zeros(octave.max() + 1, dtype=np.int64)
    number, inside = 0, 0
    for at, count in enumerate(np.bincount(octave)):
        joined[at] = number
        inside += count
        if inside >= fewest:
            number, inside = number + 1, 0
    if inside and number:
        joined[joined == number] = number - 1
    found: IntArray = joined[octave]
    return found


def _first_law(counts: FloatArray, aim: float, scale: float) -> FloatArray:
    """Returns a law to start learning with: many zeros, a tail, and a little of anything."""
    gap = np.gradient(counts)
    tail = np.exp(-counts / max(2 * aim, 1.0)) * gap
    wide = np.exp(-counts / (scale + 2 * aim)) * gap
    zeros = 1 / (1 + aim)
    law = 0.98 * (1 - zeros) * tail / tail.sum() + 0.02 * wide / wide.sum()
    law[0] += 0.98 * zeros
    started: FloatArray = law
    return started


@compiled
def _learnt(
    found: FloatArray, likely: FloatArray, counts: FloatArray, law: FloatArray, aim: float
) -> FloatArray:
    """Runs EM for the law of counts with a given mean, from how many values are in each class."""
    law = _with_mean(law, counts, aim)
    for _ in range(_ROUNDS):
        fresh = np.zeros_like(law)
        for value in range(len(found)):
            if found[value] == 0:
                continue
            given = likely[value] * law
            fresh += found[value] / (given.sum() + 1e-300) * given
        law = _with_mean(fresh / fresh.sum() + 1e-12, counts, aim)
    return law


@compiled
def _with_mean(law: FloatArray, counts: FloatArray, aim: float) -> FloatArray:
    """Returns the law closest to another one that has a mean: tilted by an exponential."""
    if aim >= counts[-1] / 2:
        whole: FloatArray = law / law.sum()
        return whole
    low, high = -60.0 / counts[-1], 12.0
    tilted = law
    for _ in range(30):
        slope = (low + high) / 2
        exponent = -slope * counts
        tilted = law * np.exp(exponent - exponent.max())
        tilted /= tilted.sum()
        if (tilted * counts).sum() > aim:
            low = slope
        else:
            high = slope
    return tilted


# Factors of distance are learnt for so many rings an octave, of so many at most.
_RINGS: Final = 3
_MOST_RINGS: Final = 30
_PROPORTIONAL_ROUNDS: Final = 4
_SWEEPS: Final = 4
# The distance of the nearest ring: this quantile of all distances.
_NEAR: Final = 0.01
_CENTRE: Final = 8


def rings(locations: Locations) -> IntArray:
    """Returns in which ring around each place each other one lies; 0 is the place itself."""
    lon, lat = np.radians([[one.lon, one.lat] for one in locations.places]).T
    east = lon * np.cos(lat.mean())
    apart = np.hypot(east[:, None] - east, lat[:, None] - lat)
    others = apart[~np.eye(len(apart), dtype=np.bool_)]
    # Tens of thousands of distances tell a quantile as well as a million.
    sample = np.sort(others[:: max(1, len(others) // 65_536)])
    near = sample[int(_NEAR * len(sample))] if len(sample) else 0.0
    if near <= 0:
        near = others[others > 0].min(initial=1.0)
    ring = 1 + np.clip(np.floor(_RINGS * np.log2(np.maximum(apart / near, 1.0))), 0, _MOST_RINGS)
    np.fill_diagonal(ring, 0)
    whole: IntArray = ring.astype(np.int64)
    return whole


def excess_classes(found: FloatArray, expected: FloatArray) -> IntArray:
    """Returns how much more was found than was expected, in classes of half an octave."""
    ratio = np.log2((found + 0.5) / (expected + 0.5))
    classes: IntArray = np.clip(np.rint(2 * ratio) + _CENTRE, 0, 2 * _CENTRE).astype(np.int64)
    return classes


def proportional_fit(
    values: FloatArray, rows: FloatArray, columns: FloatArray, classes: tuple[IntArray, ...]
) -> FloatArray:
    """Returns a table with given sums by row and column, and a factor for each class of cells.

    Iterative proportional fitting: the sums of classes are those of the noisy values, which over
    many cells are nearly free of noise.
    """
    expected: FloatArray = np.outer(rows, columns) / max(columns.sum(), _TINY)
    sums = [class_sums(values, one, float(rows.sum())) for one in classes]
    for _ in range(_PROPORTIONAL_ROUNDS):
        for kind, wanted in zip(classes, sums, strict=True):
            have = np.bincount(kind.ravel(), weights=expected.ravel())
            expected *= (wanted / np.maximum(have, _TINY))[kind]
        for _ in range(_SWEEPS):
            expected *= (rows / np.maximum(expected.sum(axis=1), _TINY))[:, None]
            expected *= columns / np.maximum(expected.sum(axis=0), _TINY)
    return expected


def class_sums(values: FloatArray, kind: IntArray, total: float) -> FloatArray:
    """Returns sums of noisy values by class: none below 0, and all together the total.

    Of all such sums they are the nearest to those of the values, by the variance of their noise: as
    much is taken off every cell. If sums were only cut off at 0, noise in classes of many cells
    that are hardly ever found would come to more than everything else.
    """
    sums, cells = np.bincount(kind.ravel(), weights=values.ravel()), np.bincount(kind.ravel())
    each = sums / np.maximum(cells, 1)
    order = np.argsort(-each)
    # The classes of the largest means stay above 0: as many as agree with what is taken off.
    off = (np.cumsum(sums[order]) - total) / np.maximum(np.cumsum(cells[order]), 1)
    taken: FloatArray = np.maximum(sums - cells * off.max(), 0.0)
    return taken
