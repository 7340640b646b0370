"""The densities of the KDD 2014 paper as published, for comparison only: nothing to publish.

Acs and Castelluccia add floating-point noise, divide by the exact number of people, take the
largest number of visits in their data for a public bound, and select the terms of each series with
weights that promise more than they keep.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.density.mechanism.clusters import merge_small
from hushway.families.density.mechanism.night import smooth_nights
from hushway.families.density.public.cells import DensityUniverse
from hushway.families.density.study.paper_cover import CoverRule, repaired_rule, subtraction_rule
from hushway.families.density.study.paper_series import (
    Efpa,
    Efpag,
    PrintedLaw,
    perturb,
    smallest_cluster,
)
from hushway.privacy.internal import Internal

FaithfulMechanism = Literal["lpa", "efpa", "efpag"]


@dataclass(frozen=True, kw_only=True)
class FaithfulPlan:
    """One of the paper's variants.

    Attributes:
        mechanism: "lpa" adds Laplace noise to every count of the cover; the paper runs it naive, so
            it is neither clustered, scaled nor smoothed whatever the switches say. "efpa" and
            "efpag" perturb cosine terms with Laplace and with Gaussian noise.
        epsilon: The whole budget.
        delta: The chance of failure that "efpag" is allowed; the others do without.
        max_visits: Most visits of one person in the series.
        most_counted: Most visits of one person in the total.
        clustering: Whether small cells are merged; else each cell is a cluster.
        scaling: Whether totals come from a histogram of one visit of each person; else from the
            cut-down series itself.
        smoothing: Whether the nights are smoothed.
        subtract: Whether cells of the cover are counted as printed; else as the product does.
    """

    mechanism: FaithfulMechanism
    epsilon: float
    delta: float
    max_visits: int
    most_counted: int = 732
    clustering: bool = True
    scaling: bool = True
    smoothing: bool = True
    subtract: bool = False

    def __post_init__(self) -> None:
        if self.mechanism not in get_args(FaithfulMechanism):
            raise PlanError(
                f"The paper has no mechanism {self.mechanism!r}.",
                advice='Use "lpa", "efpa" or "efpag".',
            )
        if not (self.epsilon > 0 and 0 < self.delta < 1):
            raise PlanError(
                "Epsilon must be above 0, delta between 0 and 1.",
                advice="The paper uses 0.3 and 0.000002.",
            )
        if self.max_visits < 1 or self.most_counted < 1:
            raise PlanError(
                "Limits of visits must be at least 1.", advice="The paper uses 30 and 732."
            )

    @property
    def law(self) -> PrintedLaw:
        """How cosine terms are perturbed, with half of the budget."""
        length = float(np.sqrt(self.max_visits))
        if self.mechanism == "efpa":
            return Efpa(epsilon=self.epsilon / 2, length=length)
        return Efpag(epsilon=self.epsilon / 2, delta=self.delta, length=length)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundedMatrix:
    """Exact numbers of visits after each person was cut down.

    Attributes:
        visits: By (site, bin): at most `max_visits` of a person, each in a bin of its own.
        first: One visit of each person, by site.
        total: All visits, at most `most_counted` of a person.
    """

    visits: IntArray
    first: IntArray
    total: int


def faithful_density(
    plan: FaithfulPlan,
    visits: BoundedMatrix,
    universe: DensityUniverse,
    rng: np.random.Generator,
) -> Internal[FloatArray]:
    """Runs one of the paper's variants once.

    Counts below 0, on which the paper is silent, are cut off: in the cells of the cover before the
    nights are smoothed, or only in the areas if `subtract` makes true counts negative.

    Privacy:
        None that is proven, and less than claimed: see the modules of the series and of the cover.

    Returns:
        Counts by (area, bin), marked as not to be released.
    """
    rule = subtraction_rule(universe.cover) if plan.subtract else repaired_rule(universe.cover)
    series = np.asarray(rule.cells_of_sites @ visits.visits.astype(np.float64))
    if plan.mechanism == "lpa":
        cells = series + rng.laplace(0.0, plan.max_visits / plan.epsilon, series.shape)
    else:
        totals = _totals(plan, visits, series, rule, rng)
        cells = _scaled_series(plan, series, totals, universe, rng)
    if not plan.subtract:
        cells = np.maximum(cells, 0.0)
    if plan.smoothing and plan.mechanism != "lpa":
        periods = universe.periods
        minutes = np.arange(periods.opens, periods.closes, periods.minutes)
        cells = smooth_nights(cells, starts=minutes / 60)
    return Internal(np.maximum(rule.areas_of_cells @ cells, 0.0))


def _totals(
    plan: FaithfulPlan,
    visits: BoundedMatrix,
    series: FloatArray,
    rule: CoverRule,
    rng: np.random.Generator,
) -> FloatArray:
    """Returns the noisy total of each cell: line 1 of algorithm 2, or section 5.4.1."""
    if not plan.scaling:
        noise = rng.laplace(0.0, 2 * plan.max_visits / plan.epsilon, len(series))
        return np.asarray(series.sum(axis=1) + noise)
    half = plan.epsilon / 2
    noisy = visits.first + rng.laplace(0.0, 2 / half, len(visits.first))
    total = visits.total + rng.laplace(0.0, 2 * plan.most_counted / half)
    # The paper's frequencies are shares of the exact number of people, which it takes as known.
    people = max(1, int(visits.first.sum()))
    return np.asarray(rule.cells_of_sites @ (noisy / people * total))


def _scaled_series(
    plan: FaithfulPlan,
    series: FloatArray,
    totals: FloatArray,
    universe: DensityUniverse,
    rng: np.random.Generator,
) -> FloatArray:
    """Returns the shape of each cell's cluster, scaled to the cell's total: algorithm 2."""
    cover, law = universe.cover, plan.law
    cluster = np.arange(len(cover))
    if plan.clustering:
        threshold = smallest_cluster(law, universe.bins)
        cluster = merge_small(totals, cover.centres, cover.sizes, threshold)
    sums = np.zeros((int(cluster.max()) + 1, universe.bins))
    np.add.at(sums, cluster, series)
    noisy = perturb(law, sums, rng)
    norms = np.abs(noisy).sum(axis=1, keepdims=True)
    shapes = noisy / np.where(norms > 0, norms, 1.0)
    return np.asarray(totals[:, None] * shapes[cluster])
