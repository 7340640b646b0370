"""Figure 6 of the paper on densities: how a histogram of sites stands the noise."""

from fractions import Fraction

import numpy as np
from scipy.spatial.distance import jensenshannon

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.public.visits import SiteHistogram, VisitTotal
from hushway.families.density.study.published import DELTA
from hushway.families.density.study.scene import BoundedCity, budget_of
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, ZCDPLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.study.study_table import StudyBudget

EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1")
# What one person can move all visits by, as the paper has it.
_MOST_COUNTED = 732


def _naive(city: BoundedCity, exact: IntArray, epsilon: str, seed: int) -> FloatArray:
    """Adds noise to the visits of every site: one person can move them by all of theirs."""
    rng = np.random.default_rng(seed)
    noise = rng.laplace(0.0, 2 * _MOST_COUNTED / float(epsilon), city.universe.site_count)
    return np.asarray(exact + noise)


def _sampled(city: BoundedCity, _exact: IntArray, epsilon: str, seed: int) -> FloatArray:
    """Adds noise to one visit of each person, scaled by a noisy number of all visits."""
    rng = np.random.default_rng(seed)
    first = city.found.histogram
    noisy = first + rng.laplace(0.0, 2 / float(epsilon), len(first))
    total = city.found.total + rng.laplace(0.0, 2 * _MOST_COUNTED / float(epsilon))
    return np.asarray(noisy / first.sum() * total)


def _sound(city: BoundedCity, _exact: IntArray, epsilon: str, seed: int) -> FloatArray:
    """Adds exact Gaussian noise of half the budget each, and reads no number of people."""
    curator = Curator(counter=city, budget=StudyBudget(), source=SeededSource(seed))
    half: Loss = ZCDPLoss(budget_of(epsilon, DELTA).rho * Fraction(1, 2))
    histogram = SiteHistogram(universe=city.universe)
    total = VisitTotal(universe=city.universe)
    noisy = curator.counts(Query(name=histogram.name, cells=histogram), half).values
    visits = curator.counts(Query(name=total.name, cells=total), half).values
    return np.asarray(noisy / max(int(noisy.sum()), 1) * max(int(visits[0]), 0))


HISTOGRAMS = {
    "every visit (naive)": _naive,
    "one visit (paper)": _sampled,
    "one visit (sound)": _sound,
}


def histogram_errors(
    city: BoundedCity, exact: IntArray, method: str, epsilon: str, seed: int
) -> dict[str, float]:
    """Measures one noisy histogram against the exact visits of every site.

    Args:
        city: The bounded visits.
        exact: Exact visits of every site over the window.
        method: One of `HISTOGRAMS`.
        epsilon: The budget of the histogram and of the number of visits together.
        seed: Chooses the noise.
    """
    noisy = HISTOGRAMS[method](city, exact, epsilon, seed)
    above = np.maximum(noisy, 0.0)
    # The function of the library is the root of the divergence.
    divergence = jensenshannon(exact, above, base=2) ** 2 if above.any() else 1.0
    return {
        "divergence": float(divergence),
        "mre": float((np.abs(noisy - exact) / np.maximum(exact, 1)).mean()),
    }
