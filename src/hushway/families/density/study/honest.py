"""What the variants of the KDD 2014 paper really cost, and what they give if they keep their word.

Selection. A cluster's number of terms k has the weight exp(-epsilon u(k) / 4), where u moves by as
much as the cluster's series does, in L2. A person with one visit in each of l clusters moves all of
them by 1, so the log-probabilities together move by up to l * epsilon / 2; the paper claims
epsilon / 2. (Its epsilon here is half of the whole: the other half spends on totals.)

Noise. EFPA's Laplace noise is scaled to the L2 length of a whole person, while losses of Laplace
noise add up in L1 over clusters: up to sqrt(l) times the claim. EFPAG's Gaussian noise is enough.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from hushway.arrays import FloatArray
from hushway.families.density.study.paper import (
    Efpa,
    Efpag,
    PaperPlan,
    PrintedLaw,
    selection_log_chances,
)
from hushway.privacy.measured import Internal


@dataclass(frozen=True, kw_only=True)
class HonestLaw:
    """A printed law whose selection and noise are weakened until the claim holds."""

    printed: Efpa | Efpag
    max_visits: int

    @property
    def epsilon(self) -> float:
        """The printed exponent divided by what is missing from it."""
        return self.printed.epsilon / self.max_visits

    def penalty(self, kept: FloatArray) -> FloatArray:
        """Returns the cost of the noise that is really drawn."""
        return self._factor * self.printed.penalty(kept)

    def deviation(self, kept: FloatArray) -> FloatArray:
        """Returns the deviation under which the noise keeps the claim."""
        return self._factor * self.printed.deviation(kept)

    def draw(self, deviation: FloatArray, terms: int, rng: np.random.Generator) -> FloatArray:
        """Returns noise of the printed kind."""
        return self.printed.draw(deviation, terms, rng)

    @property
    def _factor(self) -> float:
        return math.sqrt(self.max_visits) if isinstance(self.printed, Efpa) else 1.0


@dataclass(frozen=True, kw_only=True)
class HonestPlan(PaperPlan):
    """One of the paper's variants, with a law that keeps the claim of the series."""

    @property
    def law(self) -> PrintedLaw:
        """How cosine terms are perturbed."""
        printed = super().law
        if isinstance(printed, Efpa | Efpag):
            return HonestLaw(printed=printed, max_visits=self.max_visits)
        return printed


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Epsilon of each part of a variant, at the paper's delta.

    Attributes:
        claimed: What the paper says that all parts cost.
        selection: What the choices of k can cost at most: proven from above.
        noise: What the noise on terms or counts can cost at most.
        totals: What the histogram and the number of visits cost.
        witnessed: What the choices of k do cost for a person with a visit in each of l empty
            clusters: proven from below.
    """

    claimed: float
    selection: float
    noise: float
    totals: float
    witnessed: float

    @property
    def at_most(self) -> float:
        """The sum of what the parts cost at most."""
        return self.selection + self.noise + self.totals


def cost_of(plan: PaperPlan, bins: int) -> Cost:
    """Returns what a variant costs if neighbours differ by one person with all their visits.

    The exact number of people, which the paper takes as known, is not counted.
    """
    if plan.mechanism == "lpa":
        return Cost(
            claimed=plan.epsilon, selection=0.0, noise=plan.epsilon, totals=0.0, witnessed=0.0
        )
    half = plan.law.epsilon
    root = math.sqrt(plan.max_visits)
    if plan.mechanism == "efpa":
        noise = root * half / 2
    else:
        sigma = float(plan.law.deviation(np.ones(1))[0])
        noise = gaussian_epsilon(root / sigma, plan.delta)
    return Cost(
        claimed=plan.epsilon,
        selection=plan.max_visits * half / 2,
        noise=noise,
        totals=half,
        witnessed=plan.max_visits * _worst_of_empty(plan.law, bins),
    )


def gaussian_epsilon(distance: float, delta: float) -> float:
    """Returns the least epsilon of Gaussian noise, moved by `distance` deviations (Balle 2018)."""
    low, high = 0.0, 1.0
    while _gaussian_delta(distance, high) > delta:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _gaussian_delta(distance, middle) > delta else (low, middle)
    return high


def selection_losses(law: PrintedLaw, series: FloatArray) -> Internal[FloatArray]:
    """Returns what one visit more in each bin of each series costs by the choice of k alone."""
    before = selection_log_chances(law, series)
    losses = np.empty(series.shape)
    for time_bin in range(series.shape[1]):
        more = series.copy()
        more[:, time_bin] += 1
        moved = selection_log_chances(law, more) - before
        losses[:, time_bin] = np.abs(moved).max(axis=1)
    return Internal(losses)


def _worst_of_empty(law: PrintedLaw, bins: int) -> float:
    """Returns the loss of one visit in an empty series, in the bin where it is largest."""
    return float(selection_losses(law, np.zeros((1, bins))).value.max())


def _gaussian_delta(distance: float, epsilon: float) -> float:
    below = norm.cdf(distance / 2 - epsilon / distance)
    return float(below - math.exp(epsilon) * norm.cdf(-distance / 2 - epsilon / distance))
