"""EFPA and EFPAG as the KDD 2014 paper prints them: noise on the first terms of a cosine series.

How many terms are kept is drawn with weights that lack the sensitivity of what they weigh, and is
drawn anew for every cluster. The loss of these draws adds up over the clusters that a person
visits and passes the paper's claim. Never release what comes out.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import fft
from scipy.special import logsumexp

from hushway.arrays import FloatArray


class PrintedLaw(Protocol):
    """What a perturbation of cosine terms is made of; kept terms are counted from 1."""

    @property
    def epsilon(self) -> float:
        """The budget of selection and noise together, half for each."""
        ...

    def penalty(self, kept: FloatArray) -> FloatArray:
        """Returns the printed cost of the noise when so many terms are kept."""
        ...

    def deviation(self, kept: FloatArray) -> FloatArray:
        """Returns the standard deviation of the noise on each kept term."""
        ...

    def draw(self, deviation: FloatArray, terms: int, rng: np.random.Generator) -> FloatArray:
        """Returns a row of noise for each deviation, in floating point."""
        ...


@dataclass(frozen=True, kw_only=True)
class Efpa:
    """Laplace noise, which grows with the number of kept terms.

    Attributes:
        epsilon: The budget of selection and noise together.
        length: The most that one person moves all series, in L2: the root of the most visits.
    """

    epsilon: float
    length: float

    def penalty(self, kept: FloatArray) -> FloatArray:
        """Returns the printed cost, 2 k D / epsilon."""
        return 2 * kept * self.length / self.epsilon

    def deviation(self, kept: FloatArray) -> FloatArray:
        """Returns the root of the printed variance, 8 k D^2 / epsilon^2."""
        return np.asarray(np.sqrt(8 * kept) * self.length / self.epsilon)

    def draw(self, deviation: FloatArray, terms: int, rng: np.random.Generator) -> FloatArray:
        """Returns Laplace noise of scale 2 sqrt(k) D / epsilon."""
        scale = deviation[:, None] / math.sqrt(2)
        return rng.laplace(0.0, scale, (len(deviation), terms))


@dataclass(frozen=True, kw_only=True)
class Efpag:
    """Gaussian noise, the same however many terms are kept.

    The printed cost of the noise has the undivided epsilon, while the noise itself is drawn with
    half of it: its variance is printed as 8 D^2 ln(4 / delta) / epsilon^2. Both are kept as they
    are printed.

    Attributes:
        epsilon: The budget of selection and noise together.
        delta: Chance with which the paper lets the noise fail.
        length: The most that one person moves all series, in L2: the root of the most visits.
    """

    epsilon: float
    delta: float
    length: float

    def penalty(self, kept: FloatArray) -> FloatArray:
        """Returns the printed cost, sqrt(2 k ln(4 / delta)) D / epsilon."""
        return np.asarray(np.sqrt(2 * kept * math.log(4 / self.delta)) * self.length / self.epsilon)

    def deviation(self, kept: FloatArray) -> FloatArray:
        """Returns the root of the printed variance."""
        each = math.sqrt(8 * math.log(4 / self.delta)) * self.length / self.epsilon
        return np.full_like(kept, each, dtype=np.float64)

    def draw(self, deviation: FloatArray, terms: int, rng: np.random.Generator) -> FloatArray:
        """Returns Gaussian noise."""
        return rng.normal(0.0, deviation[:, None], (len(deviation), terms))


def selection_log_chances(law: PrintedLaw, series: FloatArray) -> FloatArray:
    """Returns the printed log-probability of keeping k terms: column k - 1, a row for each series.

    The weight of k is exp(-epsilon u(k) / 4), where u is what leaving out the other terms costs,
    and the noise on the kept ones.
    """
    terms = fft.dct(series, norm="ortho", axis=1)
    energy = np.cumsum((terms**2)[:, ::-1], axis=1)[:, ::-1]
    left_out = np.sqrt(np.hstack([energy[:, 1:], np.zeros((len(series), 1))]))
    costs = left_out + law.penalty(_kept(series.shape[1]))
    weights = -law.epsilon * costs / 4
    return np.asarray(weights - logsumexp(weights, axis=1, keepdims=True))


def perturb(law: PrintedLaw, series: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Returns the series of every cluster with a drawn number of noisy terms: algorithm 4."""
    bins = series.shape[1]
    # The largest of log-probabilities with Gumbel noise is a draw with these probabilities.
    chances = selection_log_chances(law, series)
    kept = (chances + rng.gumbel(0.0, 1.0, chances.shape)).argmax(axis=1) + 1
    noise = law.draw(law.deviation(kept.astype(np.float64)), bins, rng)
    noisy = fft.dct(series, norm="ortho", axis=1) + noise
    noisy[np.arange(bins) >= kept[:, None]] = 0.0
    return np.asarray(fft.idct(noisy, norm="ortho", axis=1))


def smallest_cluster(law: PrintedLaw, bins: int) -> float:
    """Returns the paper's threshold: the noise on all terms is 1 % of a cluster's total."""
    deviation = float(law.deviation(_kept(bins))[-1])
    return math.sqrt(bins) * deviation / 0.01


def _kept(bins: int) -> FloatArray:
    return np.arange(1, bins + 1, dtype=np.float64)
