"""What a whole density must not give away: all questions together, the table, events in files."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.agreement import AlwaysSame
from hushway.audit.divergence import DivergenceCheck
from hushway.audit.harness import Check, Examination, Finding, Sampler, Trial, enough
from hushway.audit.product import Look, microseconds
from hushway.audit.shift import (
    DELTA,
    JointShiftCheck,
    claim_of,
    gaussian_shift,
    most_of_gaussian,
    rho_of,
)
from hushway.families.density.audit.looks import (
    Evidence,
    Merged,
    NextClusters,
    Projection,
    Published,
    Resident,
    Spread,
)
from hushway.families.density.audit.product import (
    CELLS,
    LONE_SITES,
    NO_STAYS,
    SITES,
    DensityProduct,
    DensityStage,
    District,
    Stay,
    StayRows,
    Stays,
    VisitTerms,
    district,
)
from hushway.families.density.mechanism.recommended import Shares
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.visits import ClusterSeries, VisitLimits
from hushway.families.density.rows.rows import EventColumns, EventsSource
from hushway.privacy.loss import Loss, ZCDPLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

# One release a run: corners would meet in totals and in what all series have in common.
_SMALL = district(corners=1, bins=6)
_CLUSTERED = district(corners=50, bins=6)
_LIMITS = VisitLimits(max_visits=4, max_visits_in_total=4)
_RARELY, _SELDOM = Fraction(1, 20), Fraction(1, 5)
# So large an error that noise decides which cells are merged.
_CLUSTER_ERROR = 0.9
_VISITOR: Stays = tuple(Stay(site=LONE_SITES[1], bin=when, person=99) for when in range(4))
_CROWD: Stays = tuple(
    Stay(site=site, bin=when, person=5 * number + i)
    for number, site in enumerate(LONE_SITES)
    for i in range(5)
    for when in range(4)
)
_HALVES = Shares(histogram=Fraction(49, 100), total=Fraction(1, 100))
_FIFTH = Fraction(1, 5)
_EVEN = Shares(histogram=_FIFTH, activity=_FIFTH, total=_FIFTH, clusters=_FIFTH)
_QUESTIONS = ("histogram", "activity", "total", "clusters", "series")


def _planned(limits: VisitLimits, spend: Loss, shares: Shares | None = None) -> DensitySeries:
    """Returns a density as a plan has it: clusters, scaling, patterns."""
    return density_series(limits, budget=spend, shares=shares, cluster_error=_CLUSTER_ERROR)


def all_questions(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A person in the answers of a release: each moves by its share, and all by sqrt(2 rho).

    The others are known, and taken away.
    """
    stage = _whole(product, epsilon, _SMALL, _EVEN)
    look = Evidence(stage=stage, others=_CROWD, stays=_VISITOR)
    whole = most_of_gaussian(rho_of(epsilon).rho)
    return JointShiftCheck(
        name="all questions, and each of them: one person fits rho",
        statistics=(
            *(f"the evidence of the {question}" for question in _QUESTIONS),
            "the evidence of histogram, activity, total, clusters and series",
        ),
        epsilon=epsilon,
        delta=DELTA,
        worlds=stage.worlds(look.seen, ("the person", _CROWD + _VISITOR), ("the others", _CROWD)),
        most=(*((whole / math.sqrt(len(_QUESTIONS)),) * len(_QUESTIONS)), whole),
        effort=_RARELY,
    )


def exact_divergence(product: DensityProduct, epsilon: Fraction) -> Examination:
    """All answers with a person and without, by the exact law of what each says it has done."""
    stage = _whole(product, epsilon, _SMALL, _EVEN)
    look = Evidence(stage=stage, others=_CROWD, stays=_VISITOR)
    return DivergenceCheck(
        name="all questions together: the exact divergence fits rho",
        statistic="what all questions say of a person",
        epsilon=epsilon,
        delta=DELTA,
        rho=rho_of(epsilon).rho,
        release=lambda: look.divergence(stage.opened(_CROWD + _VISITOR)),
    )


def noise_of_questions(product: DensityProduct, epsilon: Fraction) -> Examination:
    """What is left of each answer if all people are known: noise as wide as was charged for."""
    stage = _whole(product, epsilon, _SMALL, _EVEN)
    look = Spread(stage=stage, others=_CROWD)
    return SpreadCheck(
        name="each question: noise that fits its share of rho",
        statistics=tuple(f"the noise of the {question}" for question in _QUESTIONS),
        epsilon=epsilon,
        delta=DELTA,
        sample=stage.sampler(_CROWD, look.squares),
        effort=_RARELY,
    )


