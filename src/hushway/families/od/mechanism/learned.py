"""Tables that learn: cells and sums are measured, and the best estimate they allow is published.

1. Measure every cell, and public sums: trips by origin, by destination and by what the plan names.
2. Expect: learn each family of sums, and fit cells to all of them (`fit.expectation`).
3. Learn: how far counts stray from what is expected, and from there the posterior of every count
   under the exact law of its noise (`fit.learning`).
4. Join: bring cells and measured sums together, each as certain as it is (`fit.joining`).
5. Round: whole counts whose sums stay where they are (`fit.rounding`).

Only the first step costs budget. With little of it the cells say nothing of their own; then steps 2
to 4 give what the sums imply, and `cells_tell` among the diagnostics says so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array
from hushway.errors import PrivacyError
from hushway.families.od.fit.expectation import NoisySums, expectation
from hushway.families.od.fit.joining import Joined, MeasuredSums, join
from hushway.families.od.fit.learning import Posterior, learn
from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.rounding import RoundedTotals, round_totals
from hushway.families.od.mechanism.measuring import (
    check_measurable,
    noise_forecasts,
    planned_questions,
)
from hushway.families.od.mechanism.partitions import elements_of, partition_of
from hushway.families.od.mechanism.table import Estimates, MarginTable, ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.families.od.public.pair_labels import pairs_of_matrix
from hushway.geography.locations import Locations
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import MOST_DENSE_CELLS
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.release.mechanism import FixedQuestions, Forecast, Measurements, Question

LEARNED: Final = "learned"
# A posterior of every cell is held in memory: about a hundred bytes for each.
MOST_LEARNED: Final = MOST_DENSE_CELLS // 8
# Pairs of places share a factor with this many classes of about the same distance.
_DISTANCES: Final = 16
# Errors of sums are learnt for this many classes of their size.
_SIZES: Final = 8
# Variance of a squared draw over the squared variance: 5 for Laplace noise, 2 for Gaussian.
_KURTOSIS: Final = 5.0
# Cells are listed with their estimates until these make up this share of all trips.
_LISTED: Final = 0.99
# A cell gives way to sums as far as its posterior allows, but the less the more of its value comes
# from its own measurement: what sums are missing was not seen, so it is elsewhere.
_FIRM: Final = 4.0
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
    """

    universe: ODCells
    features: tuple[Feature, ...]
    spends: tuple[Loss, ...]
    name: str = LEARNED

    def __post_init__(self) -> None:
        check_measurable(self.universe, self.features, self.spends)
        if not self.features:
            raise PrivacyError(
                "Nothing can be learnt without sums, and there are none.",
                advice='Use mechanism "laplace", or give more locations or periods.',
            )
        if self.universe.size > MOST_LEARNED:
            raise PrivacyError(
                f"A table of {self.universe.size:,} cells is too large to be learnt; the most is "
                f"{MOST_LEARNED:,}.",
                advice='Use mechanism "cbdp", longer periods or fewer locations.',
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "noise": self.spends[0].measure.noise,
            "features": [
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

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Learns, joins and rounds."""
        cells, *sums = (one for one in measured if isinstance(one, Measured))
        shape = (len(geography.periods), geography.pairs)
        values, law = cells.values.reshape(shape), _law(cells)
        partitions = [partition_of(feature) for feature in self.features]
        expected = expectation(
            [
                NoisySums(partition=partition, values=one.values, law=_law(one))
                for partition, one in zip(partitions, sums, strict=True)
            ],
            values,
            law,
            distance_classes(geography),
        )
        posterior = learn(values, expected, law)
        looks = [
            _Look.at(partition, posterior, one)
            for partition, one in zip(partitions, sums, strict=True)
        ]
        joined = join(
            posterior.mean,
            posterior.variance / (1 + _FIRM * posterior.variance / float(law.variance)),
            [look.measured for look in looks],
        )
        rounded = round_totals(joined.values.ravel(), [elements_of(part) for part in partitions])
        return self._table(sums, looks, posterior, joined, rounded)

    def _table(
        self,
        sums: Sequence[Measured],
        looks: Sequence["_Look"],
        posterior: Posterior,
        joined: Joined,
        rounded: RoundedTotals,
    ) -> ODTable:
        kept = np.flatnonzero(rounded.totals)
        counts = rounded.totals[kept]
        off = counts - joined.values.ravel()[kept]
        finest = max(looks, key=lambda look: look.measured.partition.size)
        return ODTable(
            universe=self.universe,
            cells=kept,
            counts=counts,
            standard_errors=_told_errors(posterior.variance.ravel()[kept] + off**2),
            threshold=None,
            zeros_left_out=True,
            margins=tuple(
                MarginTable(
                    feature=feature,
                    measured=one.values,
                    standard_error=math.sqrt(one.variance),
                    fitted=np.round(fitted, _DIGITS_OF_SUMS),
                    errors=look.errors,
                )
                for feature, one, look, fitted in zip(
                    self.features, sums, looks, joined.totals, strict=True
                )
            ),
            sum_spread=finest.spread,
            estimates=_estimates(joined, posterior),
            diagnostics={
                "distance_to_optimum_at_most": _rounded_up(joined.bound),
                "newton_steps": joined.steps,
                "every_sum_rounded_up_or_down": rounded.exact,
                "cells_tell": _told(posterior),
                "sum_spread": finest.spread,
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


def _law(measured: Measured) -> NoiseLaw:
    return noise_for(measured.event.loss, measured.event.bound)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Look:
    """What a family of measured sums says about the estimates of its cells.

    Errors of cells have something in common that their own variances do not show. How much shows
    where sums were measured: there the estimates can be compared with something.

    Attributes:
        measured: The sums as the cells are to be brought together with them: the more the errors of
            cells have in common, the less do the cells resist.
        spread: By how much more sums vary than their cells do.
        errors: The standard error of every sum once both are together.
    """

    measured: MeasuredSums
    spread: float
    errors: FloatArray

    @staticmethod
    def at(partition: Partition, posterior: Posterior, measured: Measured) -> "_Look":
        noise = max(float(measured.variance), 1e-12)
        own = partition.sums(posterior.variance)
        missed = measured.values - partition.sums(posterior.mean)
        spread = max(1.0, float(np.sum(missed**2 - noise)) / max(float(own.sum()), 1e-12))
        varied = _by_size(missed, own, noise)
        certain = 1 / np.maximum(varied, 1e-12) + 1 / noise
        return _Look(
            measured=MeasuredSums(
                partition=partition, counts=measured.values, variance=noise / spread
            ),
            spread=round(max(1.0, float(varied.sum()) / max(float(own.sum()), 1e-12)), _DIGITS),
            # A sum of whole counts may be off by almost one more.
            errors=_told_errors(1 / certain + 1 / 3),
        )


def _by_size(missed: FloatArray, own: FloatArray, noise: float) -> FloatArray:
    """Returns the variance of every sum before it was measured, likewise, by classes of size.

    What noise hides is counted with it: one standard deviation of what a class can show.
    """
    varied = np.empty_like(own)
    for some in np.array_split(np.argsort(own, kind="stable"), min(_SIZES, len(own))):
        hidden = noise * math.sqrt(_KURTOSIS * len(some))
        seen = max(float(np.sum(missed[some] ** 2 - noise)), 0.0) + hidden
        varied[some] = own[some] * max(1.0, seen / max(float(own[some].sum()), 1e-12))
    return varied


def _estimates(joined: Joined, posterior: Posterior) -> Estimates:
    """Returns the estimates of the cells that hold nearly all trips."""
    values = joined.values.ravel()
    largest = np.sort(values)[::-1]
    held = np.cumsum(largest)
    enough = int(np.searchsorted(held, _LISTED * held[-1])) + 1
    least = largest[enough - 1]
    larger = np.flatnonzero(values > least)
    as_large = np.flatnonzero(values == least)[: enough - len(larger)]
    cells = np.sort(np.concatenate([larger, as_large]))
    return Estimates(
        cells=cells,
        means=np.round(values[cells], 6),
        standard_errors=_told_errors(posterior.variance.ravel()[cells]),
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


def _told(posterior: Posterior) -> float:
    """Returns which share of what was uncertain the cells' own measurements made certain."""
    left = float(posterior.variance.sum()) / max(posterior.prior_variance, 1e-12)
    return round(min(1.0, max(0.0, 1 - left)), 4)
