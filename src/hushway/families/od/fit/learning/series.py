"""What other steps of a series say about the counts of one step: all post-processing.

1. Pool: noisy answers of other steps are added up, each weighted by how much it tells (`Pool`).
2. Expect: what was pooled is learnt like any table, and scaled to the noisy totals of this step.
3. Update: sums of places, then cells, are brought together with this step's noisy answers. How far
   counts of one step stray from those before is learnt from the answers, and so is how many places
   and cells have changed altogether: these follow their own answers.
4. Combine: with what this step tells alone, by an estimate of which of the two is closer to the
   counts. So a history that no longer holds loses its weight.

Privacy:
    Everything here is computed from noisy values and public places: no row, no budget.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, Int32Array, IntArray
from hushway.families.od.fit.learning.empirical_bayes import Posterior, empirical_bayes
from hushway.families.od.fit.learning.prior import NoisySums, period_totals, prior_mean
from hushway.families.od.fit.partitions import Partition, fit_to_sums
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw

# A step counts so much less for each step that it is further away.
FADES: Final = 0.9
# Squared relative change of counts since the steps before, and shares of what changed altogether.
_STRAYS: Final = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_CHANGED: Final = (1e-4, 1e-3, 1e-2, 0.05)
# A larger one of either has to make the answers more likely by more than this, as a logarithm.
_LEAN: Final = 0.5
# So many values tell how far all of them stray.
_ENOUGH: Final = 1 << 16
_SWEEPS: Final = 4
# Laplace noise is Gaussian noise of a random variance; so many variances stand for all.
_VARIANCES: Final = 6
# Classes of counts within a factor of 2 have weights of their own, which differ by about this.
_WEIGHTS_DIFFER: Final = 0.15
# What errors of both estimates usually have in common, where noise is not Gaussian.
_CORRELATED: Final = 0.6
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyStep:
    """Noisy answers of one step, on the cells of the table that learns from them.

    Attributes:
        cells: The noisy cells, one period a row; 0 where the step had no such place.
        sums: The noisy sums of the same partitions as those of the table; None where it has others.
        known: Which pairs of places the step had.
    """

    cells: IntArray
    law: NoiseLaw
    sums: Sequence[NoisySums | None]
    known: BoolArray

    @property
    def level(self) -> float:
        """About how many trips it counted."""
        return max(float(_totals(self.cells, self.law, self._told).sum()), 1.0)

    @property
    def _told(self) -> list[NoisySums]:
        return [one for one in self.sums if one is not None]


@dataclass(kw_only=True, eq=False)
class _Added:
    """Weighted answers of steps, added up."""

    values: FloatArray | float = 0.0
    variance: float = 0.0
    level: float = 0.0
    squares: float = 0.0

    def add(self, values: IntArray, variance: float, level: float, weight: float) -> None:
        """Adds an answer by how much it tells: its level over the variance of its noise."""
        weight *= level / variance
        self.values = np.asarray(self.values + weight * values, dtype=np.float64)
        self.variance += weight**2 * variance
        self.level += weight * level
        self.squares += weight**2 * level

    def at(self, level: float) -> tuple[IntArray, NoiseLaw]:
        """Returns whole values as if so many trips had been counted, and the law of their noise."""
        scale = level / self.level
        # Rounding adds a little.
        variance = Fraction(round(1000 * (scale**2 * self.variance + 1 / 12)), 1000)
        return np.rint(scale * np.asarray(self.values)).astype(np.int64), DiscreteGaussian(variance)


@dataclass(kw_only=True, eq=False)
class Pool:
    """Noisy answers of several steps together, as large as those of one.

    Attributes:
        partitions: What sums the table has.
        known: Which pairs of places all steps had.
        steps: How many steps were added.
    """

    partitions: Sequence[Partition]
    known: BoolArray
    steps: int = 0
    _cells: _Added = field(default_factory=_Added)
    _sums: dict[int, _Added] = field(default_factory=dict)

    def add(self, step: NoisyStep, weight: float) -> None:
        """Adds the answers of a step."""
        level = step.level
        self.steps += 1
        self._cells.add(step.cells, float(step.law.variance), level, weight)
        self.known = self.known & step.known
        for place, sums in enumerate(step.sums):
            if sums is not None:
                added = self._sums.setdefault(place, _Added())
                added.add(sums.values, float(sums.law.variance), level, weight)

    def learnt(self, distance_class: Int32Array) -> "Expectation":
        """Returns what all steps say of an average one."""
        # So that counts vary as much as their noise-free sum would.
        level = self._cells.level**2 / self._cells.squares
        cells, law = self._cells.at(level)
        sums = [self._noisy(place, level, cells, law) for place in range(len(self.partitions))]
        posterior = empirical_bayes(cells, prior_mean(sums, cells, law, distance_class), law)
        return Expectation(
            mean=np.maximum(posterior.mean, _NOTHING),
            variance=posterior.variance,
            known=self.known,
        )

    def _noisy(self, place: int, level: float, cells: IntArray, law: NoiseLaw) -> NoisySums:
        """Returns the pooled sums of a partition; those of pooled cells if none were measured."""
        partition, added = self.partitions[place], self._sums.get(place)
        if added is not None:
            values, noise = added.at(level)
            return NoisySums(partition=partition, values=values, law=noise)
        whole = np.rint(partition.sums(cells.astype(np.float64))).astype(np.int64)
        noise = DiscreteGaussian(Fraction(law.variance) * cells.size / partition.size)
        return NoisySums(partition=partition, values=whole, law=noise)


@dataclass(frozen=True, kw_only=True, eq=False)
class Expectation:
    """What other steps say of every cell, how surely, and of which pairs of places."""

    mean: FloatArray
    variance: FloatArray
    known: BoolArray

    def scaled(self, factor: float) -> "Expectation":
        """Returns the same for as many times the trips."""
        return replace(self, mean=factor * self.mean, variance=factor**2 * self.variance)


def learn_from_steps(
    alone: Posterior,
    expected: Expectation,
    sums: Sequence[NoisySums],
    cells: IntArray,
    law: NoiseLaw,
) -> Posterior:
    """Returns the posterior of every count, given what other steps say too.

    Args:
        alone: The posterior without them.
        sums: The noisy sums of this step.
        cells: Its noisy cells, one period a row.
    """
    totals = _totals(cells, law, sums)
    base = expected.scaled(float(totals.sum()) / float(expected.mean.sum()))
    noise = cells.shape[1] * float(law.variance)
    _rescale(base.mean, _updated(base.mean.sum(axis=1), 0.0, totals, [(1.0, noise)])[0])
    moved = base.mean.copy()
    targets = [(one.partition, _sums_now(one, base)) for one in sums if one.partition.classes > 1]
    fit_to_sums(moved, targets, _SWEEPS)
    growth = np.minimum(moved / np.maximum(base.mean, _NOTHING), 10.0)
    mean, variance = _updated(moved, growth**2 * base.variance, cells, _gaussian_parts(law))
    joint = replace(alone, mean=mean, variance=variance)
    return _combined(joint, alone, expected.known, cells, law)


def _totals(cells: IntArray, law: NoiseLaw, sums: Sequence[NoisySums]) -> FloatArray:
    """Returns the trips of each period by all noisy answers of a step."""
    seen = cells.sum(axis=1).astype(np.float64), cells.shape[1] * float(law.variance)
    some = [one for one in sums if one.partition.periods == len(cells)]
    return period_totals(some, len(cells), seen) if some else np.maximum(seen[0], 0.5)


def _rescale(table: FloatArray, totals: FloatArray) -> None:
    table *= (totals / np.maximum(table.sum(axis=1), _NOTHING))[:, None]


def _sums_now(sums: NoisySums, base: Expectation) -> FloatArray:
    """Returns the sums of this step: over all periods first, where a change shows best."""
    shape = sums.partition.periods, sums.partition.classes
    mean = sums.partition.sums(base.mean).reshape(shape)
    variance = sums.partition.sums(base.variance).reshape(shape)
    noise, whole = shape[0] * float(sums.law.variance), mean.sum(axis=0)
    seen = sums.by_period.sum(axis=0)
    now, _ = _updated(whole, variance.sum(axis=0), seen, [(1.0, noise)])
    mean *= now / np.maximum(whole, _NOTHING)
    return _updated(mean, variance, sums.by_period, _gaussian_parts(sums.law))[0].ravel()


def _gaussian_parts(law: NoiseLaw) -> list[tuple[float, float]]:
    """Returns shares and variances of Gaussian noise that stand together for a law."""
    variance = float(law.variance)
    if isinstance(law, DiscreteGaussian):
        return [(1.0, variance)]
    points, shares = np.polynomial.laguerre.laggauss(_VARIANCES)
    return [(float(s), variance * float(x)) for s, x in zip(shares, points, strict=True)]


def _updated(
    mean: FloatArray,
    variance: FloatArray | float,
    seen: FloatArray | IntArray,
    noise: Sequence[tuple[float, float]],
) -> tuple[FloatArray, FloatArray]:
    """Returns mean and variance of counts once they were seen through noise.

    A count strays from what is expected as counts do, by a relative change that all have alike, and
    by what is not known of the expectation; or it has changed altogether, up to what is usual for
    all or to nothing. Which, its noisy value says.
    """
    own = mean + variance
    far = own + np.maximum(mean, mean.mean()) ** 2
    strays, changed = _strays((mean, own, far), seen - mean, noise)
    laws = ((1 - changed, own + strays * mean**2), (changed, far))
    total, first, second = np.zeros((3, *mean.shape))
    off = seen - mean
    for share, prior in laws:
        for part_share, each in noise:
            likely = share * part_share * _density(off, prior + each) + 1e-300
            trust = prior / (prior + each)
            found = np.maximum(mean + trust * off, 0.0)
            total += likely
            first += likely * found
            second += likely * (found**2 + trust * each)
    first /= total
    return first, np.maximum(second / total - first**2, 0.0)


def _density(off: FloatArray, variance: FloatArray) -> FloatArray:
    return np.asarray(np.exp(-(off**2) / (2 * variance)) / np.sqrt(variance))


def _strays(
    priors: tuple[FloatArray, FloatArray, FloatArray],
    off: FloatArray,
    noise: Sequence[tuple[float, float]],
) -> tuple[float, float]:
    """Returns how far counts stray, and the share that changed, that make answers most likely.

    Args:
        priors: What is expected of counts, and their variance if they stray not at all or are far.
    """
    # Some of them tell as much as all.
    some = slice(None, None, -(-off.size // _ENOUGH))
    mean, own, far = (each.ravel()[some] for each in priors)
    missed = off.ravel()[some]

    def likely(prior: FloatArray) -> FloatArray:
        return np.asarray(sum(share * _density(missed, prior + each) for share, each in noise))

    apart = likely(far)
    best, found = -math.inf, (0.0, 0.0)
    for more, strays in enumerate(_STRAYS):
        near = likely(own + strays * mean**2)
        for even_more, changed in enumerate(_CHANGED):
            mixed = float(np.log((1 - changed) * near + changed * apart + 1e-300).sum())
            if mixed - _LEAN * (more + even_more) > best:
                best, found = mixed - _LEAN * (more + even_more), (strays, changed)
    return found


def _combined(
    joint: Posterior, alone: Posterior, known: BoolArray, cells: IntArray, law: NoiseLaw
) -> Posterior:
    """Returns a weighted mean of two estimates; pairs that other steps do not know stand alone."""
    size = np.log2(np.maximum((joint.mean + alone.mean) / 2, 1e-2))
    _, kind = np.unique(np.rint(size).astype(np.int64), return_inverse=True)
    part = _weights(joint, alone, kind.reshape(cells.shape), cells, law)
    part[:, ~known] = 0.0
    apart = joint.mean - alone.mean
    variance = part * joint.variance + (1 - part) * alone.variance + part * (1 - part) * apart**2
    # Counts of a pair have as much in common as they had.
    lines = alone.line_variance / np.maximum(alone.variance.sum(axis=0), _NOTHING)
    return replace(
        alone,
        mean=alone.mean + part * apart,
        variance=variance,
        line_variance=lines * variance.sum(axis=0),
    )


def _weights(
    joint: Posterior, alone: Posterior, kind: IntArray, cells: IntArray, law: NoiseLaw
) -> FloatArray:
    """Returns the weight of the joint estimate for every cell.

    Under Gaussian noise Stein's formula estimates the squared error of any mean of the two without
    bias, from what they miss the noisy cells by and how they follow these. Otherwise the variances
    that both state decide.
    """
    noise, apart = float(law.variance), joint.mean - alone.mean
    size = int(kind.max(initial=0)) + 1
    if not isinstance(law, DiscreteGaussian):
        one, other = (
            np.bincount(kind.ravel(), each.variance.ravel(), size) for each in (joint, alone)
        )
        both = _CORRELATED * np.sqrt(one * other)
        weight = (other - both) / np.maximum(one + other - 2 * both, _NOTHING)
        return np.asarray(np.clip(weight, 0.0, 1.0)[kind])
    gain = apart * (cells - alone.mean) - (joint.variance - alone.variance)
    gains = np.bincount(kind.ravel(), gain.ravel(), size)
    squares = np.bincount(kind.ravel(), (apart**2).ravel(), size)
    whole = min(max(float(gains.sum()) / max(float(squares.sum()), _NOTHING), 0.0), 1.0)
    lean = noise / _WEIGHTS_DIFFER**2
    return np.asarray(np.clip((gains + lean * whole) / (squares + lean), 0.0, 1.0)[kind])