def people_and_series(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A person in the histogram and in the series: together they move by sqrt(2 rho)."""
    stage = _whole(product, epsilon, district(corners=1000, bins=4), _HALVES)
    look = Resident(stage=stage, cell=1)
    return gaussian_shift(
        name="histogram and series together: one person fits rho",
        statistic="the evidence of both",
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", _VISITOR)),
        tight=True,
    )


def published_area(product: DensityProduct, epsilon: Fraction) -> Examination:
    """Four visits of one person to an area that nobody else visits, in the published table."""
    stage = _whole(product, epsilon, _SMALL)
    look = Published(stage=stage, area=1)
    others = tuple(stay for stay in _CROWD if stay.site != LONE_SITES[1])
    return _in_table(
        stage,
        (others + _VISITOR, others),
        look.area_total,
        "published: the only visitor of an area or nobody",
        "its visits over all periods, in hundredths,",
    )


def published_clusters(product: DensityProduct, epsilon: Fraction) -> Examination:
    """One more person among twenty: which cells are merged."""
    stage = _whole(product, epsilon, _SMALL)
    return _in_table(
        stage,
        (_CROWD + _VISITOR, _CROWD),
        Merged(stage=stage).seen,
        "published: clusters with one more person",
        "the clusters of all cells, as a number,",
    )


def next_clusters(product: DensityProduct, epsilon: Fraction) -> Examination:
    """The same noisy totals with and without people: the series asked for must be the same."""
    stage = _whole(product, epsilon, _CLUSTERED)
    crowd = tuple(
        Stay(site=site, bin=when, person=20 * number + i)
        for number, site in enumerate(LONE_SITES)
        for i in range(20)
        for when in range(4)
    )
    look = NextClusters(stage=stage, others=NO_STAYS)
    return AlwaysSame(
        name="clusters: the same noisy totals, the same clusters",
        statistic="cells of a corner in other clusters, with people and without",
        epsilon=epsilon,
        sample=stage.sampler(crowd, look.differ),
        effort=_SELDOM,
    )


def _whole(
    product: DensityProduct, epsilon: Fraction, where: District, shares: Shares | None = None
) -> DensityStage:
    return DensityStage(
        product=product,
        district=where,
        limits=_LIMITS,
        spend=rho_of(epsilon),
        make=partial(_planned, shares=shares),
    )


def _in_table(
    stage: DensityStage, scenes: tuple[Stays, Stays], look: Look, name: str, statistic: str
) -> Examination:
    assert isinstance(stage.spend, ZCDPLoss)  # noqa: S101  what these stages spend with
    return Trial(
        name=name,
        statistic=statistic,
        epsilon=claim_of(stage.spend),
        delta=DELTA,
        worlds=stage.worlds(look, ("the person", scenes[0]), ("the others", scenes[1])),
        effort=_RARELY,
    )


# The claim that the noise of several questions is as wide as was charged for, not less, not more.
#
# A run gives the mean square of each question's noise, in variances. The mean over many runs is 1,
# and a single square of a normal number is as far from it as any.

# As for other means: 8 standard errors leave room for the normal law to be wrong by a factor of a
# million before 1e-9.
_STANDARD_ERRORS = 8
# The square of a normal number varies by the root of 2, and the mean of several by less.
_MOST_SPREAD = math.sqrt(2)
_THOUSAND = 1000


@dataclass(frozen=True, kw_only=True)
class SpreadCheck(Check):
    """The claim that mean squares, in variances, are 1.

    Attributes:
        statistics: What has the variance; a run has a column for each.
        sample: Returns the mean squares of so many runs, in thousandths, one row each.
        effort: How many times the runs that are asked for it takes.
    """

    statistics: tuple[str, ...]
    sample: Sampler
    effort: Fraction = Fraction(1)

    def examine(self, runs: int) -> Finding:
        """Compares each mean with 1, and tells the one that is furthest from it."""
        runs = enough(runs, self.effort)
        means = self.sample(runs).mean(axis=0) / _THOUSAND
        worst = int(abs(means - 1).argmax())
        slack = _STANDARD_ERRORS * _MOST_SPREAD / math.sqrt(runs)
        return self.finding(
            runs,
            event=(
                f"{self.statistics[worst]} has {means[worst]:.4f} times the variance that was "
                "charged for"
            ),
            passed=bool(abs(means[worst] - 1) <= slack),
            reason=f"Chance explains {1 - slack:.3f} to {1 + slack:.3f}.",
        )


_DISTRICT = district(corners=50, bins=6)
# Numbers of parts that thirds divide badly, and one that cannot be divided at all.
_QUANTA = (1024, 1000, 7, 1)


def one_visit_is_one(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A visit at any site moves all cells together by exactly one visit."""
    return AlwaysSame(
        name="cover: a visit is one visit, at every site",
        statistic="visits at sites of all kinds whose parts do not sum to one visit",
        epsilon=epsilon,
        sample=WholeVisits(product=product, district=_DISTRICT).differ,
    )


@dataclass(frozen=True, kw_only=True)
class WholeVisits:
    """How far visits at different sites are from one visit, as the engine counts them."""

    product: DensityProduct
    district: District

    def differ(self, runs: int) -> IntArray:
        """Returns parts by which a visit differs from a whole one, over and over again."""
        found = [self.of_site(site, quanta) for site in range(SITES) for quanta in _QUANTA]
        return np.resize(np.concatenate(found), runs)

    def of_site(self, site: int, quanta: int) -> IntArray:
        """Returns by how many parts all cells of a corner move, less those of one visit."""
        universe, corners = self.district.universe, self.district.corners
        corner = np.arange(corners, dtype=np.int64)
        rows = StayRows(person=corner, site=corner * SITES + site, bin=corner % universe.bins)
        terms = VisitTerms(universe=universe, limits=_LIMITS)
        cells = ClusterSeries(universe=universe, cluster=self.district.every_cell, quanta=quanta)
        counter = self.product.counter(rows, terms, os_source())
        exact = counter.count(Query(name=cells.name, cells=cells))
        moved = np.zeros(corners, dtype=np.int64)
        np.add.at(moved, exact.cells // (CELLS * universe.bins), np.abs(exact.values))
        return moved - quanta


_BINS = 24
_MOST = 4
_HOUR_US = 3_600_000_000
# Reading files is slow.
_BRIEF = Fraction(1, 4)
# At one site in every bin, three times: 72 events, of which four count.
_RESTLESS: Stays = tuple(Stay(site=0, bin=when, times=3) for when in range(_BINS))


def many_batches(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A person with 72 events in five files and many batches, four of which count."""
    stage = FileStage(
        product=product,
        district=district(corners=1000, bins=_BINS),
        limits=VisitLimits(max_visits=_MOST, max_visits_in_total=_MOST),
        spend=rho_of(epsilon),
    )
    look = Projection(stage=stage, direction={(0, when): 1 for when in range(_BINS)}).seen
    return gaussian_shift(
        name="files: 72 events of one person in many batches fit rho",
        statistic="the sum over all periods of the first cell",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the person", _RESTLESS)),
        effort=_BRIEF,
    )


_WEEKS = 4
_WEEK_US = 7 * 24 * _HOUR_US
_DAY_BINS = 4


def many_weeks(product: DensityProduct, epsilon: Fraction) -> Examination:
    """A visit in every bin of every week of a typical week: four may count over all weeks."""
    stage = WeekStage(
        product=product,
        district=district(corners=500, bins=_DAY_BINS, days=7 * _WEEKS, cycle="week"),
        limits=VisitLimits(max_visits=_MOST, max_visits_in_total=_MOST),
        spend=rho_of(epsilon),
    )
    every = range(stage.district.universe.bins)
    look = Projection(stage=stage, direction={(0, when): 1 for when in every}).seen
    return gaussian_shift(
        name="files: four weeks of one person, laid over each other, fit rho",
        statistic="the sum over all periods of the first cell",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the person", tuple(Stay(site=0, bin=b) for b in every))),
        effort=_BRIEF,
    )


@dataclass(frozen=True, kw_only=True)
class FileStage(DensityStage):
    """A stage whose events are in files."""

    def sampler(self, scene: Stays, look: Look) -> Sampler:
        """Returns a way to run a scene: it is written once, and read again for each release."""
        rows, universe = self.district.play(scene), self.district.universe
        columns = {
            "person": rows.person,
            "location": rows.site,
            "time": microseconds(universe.periods.first_day, rows.bin * _HOUR_US),
        }
        return self.sampler_of_files(
            columns, lambda folder: EventsSource(folder, EventColumns()), look
        )


@dataclass(frozen=True, kw_only=True)
class WeekStage(DensityStage):
    """A stage whose events are in files and happen again in every week of the window."""

    def sampler(self, scene: Stays, look: Look) -> Sampler:
        """Returns a way to run a scene: it is written once, and read again for each release."""
        rows, universe = self.district.play(scene), self.district.universe
        day, part = np.divmod(rows.bin, _DAY_BINS)
        once = day * 24 * _HOUR_US + part * _HOUR_US
        after = np.concatenate([once + week * _WEEK_US for week in range(_WEEKS)])
        columns = {
            "person": np.tile(rows.person, _WEEKS),
            "location": np.tile(rows.site, _WEEKS),
            "time": microseconds(universe.periods.first_day, after),
        }
        return self.sampler_of_files(
            columns, lambda folder: EventsSource(folder, EventColumns()), look
        )
