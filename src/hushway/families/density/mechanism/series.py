"""A density by noisy series of clusters: the KDD 2014 system with a guarantee that holds.

Acs and Castelluccia (KDD 2014) publish the hourly counts of a city's areas from call records. The
order of steps is theirs: bound, cover, cluster, perturb, compress, scale. What differs: every piece
of a visit goes to one cell of the cover, the noise is exact and covers all that a person can do to
all clusters together, and how much of a series is kept is told from its noisy values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, get_args

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.families.density.fit.clusters import clusters_of
from hushway.families.density.fit.table import Denoise, DensityTable, fit_density
from hushway.families.density.mechanism.recommended import (
    Shares,
    Spends,
    recommended_cluster_error,
    recommended_shares,
    spends_of,
)
from hushway.families.density.public.visits import (
    PERSON_PARTS,
    ActivityHistogram,
    ClusterSeries,
    ClusterTotals,
    DensityUniverse,
    LeftOutVisits,
    SiteHistogram,
    VisitCells,
    VisitLimits,
    VisitTotal,
)
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, cutting_event, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import CutQuery, Query, noise_of
from hushway.release.mechanism import Forecast, Measurements
from hushway.release.others import OtherStep, answers_of, learnt_words, stated_others
from hushway.release.terms import amounts_of

QUANTA: Final = 1 << 10
CUTS: Final = "coefficients of each cluster"

_TOTAL_QUANTA: Final = 1 << 6

_WORDS: Final = {
    "patterns": "Each noisy series is replaced by its expectation under what all noisy series have "
    "in common: the city's shape, shared patterns, and a memory of some hours.",
    "sure": "Of each noisy series only the first cosines are kept, as many as an unbiased estimate "
    "of the error from the noisy series recommends.",
    "cuts": "Of each noisy series only the first cosines are kept, as many as the exponential "
    "mechanism chose.",
    "none": "The noisy series are taken as they are.",
}


@dataclass(frozen=True, kw_only=True)
class DensitySeries:
    """Publishes visits of every area and bin, with standard errors.

    Attributes:
        limits: How much of one person counts; the engine must enforce the same.
        spends: What each question costs; which are asked decides on scaling and clustering.
        night: Whether the small counts of the night are replaced by exponential curves.
        cluster_error: Cells are merged until the noise in a series is at most this share of its
            total, if clusters are made at all; None to tell it from noisy totals.
        quanta: Parts that a visit is cut into.
        by_circle: Whether people by site are told apart by how busy they are, if that is asked.
        others: Other steps of the series that the fit learns from.
    """

    limits: VisitLimits
    spends: Spends
    denoise: Denoise = "patterns"
    night: bool = False
    cluster_error: float | None = None
    quanta: int = QUANTA
    by_circle: bool = True
    others: tuple[OtherStep, ...] = ()
    name: str = "series"

    # How many clusters there are depends on noisy totals.
    adaptive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        error = self.cluster_error
        if self.denoise not in get_args(Denoise) or not (error is None or 0 < error < 1):
            raise PrivacyError(
                "There is no such way to clean a series, or the cluster error is not a share.",
                advice=f"Choose one of {', '.join(get_args(Denoise))}, and an error such as 0.05.",
            )
        if (self.denoise == "cuts") != (self.spends.cuts is not None):
            raise PrivacyError(
                "Cuts by the exponential mechanism need a share of the budget, and nothing else "
                "does.",
                advice='Give cuts a share with denoise = "cuts", and none otherwise.',
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "noise": self.spends.series.measure.noise,
            "max_visits": self.limits.max_visits,
            "max_visits_in_total": self.limits.max_visits_in_total,
            "one_in_a_period": self.limits.one_in_a_bin,
            "spends": amounts_of(self.spends),
            "quanta": self.quanta,
            "clustering": self.spends.clusters is not None,
            "cluster_error": self.cluster_error,
            "scaling": self.spends.total is not None,
            "denoise": self.denoise,
            "night": self.night,
            **stated_others(self.others),
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price."""
        return self.spends.losses

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        words = [_WORDS[self.denoise]]
        if self.spends.clusters is not None:
            words.insert(0, "Cells with a small noisy total were merged with their neighbours.")
        if self.spends.total is not None:
            words.append(
                "Series are scaled to noisy totals from visitors by site and from the number of "
                "all visits."
            )
        if self.spends.left_out is not None:
            words.append(
                "Visits that the series leaves out were added by noisy sums of them, by period of "
                "the day."
            )
        if self.night:
            words.append("The small counts of the night are replaced by exponential curves.")
        words.append(
            "Series are moved to the nearest ones without negative counts that keep their totals, "
            "and shared among areas by the size of the ground."
        )
        first, *rest = words
        return first, *learnt_words(self.others), *rest

    def events(self, geography: DensityUniverse, _bound: Bound) -> tuple[Event, ...]:
        """What `measure` will do; with clusters, the series will have fewer cells."""
        return tuple(
            self._event(query, spend)
            for query, spend in self._questions(geography, _every_cell(geography))
        )

    def queries(
        self, geography: DensityUniverse, cluster: IntArray | None = None
    ) -> tuple[Query | CutQuery, ...]:
        """What is asked, for some clusters; without them, as if every cell were one."""
        clusters = _every_cell(geography) if cluster is None else cluster
        return tuple(query for query, _ in self._questions(geography, clusters))

    @property
    def circles(self) -> int:
        """Into how many circles people by site are told apart."""
        apart = self.by_circle and self.spends.activity is not None
        return self.limits.circles if apart else 1

    def bound(self, cells: VisitCells) -> Bound:
        """Returns how far one person moves an answer, as the limits have it."""
        return Bound(**cells.reach(self.limits)._asdict())

    def forecast(self, geography: DensityUniverse, _bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise in what is measured; what is published carries less."""
        series = self.series(geography, _every_cell(geography))
        sigma = self._sigma(series)
        found = [
            Forecast(
                figure="visits of a cluster in a period, before cleaning",
                standard_error=sigma,
                bias=0.0,
            ),
            Forecast(
                figure="visits of a cluster over the window",
                standard_error=sigma * math.sqrt(geography.bins),
                bias=0.0,
            ),
        ]
        others: list[tuple[str, VisitCells, Loss | None]] = [
            ("visitors of a site", self._histogram(geography), self.spends.histogram),
            ("visitors as busy as each other", self._activity(geography), self.spends.activity),
            ("all visits", self._total(geography), self.spends.total),
            ("visits left out, by period of the day", self._left(geography), self.spends.left_out),
        ]
        for figure, cells, spend in others:
            if spend is not None:
                parts = PERSON_PARTS if isinstance(cells, SiteHistogram) else 1
                error = math.sqrt(noise_for(spend, self.bound(cells)).variance) / parts
                found.append(Forecast(figure=figure, standard_error=error, bias=0.0))
        return tuple(found)

    def measure(self, curator: Curator, geography: DensityUniverse) -> Measurements:
        """Asks for totals first, makes clusters of them, then asks for the series.

        Privacy:
            The only step that spends. Clusters follow from noisy totals and public ground.
        """
        asked = self.before_clusters(geography)
        return self.measured_after([], asked, curator, geography)

    def measured_after(
        self,
        answers: Sequence[Measured],
        asked: Sequence[tuple[Query, Loss]],
        curator: Curator,
        geography: DensityUniverse,
    ) -> Measurements:
        """Goes on with the questions that have no answer yet, and then with clusters."""
        measured = [*answers, *(curator.counts(query, spend) for query, spend in asked)]
        cluster = _every_cell(geography)
        if self.spends.clusters is not None:
            cluster = self._clusters(measured, geography)
        for query, spend in self._of_clusters(geography, cluster):
            measured.append(
                curator.cuts(query, spend)
                if isinstance(query, CutQuery)
                else curator.counts(query, spend)
            )
        return measured

    def fit(self, measured: Measurements, geography: DensityUniverse) -> DensityTable:
        """Cleans the series, scales them and shares them among areas."""
        return fit_density(
            measured,
            geography,
            self.limits,
            denoise=self.denoise,
            night=self.night,
            steps=list(answers_of(self.others, geography)),
        )

    def series(self, geography: DensityUniverse, cluster: IntArray) -> ClusterSeries:
        """Returns the cells of the series of some clusters."""
        return ClusterSeries(
            universe=geography, cluster=cluster, quanta=self.quanta, limits=self.limits
        )

    def _questions(
        self, geography: DensityUniverse, cluster: IntArray
    ) -> list[tuple[Query | CutQuery, Loss]]:
        """Returns what is asked, in order."""
        return [*self.before_clusters(geography), *self._of_clusters(geography, cluster)]

    def before_clusters(self, geography: DensityUniverse) -> list[tuple[Query, Loss]]:
        """Returns what is asked before clusters are made."""
        asked: list[tuple[VisitCells, Loss | None]] = [
            (self._activity(geography), self.spends.activity),
            (self._histogram(geography), self.spends.histogram),
            (self._total(geography), self.spends.total),
            (self._left(geography), self.spends.left_out),
            (self._totals(geography), self.spends.clusters),
        ]
        return [
            (Query(name=cells.name, cells=cells), spend)
            for cells, spend in asked
            if spend is not None
        ]

    def _of_clusters(
        self, geography: DensityUniverse, cluster: IntArray
    ) -> list[tuple[Query | CutQuery, Loss]]:
        """Returns what is asked about clusters: where to cut their series, and the series."""
        cells = self.series(geography, cluster)
        series = Query(name=cells.name, cells=cells)
        if self.spends.cuts is None:
            return [(series, self.spends.series)]
        sigma_squared = noise_for(self.spends.series, self.bound(cells)).variance
        cuts = CutQuery(
            name=CUTS, base=series, length=geography.bins, noise=noise_of(sigma_squared)
        )
        return [(cuts, self.spends.cuts), (series, self.spends.series)]

    def _event(self, query: Query | CutQuery, spend: Loss) -> Event:
        cells = query.cells
        assert isinstance(cells, VisitCells)  # noqa: S101  all questions are about visits
        describe = cutting_event if isinstance(query, CutQuery) else counting_event
        return describe(query.name, cells.size, spend, self.bound(cells))

    def _histogram(self, geography: DensityUniverse) -> SiteHistogram:
        return SiteHistogram(universe=geography, circles=self.circles, limits=self.limits)

    def _total(self, geography: DensityUniverse) -> VisitTotal:
        return VisitTotal(universe=geography, limits=self.limits)

    def _left(self, geography: DensityUniverse) -> LeftOutVisits:
        return LeftOutVisits(universe=geography, limits=self.limits)

    def _activity(self, geography: DensityUniverse) -> ActivityHistogram:
        return ActivityHistogram(universe=geography, classes=len(self.limits.activity))

    def _totals(self, geography: DensityUniverse) -> ClusterTotals:
        """Returns the totals that clusters are made by.

        With a histogram of sites one number is missing, how many visits the series holds in all;
        without one the total of every cell is.
        """
        cells = _every_cell(geography)
        if self.spends.histogram is not None:
            return ClusterTotals(
                universe=geography, cluster=np.zeros_like(cells), quanta=1, limits=self.limits
            )
        # A total moves by all visits of a person, so fewer parts keep the noise within its tables.
        quanta = min(self.quanta, _TOTAL_QUANTA)
        return ClusterTotals(universe=geography, cluster=cells, quanta=quanta, limits=self.limits)

    def _sigma(self, cells: ClusterSeries) -> float:
        """Returns the standard deviation of the noise in a series, in visits."""
        return math.sqrt(noise_for(self.spends.series, self.bound(cells)).variance) / self.quanta

    def _clusters(self, measured: list[Measured], geography: DensityUniverse) -> IntArray:
        sigma = self._sigma(self.series(geography, _every_cell(geography)))
        noise = math.sqrt(geography.bins) * sigma
        return clusters_of(measured, geography, self.limits, noise, self.cluster_error)


def _every_cell(geography: DensityUniverse) -> IntArray:
    """Returns clusters of one cell of the cover each."""
    return np.arange(len(geography.cover), dtype=np.int64)


def density_series(  # noqa: PLR0913  one argument for each public choice
    limits: VisitLimits,
    *,
    budget: Loss,
    shares: Shares | None = None,
    denoise: Denoise = "patterns",
    clustering: bool = True,
    scaling: bool = True,
    night: bool = False,
    cluster_error: float | None = None,
) -> DensitySeries:
    """Returns a density by noisy series; without shares, the recommended ones.

    Privacy:
        All questions together cost exactly `budget`.

    Args:
        budget: What the release may cost; its currency decides on the noise.
        shares: The share of each question; those of questions that are not asked must be 0.
        night: Whether the night is replaced by exponential curves.
        cluster_error: Noise that a cluster's series may have, as a share of its total; without it,
            as recommended.
    """
    usual = recommended_shares(
        limits, scaling=scaling, clustering=clustering, cuts=denoise == "cuts"
    )
    return DensitySeries(
        limits=limits,
        spends=spends_of(budget, usual if shares is None else shares),
        denoise=denoise,
        night=night,
        cluster_error=recommended_cluster_error(denoise)
        if cluster_error is None
        else cluster_error,
    )


def naive_laplace(limits: VisitLimits, *, budget: Loss) -> DensitySeries:
    """Returns the naive baseline: noise on every count, and nothing done about it."""
    return density_series(limits, budget=budget, denoise="none", clustering=False, scaling=False)
