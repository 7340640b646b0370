"""The densities of the KDD 2014 paper as published, for comparison only: nothing to publish.

Acs and Castelluccia add floating-point noise, divide by the exact number of people, take the
largest number of visits in their data for a public bound, and select the terms of each series with
weights that guarantee more than they keep.
"""

import math
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
from scipy import fft
from scipy.special import logsumexp

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.density.fit.clusters import merge_small
from hushway.families.density.fit.smoothing import smooth_nights
from hushway.families.density.public.cover import Cover
from hushway.families.density.public.visits import DensityUniverse
from hushway.privacy.measured import Internal

# EFPA and EFPAG as the KDD 2014 paper prints them: noise on the first terms of a cosine series.
#
# How many terms are kept is drawn with weights that lack the sensitivity of what they weigh, and is
# drawn anew for every cluster. The loss of these draws adds up over the clusters that a person
# visits and passes the paper's claim. Never release what comes out.


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


@dataclass(frozen=True, kw_only=True, eq=False)
class CoverRule:
    """Two public linear maps.

    Attributes:
        cells_of_sites: What a visit at each site (column) adds to each cell of the cover (row).
        areas_of_cells: What a visit in each cell of the cover (column) adds to each area (row).
    """

    cells_of_sites: FloatArray
    areas_of_cells: FloatArray


def repaired_rule(cover: Cover) -> CoverRule:
    """Returns the rule of the product: every piece of ground belongs to exactly one cell.

    Privacy:
        The columns of the first map sum to 1, so a visit moves all cells together by 1.
    """
    pieces = cover.pieces
    cells_of_sites = np.zeros((len(cover), pieces.sites))
    site_shares = pieces.size / pieces.site_sizes[pieces.site]
    np.add.at(cells_of_sites, (cover.cell, pieces.site), site_shares)
    areas_of_cells = np.zeros((pieces.areas, len(cover)))
    area, cell, share = cover.area_shares()
    areas_of_cells[area, cell] = share
    return CoverRule(cells_of_sites=cells_of_sites, areas_of_cells=areas_of_cells)


def subtraction_rule(cover: Cover) -> CoverRule:
    """Returns the rule that the paper prints in section 5.2.

    An area of the cover counts all visits of its ground. A site of the cover counts its visits
    less, for each area of the cover that it meets, the area's count times the share of the site's
    ground there. The paper does not say how the areas come back; here what was subtracted is added
    again, then formula (1) is used, so that without noise the areas are exact.

    Privacy:
        The area's count holds visits at other sites too. One visit therefore moves an area of the
        cover and every site of the cover that meets it, not 1 altogether as the paper claims.
    """
    pieces = cover.pieces
    areas_of_sites = np.zeros((pieces.areas, pieces.sites))
    area, site, share = cover.site_shares()
    np.add.at(areas_of_sites, (area, site), share)
    areas = _picked(cover.member, ~cover.is_site, pieces.areas)
    sites = _picked(cover.member, cover.is_site, pieces.sites)
    # By (site, cell): what is subtracted from each site for each visit in an area of the cover.
    subtracted = areas_of_sites.T @ areas.T
    counted = areas @ areas_of_sites
    through_sites = areas_of_sites @ (sites.T + subtracted)
    through_sites[cover.member[~cover.is_site]] = 0.0
    return CoverRule(
        cells_of_sites=sites + counted - sites @ subtracted @ counted,
        areas_of_cells=areas.T + through_sites,
    )


def _picked(member: IntArray, chosen: BoolArray, size: int) -> FloatArray:
    """Returns a matrix of (cell, member) that picks the members of the chosen cells."""
    cells = np.flatnonzero(chosen)
    picks = np.zeros((len(member), size))
    picks[cells, member[cells]] = 1.0
    return picks


PaperMechanism = Literal["lpa", "efpa", "efpag"]


@dataclass(frozen=True, kw_only=True)
class PaperPlan:
    """One of the paper's variants.

    Attributes:
        mechanism: "lpa" adds Laplace noise to every count of the cover; the paper runs it naive, so
            it is neither clustered, scaled nor smoothed whatever the switches say. "efpa" and
            "efpag" perturb cosine terms with Laplace and with Gaussian noise.
        delta: The chance of failure that "efpag" is allowed; the others do without.
        max_visits_in_total: Most visits of one person in the total.
        clustering: Whether small cells are merged; else each cell is a cluster.
        scaling: Whether totals come from a histogram of one visit of each person; else from the
            cut-down series itself.
        subtract: Whether cells of the cover are counted as printed; else as the product does.
    """

    mechanism: PaperMechanism
    epsilon: float
    delta: float
    max_visits: int
    max_visits_in_total: int = 732
    clustering: bool = True
    scaling: bool = True
    smoothing: bool = True
    subtract: bool = False

    def __post_init__(self) -> None:
        if self.mechanism not in get_args(PaperMechanism):
            raise PlanError(
                f"The paper has no mechanism {self.mechanism!r}.",
                advice='Use "lpa", "efpa" or "efpag".',
            )
        if not (self.epsilon > 0 and 0 < self.delta < 1):
            raise PlanError(
                "Epsilon must be above 0, delta between 0 and 1.",
                advice="The paper uses 0.3 and 0.000002.",
            )
        if self.max_visits < 1 or self.max_visits_in_total < 1:
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
        total: All visits, at most `max_visits_in_total` of a person.
    """

    visits: IntArray
    first: IntArray
    total: int


def paper_density(
    plan: PaperPlan, visits: BoundedMatrix, universe: DensityUniverse, rng: np.random.Generator
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
    plan: PaperPlan,
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
    total = visits.total + rng.laplace(0.0, 2 * plan.max_visits_in_total / half)
    # The paper's frequencies are shares of the exact number of people, which it takes as known.
    people = max(1, int(visits.first.sum()))
    return np.asarray(rule.cells_of_sites @ (noisy / people * total))


def _scaled_series(
    plan: PaperPlan,
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
