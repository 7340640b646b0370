"""Tables that learn: cells and sums are measured, and the best estimate they allow is published.

1. Measure every cell, and public sums: trips by origin, by destination and by what the plan names.
2. Expect: learn each family of sums, and fit cells to all of them (`fit.expectation`).
3. Learn: how far counts stray from what is expected, and from there the posterior of every count
   under the exact law of its noise (`fit.learning`).
4. Join: bring cells and measured sums together, each as certain as it is (`fit.joining`).
5. Round: whole counts whose sums stay where they are (`fit.rounding`).

Only the first step costs budget. With little of it the cells say nothing of their own; then steps 2
to 4 give what the sums imply, and `trips_in_known_cells` among the diagnostics says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array
from hushway.errors import PrivacyError
from hushway.families.od.fit.learning.expectation import NoisySums, expectation
from hushway.families.od.fit.learning.learn import learn
from hushway.families.od.fit.learning.looking import Look, SumsOfCells, firm
from hushway.families.od.fit.reconciling.joining import MeasuredSums, join
from hushway.families.od.fit.rounding.controlled import round_totals
from hushway.families.od.fit.table import Estimates, MarginTable, ODTable, known_share
from hushway.families.od.mechanism.learned_lazily import (
    EXPECTED_FALSE,
    LearntCells,
    Looked,
    check_learnable,
    learn_lazily,
)
from hushway.families.od.mechanism.measuring import (
    cells_query,
    check_measurable,
    measure_features,
    noise_forecasts,
    planned_questions,
)
from hushway.families.od.mechanism.partitions import elements_of, partition_of
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature, pairs_of_matrix
from hushway.geography.locations import Locations
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import MOST_DENSE_CELLS, Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.forecast import threshold_for
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.release.mechanism import FixedQuestions, Forecast, Measurements, Question

LEARNED: Final = "learned"
# A posterior of every cell is held in memory: up to 230 bytes for each while counts are made whole.
MOST_LEARNED: Final = MOST_DENSE_CELLS // 8
# Pairs of places share a factor with this many classes of about the same distance.
_DISTANCES: Final = 16
# Cells are listed with their estimates until these make up this share of all trips.
_LISTED: Final = 0.99
# Learnt figures are told with so many decimals: the last digits of floats tell one machine from
# another and nothing about trips.
_DIGITS: Final = 3
_DIGITS_OF_SUMS: Final = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned(FixedQuestions[ODCells]):
    """Publishes the best estimate that noisy cells and noisy sums allow.

    Attributes:
        universe: The public cells.
        features: The sums; the cells are always measured.
        spends: What each feature costs, in order, and what the cells cost, last.
        lazy: Whether only cells are looked at that stand out; a huge table has to be.
    """

    universe: ODCells
    features: tuple[Feature, ...]
    spends: tuple[Loss, ...]
    lazy: bool = False
    name: str = LEARNED

    def __post_init__(self) -> None:
        check_measurable(self.universe, self.features, self.spends)
        if not self.features:
            raise PrivacyError(
                "Nothing can be learnt without sums, and there are none.",
                advice='Use mechanism "laplace", or give more places or periods.',
            )
        if self.universe.size > MOST_LEARNED and not self.lazy:
            raise PrivacyError(
                f"A table of {self.universe.size:,} cells is too large to look at every one; the "
                f"most is {MOST_LEARNED:,}.",
                advice="Use the lazy form.",
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "form": "lazy" if self.lazy else "dense",
            "noise": self.spends[0].measure.noise,
            "published_totals": [
                {"title": f.title, "elements": f.size, "digest": f.digest} for f in self.features
            ],
            "spends": [str(spend.amount) for spend in self.spends],
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price, in the order of measuring: the cells, then the features."""
        *margins, last = self.spends
        return (last, *margins)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        learnt = (
            "What to expect of every cell, and how far counts stray from it, was learnt from the "
            "noisy counts; the published table is the posterior mean of every count, brought "
            "together with all noisy sums."
        )
        whole = (
            "Counts are made whole so that every sum keeps its fitted value, up or down by less "
            "than 1 where that is possible."
        )
        return learnt, whole, "A cell without a row is published as 0."

    def questions(self, geography: ODCells) -> tuple[Question, ...]:
        """What is asked, the cells first."""
        return planned_questions(geography, self.features, self.spends)

    def forecast(self, geography: ODCells, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise of each measurement; what is learnt makes errors smaller."""
        return noise_forecasts(geography, self.features, self.spends, bound)

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures every cell, then every feature.

        Privacy:
            Spends `spends`, one on each; a unit moves each by no more than the counter's bound.
        """
        if not self.lazy:
            return super().measure(curator, geography)
        check_learnable(self.features)
        *margins, last = self.spends
        query = cells_query(geography)
        law = noise_for(last, curator.bound(query))
        threshold = threshold_for(law, geography.size, EXPECTED_FALSE)
        cells = curator.counts_above(query, threshold, last)
        return (cells, *measure_features(curator, self.features, margins))

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Learns, joins and rounds."""
        cells, *others = measured
        sums = [one for one in others if isinstance(one, Measured)]
        if isinstance(cells, MeasuredSparse):
            return self._table(sums, self._learnt_lazily(cells, sums))
        return self._table(sums, self._learnt(cells, sums, geography))

    def _learnt(self, cells: Measured, sums: Sequence[Measured], geography: ODCells) -> LearntCells:
        shape = (len(geography.periods), geography.pairs)
        values, law = cells.values.reshape(shape), _law(cells)
        noisy = self._noisy(sums)
        expected = expectation(noisy, values, law, distance_classes(geography))
        posterior = learn(values, expected, law)
        yielding = firm(posterior.variance, law)
        looks = [
            Look.at(
                noisy=one.values,
                noise=float(one.law.variance),
                cells=SumsOfCells(
                    estimates=one.partition.sums(posterior.mean),
                    variances=one.partition.sums(posterior.variance),
                    yielding=one.partition.sums(yielding),
                ),
            )
            for one in noisy
        ]
        joined = join(
            posterior.mean,
            yielding,
            [
                MeasuredSums(partition=one.partition, counts=one.values, variance=look.noise)
                for one, look in zip(noisy, looks, strict=True)
            ],
        )
        rounded = round_totals(joined.values.ravel(), [elements_of(one.partition) for one in noisy])
        return LearntCells(
            cells=np.arange(geography.size),
            means=joined.values.ravel(),
            variances=posterior.variance.ravel(),
            counts=rounded.totals,
            totals=joined.totals,
            looks=tuple(looks),
            diagnostics={
                "distance_to_optimum_at_most": _rounded_up(joined.bound),
                "newton_steps": joined.steps,
                "every_sum_rounded_up_or_down": rounded.exact,
            },
        )

    def _learnt_lazily(self, cells: MeasuredSparse, sums: Sequence[Measured]) -> LearntCells:
        shown = cells.reveal()
        threshold = 0 if cells.threshold is None else cells.threshold  # `measure` gives one
        looked = Looked(shown=shown, threshold=threshold, law=_law(cells))
        return learn_lazily(self.universe, self.features, self._noisy(sums), looked)

    def _noisy(self, sums: Sequence[Measured]) -> list[NoisySums]:
        return [
            NoisySums(partition=partition_of(feature), values=one.values, law=_law(one))
            for feature, one in zip(self.features, sums, strict=True)
        ]

    def _table(self, sums: Sequence[Measured], learnt: LearntCells) -> ODTable:
        kept = np.flatnonzero(learnt.counts)
        counts = learnt.counts[kept]
        off = counts - learnt.means[kept]
        # Sums of the finest feature are the most like any others.
        finest = max(learnt.looks, key=lambda look: len(look.variances))
        spread = round(finest.spread, _DIGITS)
        errors = _told_errors(learnt.variances[kept] + off**2)
        return ODTable(
            universe=self.universe,
            cells=learnt.cells[kept],
            counts=counts,
            standard_errors=errors,
            threshold=None,
            zeros_left_out=True,
            margins=tuple(
                MarginTable(
                    feature=feature,
                    measured=one.values,
                    standard_error=math.sqrt(one.variance),
                    fitted=np.round(fitted, _DIGITS_OF_SUMS),
                    errors=_told_errors(look.variances),
                )
                for feature, one, look, fitted in zip(
                    self.features, sums, learnt.looks, learnt.totals, strict=True
                )
            ),
            sum_spread=spread,
            estimates=_estimates(learnt),
            diagnostics={
                **learnt.diagnostics,
                "sum_spread": spread,
                "trips_in_known_cells": known_share(counts, errors),
            },
        )


def distance_classes(cells: ODCells) -> Int32Array:
    """Returns which pairs of places are at about the same distance: a public fact.

    The nearest pairs come first, as many in each class; a place and itself are a class of their
    own, and so are all pairs if no place says where it lies.
    """
    kilometres = pairs_of_matrix(cells, _distances(cells.locations))
    apart = kilometres > 0
    if not apart.any():
        return np.zeros(cells.pairs, dtype=np.int32)
    marks = np.quantile(kilometres[apart], np.arange(1, _DISTANCES) / _DISTANCES)
    classes = np.searchsorted(marks, kilometres) + 1
    return np.where(apart, classes, 0).astype(np.int32)


def _distances(places: Locations) -> FloatArray:
    """Returns the distances between all places in kilometres, as on a flat map."""
    lon = np.radians([place.lon for place in places.places])
    lat = np.radians([place.lat for place in places.places])
    # The shorter way round: longitudes jump where the calendar does.
    turn = (lon[None, :] - lon[:, None] + math.pi) % math.tau - math.pi
    east = turn * np.cos((lat[None, :] + lat[:, None]) / 2)
    return np.asarray(6371.0 * np.hypot(east, lat[None, :] - lat[:, None]))


def _law(measured: Measured | MeasuredSparse) -> NoiseLaw:
    return noise_for(measured.event.loss, measured.event.bound)


def _estimates(learnt: LearntCells) -> Estimates:
    """Returns the estimates of the cells that hold nearly all trips."""
    largest = np.sort(learnt.means)[::-1]
    held = np.cumsum(largest)
    enough = int(np.searchsorted(held, _LISTED * held[-1])) + 1
    least = largest[enough - 1]
    larger = np.flatnonzero(learnt.means > least)
    as_large = np.flatnonzero(learnt.means == least)[: enough - len(larger)]
    chosen = np.sort(np.concatenate([larger, as_large]))
    return Estimates(
        cells=learnt.cells[chosen],
        means=np.round(learnt.means[chosen], 6),
        standard_errors=_told_errors(learnt.variances[chosen]),
    )


def _told_errors(variances: FloatArray) -> FloatArray:
    """Returns standard errors with as many digits as mean something."""
    return np.asarray(np.round(np.sqrt(variances), _DIGITS))


def _rounded_up(bound: float) -> float:
    """Returns two digits of a bound, which stays one."""
    if bound == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(bound)) - 1)
    return float(f"{math.ceil(bound / unit) * unit:.1e}")
