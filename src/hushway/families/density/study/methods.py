"""What the paper on densities prints, and the methods that its reproduction compares."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from scipy.spatial.distance import jensenshannon

from hushway.arrays import FloatArray, IntArray
from hushway.families.density.fit.table import Denoise, DensityTable
from hushway.families.density.mechanism.series import density_series
from hushway.families.density.planning.trial import BoundedCity, budget_of
from hushway.families.density.public.visits import SiteHistogram, VisitTotal
from hushway.families.density.study.errors import Box
from hushway.families.density.study.honest import Cost, HonestPlan
from hushway.families.density.study.paper import PaperPlan, paper_density
from hushway.families.density.study.scene import PaperCity
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, ZCDPLoss
from hushway.privacy.measured import Internal
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.study.results import Figures, Interval

# What the paper prints.
EPSILON: Final = "0.3"
DELTA: Final = "0.000002"
MAX_VISITS: Final = 30

# Section 6.3: mean relative error over all cells, with EFPAG.
MRE: Final = 0.17
# Section 6.1: for each of 10, 30 and 168 visits of a person.
MRE_BELOW: Final = 0.20
PEARSON_ABOVE: Final = 0.95
# Section 6.1: what EFPAG gains over EFPA, on average over epsilon.
EFPAG_MRE_GAIN: Final = 0.03
EFPAG_PEARSON_GAIN: Final = 0.02
# Section 6.2: what scaling and smoothing gain, on average over epsilon.
IMPROVEMENTS_MRE_GAIN: Final = 0.07
IMPROVEMENTS_PEARSON_GAIN: Final = 0.01
# Section 6.4: earth mover's distance in metres, mean over the week.
EARTH_MOVERS: Final = {"LPA": 341.0, "EFPA": 258.0, "EFPAG": 188.0}

Method = Callable[[PaperCity, str, int], Internal[FloatArray]]
"""Runs once with bounded visits, an epsilon and a seed; gives visits by (area, bin)."""

DEFAULT: Final = "default"


def printed_plan(method: str, epsilon: str, max_visits: int) -> PaperPlan:
    """Returns a variant of the paper by its name there; a last "-" leaves improvements out."""
    return PaperPlan(**_facts(method, epsilon, max_visits))


def sound_table(
    city: BoundedCity,
    epsilon: str,
    seed: int,
    *,
    denoise: Denoise = "patterns",
    clustering: bool = True,
) -> Internal[DensityTable]:
    """Runs the product once; marked, because the study's key and seeds are known."""
    budget = budget_of(epsilon, DELTA)
    mechanism = density_series(city.limits, budget=budget, denoise=denoise, clustering=clustering)
    return Internal(mechanism.fit(city.measured(mechanism, seed), city.universe))


def _facts(method: str, epsilon: str, max_visits: int) -> dict[str, Any]:
    improved = not method.endswith("-")
    return {
        "mechanism": method.rstrip("-").lower(),
        "epsilon": float(epsilon),
        "delta": float(DELTA),
        "max_visits": max_visits,
        "scaling": improved,
        "smoothing": improved,
    }


def _printed(method: str, kind: type[PaperPlan] = PaperPlan) -> Method:
    def run(city: PaperCity, epsilon: str, seed: int) -> Internal[FloatArray]:
        plan = kind(**_facts(method, epsilon, city.limits.max_visits))
        return paper_density(plan, city.matrix, city.universe, np.random.default_rng(seed))

    return run


def _sound(denoise: Denoise, *, clustering: bool = True) -> Method:
    def run(city: PaperCity, epsilon: str, seed: int) -> Internal[FloatArray]:
        table = sound_table(city, epsilon, seed, denoise=denoise, clustering=clustering)
        return Internal(table.value.counts)

    return run


