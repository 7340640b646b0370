"""The methods that the reproduction of the paper on densities compares."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.mechanism.catalogue import density_series
from hushway.families.density.mechanism.cleaning import Denoise
from hushway.families.density.mechanism.table import DensityTable
from hushway.families.density.study.errors import Box
from hushway.families.density.study.honest import Cost, HonestPlan
from hushway.families.density.study.paper import PaperPlan, paper_density
from hushway.families.density.study.published import DELTA
from hushway.families.density.study.scene import BoundedCity, budget_of
from hushway.privacy.measured import Internal
from hushway.study.study_table import Interval

Method = Callable[[BoundedCity, str, int], Internal[FloatArray]]
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


def _printed(method: str) -> Method:
    def run(city: BoundedCity, epsilon: str, seed: int) -> Internal[FloatArray]:
        plan = printed_plan(method, epsilon, city.limits.max_visits)
        return paper_density(plan, city.matrix, city.universe, np.random.default_rng(seed))

    return run


def _honest(method: str) -> Method:
    def run(city: BoundedCity, epsilon: str, seed: int) -> Internal[FloatArray]:
        plan = HonestPlan(**_facts(method, epsilon, city.limits.max_visits))
        return paper_density(plan, city.matrix, city.universe, np.random.default_rng(seed))

    return run


def _sound(denoise: Denoise, *, clustering: bool = True) -> Method:
    def run(city: BoundedCity, epsilon: str, seed: int) -> Internal[FloatArray]:
        table = sound_table(city, epsilon, seed, denoise=denoise, clustering=clustering)
        return Internal(table.value.counts)

    return run


METHODS: Final[dict[str, Method]] = {
    "LPA": _printed("LPA"),
    "EFPA-": _printed("EFPA-"),
    "EFPA": _printed("EFPA"),
    "EFPAG-": _printed("EFPAG-"),
    "EFPAG": _printed("EFPAG"),
    "EFPA, honest": _honest("EFPA"),
    "EFPAG, honest": _honest("EFPAG"),
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
class Figure:
    """One number of the reproduction.

    Attributes:
        method: The method.
        epsilon: The budget, as text.
        visits: Most visits of one person.
        figure: What was measured: "mre", "pearson", "rsse", "divergence", "metres", "coverage".
        interval: Mean over runs, with its 95% interval.
        deviation: Standard deviation over runs; NaN for a single one.
    """

    method: str
    epsilon: str
    visits: int
    figure: str
    interval: Interval
    deviation: float


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
        runs: Runs of each method and setting.
        people: People of the city.
        areas: Areas of the city.
        visits: Visits of the city.
        figures: The numbers.
        boxes: By method, budget and "mre" or "pearson": the spread over areas of all runs.
        details: What is drawn.
        costs: What each printed variant claims and costs.
        keys: By method: mean relative errors with other bounded visits and the same noise.
        gains: By variant of the fit and figure: the mean over runs.
    """

    runs: int
    people: int
    areas: int
    visits: int
    figures: tuple[Figure, ...]
    boxes: dict[str, dict[str, dict[str, Box]]]
    details: Details
    costs: dict[str, Cost]
    keys: dict[str, list[float]]
    gains: dict[str, dict[str, Interval]]

    def of(self, method: str, epsilon: str, visits: int, figure: str) -> Figure:
        """Returns one number."""
        wanted = (method, epsilon, visits, figure)
        return next(
            found
            for found in self.figures
            if (found.method, found.epsilon, found.visits, found.figure) == wanted
        )
