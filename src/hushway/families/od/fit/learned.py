"""The table that learns, from noisy cells and sums to whole counts: all post-processing."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.families.od.fit.learned_lazily import LearntCells, Looked, learn_lazily
from hushway.families.od.fit.learning.empirical_bayes import Posterior, empirical_bayes
from hushway.families.od.fit.learning.prior import NoisySums, prior_mean, sum_variances
from hushway.families.od.fit.learning.series import (
    FADES,
    Expectation,
    NoisyStep,
    Pool,
    learn_from_steps,
)
from hushway.families.od.fit.learning.sum_errors import (
    SumErrors,
    SumsOfCells,
    random_effects,
    yielding_variance,
)
from hushway.families.od.fit.partitions import elements_of, partition_of
from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.fit.reconciliation.reconcile import MeasuredSums, reconcile
from hushway.families.od.fit.rounding.controlled import round_totals
from hushway.families.od.fit.table import Estimates, ODTable, known_share, margin_tables
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature, pairs_of_matrix
from hushway.geography.locations import Locations
from hushway.privacy.calibration import noise_for
from hushway.privacy.measured import Measured, MeasuredSparse
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.release.contribution.completion import (
    Completion,
    LeftOutSums,
    LeftOutTotal,
    added_up,
    completion_of,
)
from hushway.release.contribution.crowd import Crowd
from hushway.release.contribution.limits import Limits
from hushway.release.mechanism import Measurements

# Pairs of places share a factor with this many classes of about the same distance.
_DISTANCES: Final = 16
# Cells are listed with their estimates until these make up this share of all trips.
_LISTED: Final = 0.99
# Learnt figures are told with so many decimals: the last digits of floats tell one machine from
# another and nothing about trips.
_DIGITS: Final = 3
_DIGITS_OF_SUMS: Final = 6
_NOTHING: Final = 1e-9
# Below this, in trips, a distance to the optimum is rounding of floats, another on each processor.
_AS_GOOD_AS_EXACT: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """What a limit on trips has left out, as far as it was measured.

    Attributes:
        crowd: How many trips people make.
        limits: How many of a person count.
        sums: Noisy sums of trips beyond the limit: of all of them, then each over a feature.
    """

    crowd: Crowd
    limits: Limits
    sums: tuple[Measured, ...]

    def completion(self, learnt: LearntCells) -> Completion:
        """Returns what is missing from cells that were learnt."""
        sums = [
            LeftOutSums(
                element=_feature_of(one).of(learnt.cells),
                values=one.values.astype(np.float64),
                variance=float(one.variance),
            )
            for one in self.sums[1:]
        ]
        return completion_of(learnt.means, sums, self.crowd, self.limits, self._total)

    @property
    def _total(self) -> LeftOutTotal | None:
        if self.limits.whole is None:
            return None
        value, variance = float(self.sums[0].values[0]), float(self.sums[0].variance)
        return LeftOutTotal(value=value, variance=variance, limit=self.limits.whole)


def _feature_of(measured: Measured) -> Feature:
    feature = measured.query.cells
    assert isinstance(feature, Feature)  # noqa: S101  sums are asked over features
    return feature


def learned_table(
    universe: ODCells,
    features: Sequence[Feature],
    measured: Measurements,
    left: LeftOut | None = None,
    steps: Iterable[tuple[int, NoisyStep]] = (),
) -> ODTable:
    """Learns, reconciles, completes and rounds; the noisy cells come first in `measured`.

    Args:
        steps: Other steps of the series that help, and how many steps away each is.
    """
    cells, *others = measured
    sums = [one for one in others if isinstance(one, Measured)]
    noisy = [
        NoisySums(partition=partition_of(feature), values=one.values, law=noise_law(one))
        for feature, one in zip(features, sums, strict=True)
    ]
    if isinstance(cells, MeasuredSparse):
        threshold = 0 if cells.threshold is None else cells.threshold  # `measure` gives one
        looked = Looked(shown=cells.reveal(), threshold=threshold, law=noise_law(cells))
        learnt = learn_lazily(universe, features, noisy, looked)
    else:
        learnt = _learnt(cells, noisy, universe, _expected(noisy, universe, steps))
    if left is not None:
        learnt = completed(learnt, features, left)
    return _table(universe, features, sums, learnt)


def completed(learnt: LearntCells, features: Sequence[Feature], left: LeftOut) -> LearntCells:
    """Adds what the limit has left out, to cells and to sums."""
    completion = left.completion(learnt)
    counted = np.maximum(learnt.means, 0.0)
    means = counted + completion.added
    scale = _ratio(means, counted)
    elements = [feature.of(learnt.cells) for feature in features]
    variances = learnt.variances * scale**2 + completion.cell_variance()
    looks, totals = [], []
    for element, look, fitted in zip(elements, learnt.looks, learnt.totals, strict=True):
        size = len(fitted)
        whole = added_up(element, means, size)
        part = added_up(element, counted, size)
        grown = _scaled_up(look.variances, _ratio(whole, part) - 1, whole - part)
        looks.append(replace(look, variances=grown + completion.sum_variance(element, size)))
        totals.append(whole)
    # Sums of the finest feature are the most like any others.
    finest = max(range(len(totals)), key=lambda place: len(totals[place]))
    rounded = round_totals(means, [element.astype(np.int32) for element in elements])
    period = learnt.cells // features[0].universe.pairs
    return replace(
        learnt,
        means=means,
        variances=variances,
        counts=rounded.totals,
        totals=tuple(totals),
        looks=tuple(looks),
        effects=_grown_effects(learnt, variances, completion, elements[finest], period),
        diagnostics={
            **learnt.diagnostics,
            "every_sum_rounded_up_or_down": rounded.exact,
            "trips_added_beyond_the_limit": round(float(completion.added.sum())),
            "most_trips_in_cells": left.limits.cells,
            "most_trips_in_sums": left.limits.most,
        },
    )


def _ratio(whole: FloatArray, part: FloatArray) -> FloatArray:
    """Returns by how much completion scales estimates: not at all where nothing was counted."""
    return np.where(part > _NOTHING, whole / np.maximum(part, _NOTHING), 1.0)


def _scaled_up(variances: FloatArray, by: FloatArray, added: FloatArray) -> FloatArray:
    """Returns the variances of counted sums once each has grown by a part of itself.

    What is added to all of them is told by itself: of an error that they have in common nothing is
    added, so that the total has the error that its counted part had.
    """
    common = by * added / max(float(added.sum()), _NOTHING)
    alone = variances * ((1 + by) ** 2 - 2 * (1 + by) * common)
    return np.asarray(np.maximum(alone + common**2 * variances.sum(), variances))


def _grown_effects(
    learnt: LearntCells,
    variances: FloatArray,
    completion: Completion,
    element: IntArray,
    period: IntArray,
) -> RandomEffects:
    """Returns random effects once variances have grown, with what completed sums have in common."""
    size = int(element.max(initial=0)) + 1
    shared = completion.sum_variance(element, size)
    shared -= added_up(element, completion.cell_variance(), size)
    squares = float(np.sum(added_up(element, variances, size) ** 2))
    # What sums have in common goes into all cells of a period alike.
    by_period = added_up(period, variances, 1)
    alike = float(by_period @ by_period) / max(float(by_period.sum()), _NOTHING)
    more = float(np.maximum(shared, 0.0).sum()) / max(squares, _NOTHING) * alike
    return replace(learnt.effects, period=learnt.effects.period + more)


def _expected(
    noisy: Sequence[NoisySums], universe: ODCells, steps: Iterable[tuple[int, NoisyStep]]
) -> Expectation | None:
    """Returns what other steps say, read one after the other; None if there are none."""
    pool = Pool(
        partitions=[one.partition for one in noisy], known=np.ones(universe.pairs, dtype=bool)
    )
    for away, step in steps:
        pool.add(step, FADES ** abs(away))
    return pool.learnt(distance_classes(universe)) if pool.steps else None


def _learnt(
    cells: Measured,
    noisy: Sequence[NoisySums],
    geography: ODCells,
    before: Expectation | None,
) -> LearntCells:
    shape = (len(geography.periods), geography.pairs)
    values, law = cells.values.reshape(shape), noise_law(cells)
    expected = prior_mean(noisy, values, law, distance_classes(geography))
    posterior = empirical_bayes(values, expected, law)
    if before is not None:
        posterior = learn_from_steps(posterior, before, noisy, values, law)
    yielding = yielding_variance(posterior.variance, law)
    looks = [_look(one, posterior, yielding, law) for one in noisy]
    joined = reconcile(
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
        variances=_cell_variances(
            posterior, joined.values, law, list(zip(noisy, looks, strict=True))
        ).ravel(),
        counts=rounded.totals,
        totals=joined.totals,
        looks=tuple(looks),
        effects=random_effects(geography, values - joined.values, posterior, law),
        diagnostics={
            "distance_to_optimum_at_most": _rounded_up(joined.bound),
            "newton_steps": joined.steps,
            "every_sum_rounded_up_or_down": rounded.exact,
        },
    )


def _cell_variances(
    posterior: Posterior,
    means: FloatArray,
    law: NoiseLaw,
    looks: Sequence[tuple[NoisySums, SumErrors]],
) -> FloatArray:
    """Returns the variances of cells, no smaller than their part of the error of a sum leaves them.

    Where noise hides how far cells stray from their prior, the posterior knows nothing of the error
    that the prior has from noisy sums. What noisy cells themselves tell makes that smaller.
    """
    found = posterior.variance.copy()
    for sums, look in looks:
        part = means.copy()
        whole = np.maximum(sums.partition.sums(means), _NOTHING)
        sums.partition.multiply(part, np.sqrt(look.variances) / whole)
        prior = part**2
        np.maximum(found, prior / (1 + prior / float(law.variance)), out=found)
    return found


def _look(sums: NoisySums, posterior: Posterior, yielding: FloatArray, law: NoiseLaw) -> SumErrors:
    """Compares the measured sums of a feature with those of learnt cells."""
    add = sums.partition.sums
    noise = add(np.full(yielding.shape, float(law.variance)))
    return SumErrors.of(
        noisy=sums.values,
        noise=float(sums.law.variance),
        cells=SumsOfCells(
            estimates=add(posterior.mean),
            variances=add(posterior.variance),
            yielding=add(yielding),
            noise=noise,
        ),
        # By two noisy answers: their own, and their cells' together.
        least=1 / (1 / np.maximum(sum_variances(sums), _NOTHING) + 1 / noise),
    )


def _table(
    universe: ODCells, features: Sequence[Feature], sums: Sequence[Measured], learnt: LearntCells
) -> ODTable:
    fitted = [np.round(totals, _DIGITS_OF_SUMS) for totals in learnt.totals]
    margins = margin_tables(features, sums, fitted)
    kept = np.flatnonzero(learnt.counts)
    counts = learnt.counts[kept]
    off = counts - learnt.means[kept]
    errors = _told_errors(learnt.variances[kept] + off**2)
    unlisted = float(learnt.variances.sum()) / max(float(np.sum(errors**2)), _NOTHING) - 1
    shared = asdict(learnt.effects) | {"unlisted": max(unlisted, 0.0)}
    effects = {name: float(f"{value:.3g}") for name, value in shared.items()}
    return ODTable(
        universe=universe,
        cells=learnt.cells[kept],
        counts=counts,
        standard_errors=errors,
        threshold=None,
        zeros_left_out=True,
        margins=tuple(
            replace(margin, errors=_told_errors(look.variances))
            for margin, look in zip(margins, learnt.looks, strict=True)
        ),
        effects=RandomEffects(**effects),
        estimates=_estimates(learnt),
        diagnostics={
            **learnt.diagnostics,
            "random_effects": effects,
            "trips_in_known_cells": known_share(counts, errors),
        },
    )


def distance_classes(cells: ODCells) -> Int32Array:
    """Returns which pairs of places are at about the same distance: a public fact.

    Classes are quantiles of distance. A place and itself are a class of their own, and so are all
    pairs if no place has a position.
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