METHODS: Final[dict[str, Method]] = {
    "LPA": _printed("LPA"),
    "EFPA-": _printed("EFPA-"),
    "EFPA": _printed("EFPA"),
    "EFPAG-": _printed("EFPAG-"),
    "EFPAG": _printed("EFPAG"),
    "EFPA, honest": _printed("EFPA", HonestPlan),
    "EFPAG, honest": _printed("EFPAG", HonestPlan),
    "sound, cuts": _sound("cuts"),
    "sound, SURE": _sound("sure"),
    "sound, no clusters": _sound("patterns", clustering=False),
    DEFAULT: _sound("patterns"),
}
PRINTED: Final = ("LPA", "EFPA-", "EFPA", "EFPAG-", "EFPAG")
HONEST: Final = ("EFPA, honest", "EFPAG, honest")
# The exponential mechanism with exact arithmetic takes seconds a run.
SLOW: Final = ("sound, cuts",)
# Figure 7 shows these for every limit of visits.
BY_VISITS: Final = ("LPA", "EFPAG", DEFAULT)


@dataclass(frozen=True, kw_only=True)
class Details:
    """What is drawn, at the paper's main setting.

    Attributes:
        area: The area whose true total is the median.
        series: Its truth, its truth with bounded visits, and its series by each method (run 0).
        error_by_hour: Relative error of every hour by method, mean over areas and runs.
        metres_by_hour: Earth mover's distance of every hour by method, mean over runs.
        mre_by_area: Mean relative error of every area by method, mean over runs.
        pearson_by_area: Correlation of every area by method, mean over runs.
    """

    area: int
    series: dict[str, list[float]]
    error_by_hour: dict[str, list[float]]
    metres_by_hour: dict[str, list[float]]
    mre_by_area: dict[str, list[float]]
    pearson_by_area: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Everything that was measured: internal, computed against the (synthetic) truth.

    Attributes:
        figures: By method, budget and most visits of one person: "mre", "pearson", "rsse",
            "divergence", "metres" and "coverage".
        boxes: By method, budget and "mre" or "pearson": the spread over areas of all runs.
        keys: By method: mean relative errors with other bounded visits and the same noise.
        gains: By variant of the fit and figure: the mean over runs.
    """

    runs: int
    people: int
    areas: int
    visits: int
    figures: Figures
    boxes: dict[str, dict[str, dict[str, Box]]]
    details: Details
    costs: dict[str, Cost]
    keys: dict[str, list[float]]
    gains: dict[str, dict[str, Interval]]

    def of(self, method: str, epsilon: str, visits: int, figure: str) -> Interval:
        """Returns one number."""
        return self.figures.of(method, epsilon, visits, figure)


EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1")
# What one person can move all visits by, as the paper has it.
_MOST_COUNTED = 732


def _naive(city: PaperCity, exact: IntArray, epsilon: str, seed: int) -> FloatArray:
    """Adds noise to the visits of every site: one person can move them by all of theirs."""
    rng = np.random.default_rng(seed)
    noise = rng.laplace(0.0, 2 * _MOST_COUNTED / float(epsilon), city.universe.site_count)
    return np.asarray(exact + noise)


def _sampled(city: PaperCity, _exact: IntArray, epsilon: str, seed: int) -> FloatArray:
    """Adds noise to one visit of each person, scaled by a noisy number of all visits."""
    rng = np.random.default_rng(seed)
    first = city.first
    noisy = first + rng.laplace(0.0, 2 / float(epsilon), len(first))
    total = city.bounded.total + rng.laplace(0.0, 2 * _MOST_COUNTED / float(epsilon))
    return np.asarray(noisy / first.sum() * total)


def _sound_histogram(city: PaperCity, _exact: IntArray, epsilon: str, seed: int) -> FloatArray:
    """Shares people among sites by all visits, adds exact noise, and reads no number of people."""
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
    "all visits in parts (sound)": _sound_histogram,
}


def histogram_errors(
    city: PaperCity, exact: IntArray, method: str, epsilon: str, seed: int
) -> dict[str, float]:
    """Measures one noisy histogram against the exact visits of every site."""
    noisy = HISTOGRAMS[method](city, exact, epsilon, seed)
    above = np.maximum(noisy, 0.0)
    # The function of the library is the root of the divergence.
    divergence = jensenshannon(exact, above, base=2) ** 2 if above.any() else 1.0
    return {
        "divergence": float(divergence),
        "mre": float((np.abs(noisy - exact) / np.maximum(exact, 1)).mean()),
    }
