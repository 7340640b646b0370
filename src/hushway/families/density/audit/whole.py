"""What a whole density must not give away: all questions together, the table, events in files."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.agreement import Replayed
from hushway.auditing.cases import OTHERS, Case, Shifts, Staged, cases_of, never_differs
from hushway.auditing.harness import Check, Finding, Sampler, enough, evidence, in_thousandths
from hushway.auditing.law import ORDERS, DivergenceCheck, gaussian, of_gaussians
from hushway.auditing.product import Look, Product
from hushway.auditing.shift import JointShiftCheck, most_of_gaussian
from hushway.families.density.audit.questions import over_bins
from hushway.families.density.audit.stage import (
    CELLS,
    LONE_SITES,
    SITES,
    DensityStage,
    Stay,
    Stays,
    staged,
)
from hushway.families.density.mechanism.recommended import Shares
from hushway.families.density.mechanism.series import DensitySeries, density_series
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ClusterSeries,
    SiteHistogram,
    VisitLimits,
)
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.events import GaussianEvent
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import AnyQuery, CutQuery, Query
from hushway.privacy.randomness import os_source

# A release a run is slow, and so is reading files.
_RARELY, _SELDOM, _BRIEF = Fraction(1, 20), Fraction(1, 5), Fraction(1, 4)
# So large an error that noise decides which cells are merged.
_CLUSTER_ERROR = 0.9
_VISITOR: Stays = tuple(Stay(site=LONE_SITES[1], bin=when, person=99) for when in range(4))
_HALVES = Shares(histogram=Fraction(49, 100), total=Fraction(1, 100))
_FIFTH = Fraction(1, 5)
_EVEN = Shares(histogram=_FIFTH, activity=_FIFTH, total=_FIFTH, clusters=_FIFTH)
_QUESTIONS = ("activity", "histogram", "total", "clusters", "series")


def _crowd(people: int) -> Stays:
    """Returns so many people in each cell, with four visits each."""
    return tuple(
        Stay(site=site, bin=when, person=people * number + i)
        for number, site in enumerate(LONE_SITES)
        for i in range(people)
        for when in range(4)
    )


_CROWD = _crowd(5)


def _planned(limits: VisitLimits, spend: Loss, shares: Shares | None = None) -> DensitySeries:
    """Returns a density as a plan has it: clusters, scaling, patterns."""
    return density_series(limits, budget=spend, shares=shares, cluster_error=_CLUSTER_ERROR)


# One release a run: corners would meet in totals and in what all series have in common.
_small = partial(staged, corners=1, bins=6, most=4, make=_planned)
_even = partial(_small, make=partial(_planned, shares=_EVEN))


@dataclass(frozen=True)
class Known:
    """Noisy answers, less what an auditor knows who knows everybody but one person.

    Nobody has more events than count, so nothing is left to chance but the noise, and clusters that
    follow from it.
    """

    stage: DensityStage
    others: Stays
    stays: Stays = ()

    def unknown(self, answer: Measured) -> IntArray:
        """Returns an answer, less the exact counts of the others."""
        return answer.values - self.stage.exact(self.others, answer.query)

    def evidence(self, curator: Curator) -> IntArray:
        """Returns the evidence of each question and of all together, in thousandths: one run."""
        parts = [
            float(self.stage.exact(self.stays, answer.query) @ self.unknown(answer))
            / float(self._paid[answer.query.name])
            for answer in self.stage.measured(curator)
        ]
        return in_thousandths([[*parts, sum(parts)]])

    def divergence(self, curator: Curator) -> dict[float, float]:
        """Returns how far all answers diverge without the person, given what each says of itself.

        Where an answer says nothing of Gaussian noise, nothing is certain but the worst.
        """
        found = dict.fromkeys(ORDERS, 0.0)
        for answer in self.stage.measured(curator):
            moved, event = self.stage.exact(self.stays, answer.query), answer.event
            for order in ORDERS:
                found[order] += (
                    of_gaussians(moved, event.sigma_squared, order)
                    if isinstance(event, GaussianEvent)
                    else np.inf
                )
        return found

    def squares(self, curator: Curator) -> IntArray:
        """Returns mean squares of the noise of each question, in thousandths of the variance.

        One run has a column for each question.
        """
        found = [
            float(np.mean(self.unknown(answer).astype(np.float64) ** 2))
            / self._variance[answer.query.name]
            for answer in self.stage.measured(curator)
        ]
        return in_thousandths([found])

    @cached_property
    def _paid(self) -> dict[str, Fraction]:
        """The noise that a plan pays for, whatever the audited mechanism says that it does."""
        any_bound = Bound(cells=1, each=1, total=1)
        events = self.stage.made().events(self.stage.universe, any_bound)
        return {
            event.query: event.sigma_squared for event in events if isinstance(event, GaussianEvent)
        }

    @cached_property
    def _variance(self) -> dict[str, float]:
        return {name: gaussian(squared).variance for name, squared in self._paid.items()}


@lru_cache(maxsize=1)
def _known(stage: DensityStage) -> Known:
    return Known(stage, others=_CROWD, stays=_VISITOR)


def _each_moves_by_its_share(on: Staged) -> JointShiftCheck:
    """Claims that each question moves by its share of rho, and all together by sqrt(2 rho)."""
    whole, questions = most_of_gaussian(on.rho), len(_QUESTIONS)
    return JointShiftCheck(
        **on.terms,
        statistics=(*(f"the evidence of the {one}" for one in _QUESTIONS), on.case.statistic),
        worlds=on.worlds,
        most=(*((whole / math.sqrt(questions),) * questions), whole),
    )


def _diverges_by_rho(on: Staged) -> DivergenceCheck:
    """Claims that the exact laws of all answers, as each states it, diverge as rho allows."""
    known, scene = Known(on.stage, others=_CROWD, stays=_VISITOR), on.case.one
    return DivergenceCheck(
        **on.terms, rho=on.rho, release=lambda: known.divergence(on.stage.opened(scene))
    )


def _as_wide_as_charged(on: Staged) -> "SpreadCheck":
    """Claims that the noise of each question is as wide as was charged for."""
    return SpreadCheck(
        **on.terms,
        statistics=tuple(f"the noise of the {question}" for question in _QUESTIONS),
        sample=on.sample,
    )


def _resident(stage: DensityStage, curator: Curator) -> IntArray:
    """Returns the evidence of histogram and series for a person in the second cell."""
    total = np.zeros(stage.district.corners)
    for answer in stage.measured(curator):
        cells = answer.query.cells
        if isinstance(cells, SiteHistogram):
            there = answer.values.reshape(-1, SITES)[:, LONE_SITES[1]]
            total += evidence(there, answer.event, PERSON_PARTS)
        elif isinstance(cells, ClusterSeries):
            series = stage.district.series_by_corner(answer.values)[:, 1]
            visits = series[:, : stage.limits.max_visits].sum(axis=1)
            total += evidence(visits, answer.event, cells.quanta)
    return in_thousandths(total)


def _second_area(stage: DensityStage, curator: Curator) -> IntArray:
    return np.rint([100 * stage.table(curator).counts[1].sum()]).astype(np.int64)


def _clusters(query: AnyQuery | CutQuery) -> IntArray:
    assert isinstance(query.cells, ClusterSeries)  # noqa: S101  the last question
    return query.cells.cluster


def merged(stage: DensityStage, curator: Curator) -> IntArray:
    """Returns which cells a release merges, as one number."""
    cluster = _clusters(stage.measured(curator)[-1].query)
    return np.array([cluster @ len(cluster) ** np.arange(len(cluster))], dtype=np.int64)


def other_clusters(stage: DensityStage, curator: Curator) -> IntArray:
    """Returns how many cells of each corner are in another cluster.

    That is asked about if the noisy totals are the same, and nobody is there.
    """
    answers = stage.measured(curator)
    again = Replayed(stage.opened(()), answers)
    stage.mechanism.measure(again, stage.universe)
    one, other = (_clusters(query) for query in (answers[-1].query, again.asked[-1][0]))
    differences: IntArray = (one != other).reshape(-1, CELLS).sum(axis=1)
    return differences


# A person in the answers of a release. The others are known, and taken away.
ALL_QUESTIONS = Case(
    "all questions, and each of them: one person fits rho",
    "the evidence of activity, histogram, total, clusters and series",
    stage=_even,
    look=lambda stage, curator: _known(stage).evidence(curator),
    one=_CROWD + _VISITOR,
    other=_CROWD,
    words=OTHERS,
    claim=_each_moves_by_its_share,
    effort=_RARELY,
)
EXACT_DIVERGENCE = Case(
    "all questions together: the exact divergence fits rho",
    "what all questions say of a person",
    stage=_even,
    look=ALL_QUESTIONS.look,
    one=_CROWD + _VISITOR,
    claim=_diverges_by_rho,
)
# What is left of each answer if all people are known.
NOISE_OF_QUESTIONS = Case(
    "each question: noise that fits its share of rho",
    "the noise of each question",
    stage=_even,
    look=lambda stage, curator: _known(stage).squares(curator),
    one=_CROWD,
    claim=_as_wide_as_charged,
    effort=_RARELY,
)
# Together they move by sqrt(2 rho).
PEOPLE_AND_SERIES = Case(
    "histogram and series together: one person fits rho",
    "the evidence of both",
    stage=partial(_small, corners=1000, bins=4, make=partial(_planned, shares=_HALVES)),
    look=_resident,
    one=_VISITOR,
    claim=Shifts(tight=True),
)
_ELSEWHERE = tuple(stay for stay in _CROWD if stay.site != LONE_SITES[1])
PUBLISHED_AREA = Case(
    "published: the only visitor of an area or nobody",
    "its visits over all periods, in hundredths,",
    stage=_small,
    look=_second_area,
    one=_ELSEWHERE + _VISITOR,
    other=_ELSEWHERE,
    words=OTHERS,
    effort=_RARELY,
)
# One more person among twenty: which cells are merged.
PUBLISHED_CLUSTERS = Case(
    "published: clusters with one more person",
    "the clusters of all cells, as a number,",
    stage=_small,
    look=merged,
    one=_CROWD + _VISITOR,
    other=_CROWD,
    words=OTHERS,
    effort=_RARELY,
)
NEXT_CLUSTERS = Case(
    "clusters: the same noisy totals, the same clusters",
    "cells of a corner in other clusters, with people and without",
    stage=partial(_small, corners=50),
    look=other_clusters,
    one=_crowd(20),
    claim=never_differs,
    effort=_SELDOM,
)
# Four of the events count.
MANY_BATCHES = Case(
    "files: 72 events of one person in many batches fit rho",
    "the sum over all periods of the first cell",
    stage=partial(staged, corners=1000, bins=24, most=4, in_files=True),
    look=over_bins(24),
    one=tuple(Stay(site=0, bin=when, times=3) for when in range(24)),
    claim=Shifts(),
    effort=_BRIEF,
)
# A visit in every bin of every week of a typical week: four may count over all weeks.
MANY_WEEKS = Case(
    "files: four weeks of one person, laid over each other, fit rho",
    "the sum over all periods of the first cell",
    stage=partial(staged, corners=500, bins=4, days=28, cycle="week", most=4, in_files=True),
    look=over_bins(28),
    one=tuple(Stay(site=0, bin=when) for when in range(28)),
    claim=Shifts(),
    effort=_BRIEF,
)

# The square of a normal number varies by the root of 2, and the mean of several by less. 8 standard
# errors leave room for the normal law to be wrong by a factor of a million before 1e-9.
_SLACK = 8 * math.sqrt(2)


@dataclass(frozen=True, kw_only=True)
class SpreadCheck(Check):
    """The claim that the noise of several questions is as wide as was charged for, no less or more.

    Attributes:
        statistics: What has the variance; a run has a column for each.
        sample: Returns mean squares, in thousandths of the variance charged for, one row a run.
    """

    statistics: tuple[str, ...]
    sample: Sampler

    def examine(self, runs: int) -> Finding:
        """Compares each mean with 1, and tells the one that is furthest from it."""
        runs = enough(runs, self.effort)
        means = self.sample(runs).mean(axis=0) / 1000
        worst = int(abs(means - 1).argmax())
        slack = _SLACK / math.sqrt(runs)
        return self.finding(
            runs,
            event=(
                f"{self.statistics[worst]} has {means[worst]:.4f} times the variance that was "
                "charged for"
            ),
            passed=bool(abs(means[worst] - 1) <= slack),
            reason=f"Chance explains {1 - slack:.3f} to {1 + slack:.3f}.",
        )


# Numbers of parts that thirds divide badly, and one that cannot be divided at all.
_QUANTA = (1024, 1000, 7, 1)


def parts_missing(stage: DensityStage, site: int, quanta: int) -> IntArray:
    """Returns by how many parts one visit moves all cells of a corner, less those of a visit."""
    universe = stage.universe
    corner = np.arange(stage.district.corners, dtype=np.int64)
    rows = {"person": corner, "site": corner * SITES + site, "bin": corner % universe.bins}
    cells = ClusterSeries(universe=universe, cluster=stage.district.every_cell, quanta=quanta)
    counter = stage.product.counter(rows, stage, os_source())
    exact = counter.count(Query(name=cells.name, cells=cells))
    moved = np.zeros(len(corner), dtype=np.int64)
    np.add.at(moved, exact.cells // (CELLS * universe.bins), np.abs(exact.values))
    return moved - quanta


@dataclass(frozen=True, kw_only=True)
class _Counting(DensityStage):
    """A stage where nothing is released: visits at all sites are counted over and over again."""

    def sampler(self, _scene: Stays, _look: Look) -> Sampler:
        """Returns the parts missing of visits at every site."""
        every = [(site, quanta) for site in range(SITES) for quanta in _QUANTA]
        return lambda runs: np.resize(
            np.concatenate([parts_missing(self, *one) for one in every]), runs
        )


def _counting(product: Product, epsilon: Fraction) -> _Counting:
    stage = _small(product, epsilon, corners=50)
    return _Counting(
        product=product, spend=stage.spend, district=stage.district, limits=stage.limits
    )


ONE_VISIT_IS_ONE = Case(
    "cover: a visit is one visit, at every site",
    "visits at sites of all kinds whose parts do not sum to one visit",
    stage=_counting,
    look=merged,
    claim=never_differs,
)

AUDITS = cases_of(globals())
