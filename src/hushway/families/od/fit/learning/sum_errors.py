"""Errors of sums of estimates, calibrated by sums that were measured.

Errors of cells are correlated in a way that their own variances do not show: cells of one origin,
say, share what the prior has wrong about it. A random effect stands for that. It moves every
estimate of its sum by the variance of the cell times the effect, as a factor on all odds does.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.learning.empirical_bayes import Posterior
from hushway.families.od.fit.random_effects import RandomEffects, shared_growth
from hushway.families.od.public.cells import ODCells
from hushway.privacy.noise.inversion import NoiseLaw

# Variance of a squared draw over the squared variance: 5 for Laplace noise, 2 for Gaussian.
_KURTOSIS: Final = 5.0
_GAUSSIAN: Final = 2.0
# Effects usually add so many times the variance of independent cells to sums: an exponential prior.
_USUAL: Final = 3.0
_TURNS: Final = 4
_FIRM: Final = 4.0
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class SumErrors:
    """What a family of measured sums says about the estimates of its cells.

    Attributes:
        noise: The variance of a sum to reconcile cells with: the more the errors of cells are
            correlated, the smaller it is.
        effect: By how much sums vary more than their cells do, on average, before reconciliation.
        variances: The variance of every sum after reconciliation.
    """

    noise: float
    effect: float
    variances: FloatArray

    @staticmethod
    def of(
        *, noisy: IntArray, noise: float, cells: "SumsOfCells", least: FloatArray | None = None
    ) -> "SumErrors":
        """Compares noisy sums, and the variance of their noise, with sums of estimates.

        Estimates were fitted to the noisy sums, so what they miss them by shows too little of their
        error: no variance is below `least`.
        """
        noise = max(noise, _NOTHING)
        missed = noisy - cells.estimates
        own = max(float(cells.variances.sum()), _NOTHING)
        # Of many sums only what noise does not explain counts against the cells. Few sums are known
        # better than they can be compared, so there the cells are in doubt.
        hidden = noise * math.sqrt(_KURTOSIS * len(missed))
        doubt = (1 - 2 / math.sqrt(len(missed))) * hidden
        more = float(np.sum(missed**2 - noise)) - doubt
        believed = noise * max(min(own / max(more, _NOTHING), 1.0), cells.least_trust(noise))
        effect = _effect_variance(
            missed**2 - noise - cells.variances,
            cells.variances**2,
            cells.variances,
            np.full(len(missed), _KURTOSIS * noise**2),
        )
        varied = cells.variances + effect * cells.variances**2
        # How much of each sum is the cells' own, once both are together.
        share = believed / (believed + cells.yielding)
        return SumErrors(
            noise=believed,
            effect=effect * float(np.sum(cells.variances**2)) / own,
            # A sum of whole counts may be off by almost one more.
            variances=np.maximum(
                share**2 * varied + (1 - share) ** 2 * noise, 0.0 if least is None else least
            )
            + 1 / 3,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class SumsOfCells:
    """The sums of estimates, of their variances, and of their `yielding_variance`.

    Attributes:
        noise: The variance of each sum of noisy cells; None if not all cells were looked at.
    """

    estimates: FloatArray
    variances: FloatArray
    yielding: FloatArray
    noise: FloatArray | None = None

    def least_trust(self, noise: float) -> float:
        """Returns which part of their noise sums have at least when cells are moved to them.

        Where adding up noisy cells tells more than the noisy sums do, these count no more than
        beside noisy cells, however wrong a prior is.
        """
        if self.noise is None:
            return 0.0
        alone = float(self.noise.mean())
        return float(self.yielding.mean()) / alone * max(1 - alone / noise, 0.0)


def _effect_variance(
    excess: FloatArray, grows: FloatArray, own: FloatArray, noise: FloatArray
) -> float:
    """Returns the variance of the random effects of some sums: a posterior mean.

    Args:
        excess: Unbiased estimates of what effects add to the squared error of every sum.
        grows: What an effect of variance 1 would add to each.
        own: The variance of each if cells were independent.
        noise: The variance of each of `excess` that comes from noise.
    """
    usual = max(_USUAL * float(own.sum()) / max(float(grows.sum()), _NOTHING), _NOTHING)
    effect = usual
    for _ in range(_TURNS):
        # Errors vary too, and the more the larger they are.
        spread = noise + _GAUSSIAN * (own + effect * grows) ** 2
        weights = grows / np.maximum(spread, _NOTHING)
        known = max(float(weights @ grows), _NOTHING)
        seen = float(weights @ excess) / known
        hidden = max(float(weights**2 @ noise) / known**2, _NOTHING)
        effect = _positive_mean(seen - hidden / usual, math.sqrt(hidden))
    return effect


def _positive_mean(centre: float, deviation: float) -> float:
    """Returns the mean of a normal law that is cut off below 0."""
    at = centre / deviation
    if at < -10:  # noqa: PLR2004  there the quotient below is 0 / 0
        return -deviation / at
    density = math.exp(-(at**2) / 2) / math.sqrt(2 * math.pi)
    return centre + deviation * density / (math.erfc(-at / math.sqrt(2)) / 2)


def random_effects(
    universe: ODCells, missed: FloatArray, posterior: Posterior, law: NoiseLaw
) -> RandomEffects:
    """Learns what errors have in common from what noisy cells miss estimates by.

    Cells of a pair share a factor, of which the posterior knows the variance. Products of what is
    missed between different pairs of an origin, a destination or a period have a mean of 0 unless
    their errors have something in common: their noise is independent.
    """
    _, *ends = universe.decode(np.arange(universe.pairs))
    periods, places = len(missed), len(universe.locations)
    each = np.repeat(np.arange(periods), universe.pairs)

    def effect(group: IntArray, seen: FloatArray) -> float:
        every = _added(group, posterior.variance)
        noise = float(law.variance) * np.bincount(group).astype(np.float64)
        return _effect_variance(seen, shared_growth(every), every, _GAUSSIAN * noise**2)

    def of_end(end: IntArray) -> tuple[float, float]:
        cell, place = each * places + np.tile(end, periods), np.tile(end, periods)
        together = _products(cell, missed)
        apart = _products(end, missed.sum(axis=0)) - together.reshape(periods, -1).sum(axis=0)
        return effect(place, apart), effect(cell, together)

    (origin, by_origin), (destination, by_destination) = map(of_end, ends)
    own, lines = posterior.variance.sum(), posterior.line_variance.sum()
    return RandomEffects(
        origin=origin,
        destination=destination,
        origin_by_period=by_origin,
        destination_by_period=by_destination,
        period=effect(each, _products(each, missed)),
        pair=max(float(lines / max(own, _NOTHING)) - 1, 0.0),
    )


def _added(group: IntArray, values: FloatArray) -> FloatArray:
    return np.bincount(group, weights=values.ravel()).astype(np.float64)


def _products(group: IntArray, values: FloatArray) -> FloatArray:
    """Adds up products of all two different values of each group."""
    return _added(group, values) ** 2 - _added(group, values**2)


def yielding_variance(variance: FloatArray, law: NoiseLaw) -> FloatArray:
    """Returns the variances that cells are reconciled with.

    A cell gives way to sums as far as its posterior allows, but the less the more of its value
    comes from its own measurement: what sums are missing was not seen, so it is elsewhere.
    """
    return np.asarray(variance / (1 + _FIRM * variance / float(law.variance)))