def noise_law(measured: Measured | MeasuredSparse) -> NoiseLaw:
    """Returns the law of the noise in an answer."""
    return noise_for(measured.event.loss, measured.event.bound)


def _estimates(learnt: LearntCells) -> Estimates:
    """Returns the estimates of the cells that hold nearly all trips, and of all that have a row."""
    means, rare = learnt.means, 1 - _LISTED
    # Cells of less than this hold too little together to be listed.
    largest = np.sort(means[means >= rare * means.mean()])[::-1]
    enough = int(np.searchsorted(np.cumsum(largest), _LISTED * means.sum())) + 1
    least = largest[min(enough, len(largest)) - 1]
    listed = learnt.counts > 0
    listed[means > least] = True
    listed[np.flatnonzero(means == least)[: enough - np.count_nonzero(means > least)]] = True
    chosen = np.flatnonzero(listed)
    return Estimates(
        cells=learnt.cells[chosen],
        means=np.round(learnt.means[chosen], 6),
        standard_errors=_told_errors(learnt.variances[chosen]),
    )


def _told_errors(variances: FloatArray) -> FloatArray:
    """Returns standard errors with as many digits as mean something."""
    return np.asarray(np.round(np.sqrt(variances), _DIGITS))


def _rounded_up(bound: float) -> float:
    """Returns a bound rounded up to two digits, or to what no processor's last digits reach."""
    bound = max(bound, _AS_GOOD_AS_EXACT)
    unit = 10.0 ** (math.floor(math.log10(bound)) - 1)
    return float(f"{math.ceil(bound / unit) * unit:.1e}")
