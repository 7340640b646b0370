"""A huge table that learns: only cells that show, or have a large prior, cost anything.

1. Prior: sums are denoised, and a factor model fitted to them (`learning.factor_model`).
2. Candidates: cells whose noisy value is large, and those with a large prior.
3. Empirical Bayes: how far counts stray from the prior, from the candidates and from how many
   cells are censored; then the posterior of every candidate (`learning.censored`).
4. Integerisation: what sums have left goes to all other cells by the prior, in whole trips.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.learning.censored import Candidates, CensoredPosterior, learn_censored
from hushway.families.od.fit.learning.factor_model import (
    Blocks,
    CellList,
    FactorModel,
    Kind,
    Target,
)
from hushway.families.od.fit.learning.integerisation import (
    OtherCells,
    SumTarget,
    ascend_dual,
    integerise,
)
from hushway.families.od.fit.learning.prior import NoisySums, denoised_sums, period_totals
from hushway.families.od.fit.learning.sum_errors import SumErrors, SumsOfCells, yielding_variance
from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.fit.rounding.controlled import round_totals
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import pair_ends
from hushway.families.od.public.features import Feature
from hushway.geography.locations import PairEnds, joint_codes
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.lazy import Shown

# At most so many cells that do not show are looked at because something is expected of them.
_MOST_EXPECTED: Final = 1 << 20
# A cell of which less is expected is looked at only if it shows.
_LEAST_EXPECTED: Final = 0.25
_SWEEPS: Final = 10
# Expectations of the cells that nobody looked at grow by no more than this.
_MOST_GROWTH: Final = 8.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Looked:
    """The cells measured at or above a threshold, with the law of the noise of every cell."""

    shown: Shown
    threshold: int
    law: NoiseLaw


@dataclass(frozen=True, kw_only=True, eq=False)
class LearntCells:
    """A table as it was learnt.

    Attributes:
        cells: Ascending cell numbers of candidates and of all cells with whole trips.
        means: The posterior mean of each, reconciled with sums.
        variances: The variance of each count.
        counts: Its whole trips.
        totals: For every feature, the fitted trips of every element.
        looks: For every feature, what its measured sums say about the estimates.
        effects: What the errors of a place's cells have in common.
    """

    cells: IntArray
    means: FloatArray
    variances: FloatArray
    counts: IntArray
    totals: tuple[FloatArray, ...]
    looks: tuple[SumErrors, ...]
    effects: RandomEffects
    diagnostics: Mapping[str, Any]


def learn_lazily(
    universe: ODCells, features: Sequence[Feature], sums: Sequence[NoisySums], looked: Looked
) -> LearntCells:
    """Learns a huge table; see `feature_structure.is_learnable` for possible features."""
    missing = _missing(universe)
    goal = _Goal.of(universe, features, sums)
    expected = FactorModel.even(goal.blocks, len(universe.periods))
    expected.fit(goal.targets, missing, _SWEEPS)

    cells = _candidates(universe, expected, looked.shown)
    posterior = _posterior(universe, cells, expected, looked)
    without = _made_of(universe, cells).joined(missing)
    elements = [feature.of(cells) for feature in features]
    rest = expected.copy(_MOST_GROWTH)
    rest.fit(goal.left_by(elements, posterior.mean), without, _SWEEPS)
    others = OtherCells(expected=rest, without=without, spread=posterior.others)

    yielding = yielding_variance(posterior.variance, looked.law)
    looks = [
        _look(one, shape, element, posterior, yielding, others)
        for one, shape, element in zip(sums, goal.shapes, elements, strict=True)
    ]
    met = [
        SumTarget(shape=shape, element=element, counts=one.values, variance=look.noise)
        for shape, element, one, look in zip(goal.shapes, elements, sums, looks, strict=True)
    ]
    mean = ascend_dual(
        posterior.mean, yielding, others, sorted(met, key=lambda one: -len(one.counts))
    )

    # Sums of the finest feature are the most like any others, and either end may be to blame.
    finest = max(looks, key=lambda look: len(look.variances))
    whole = round_totals(mean, elements).totals
    trips = integerise(rest, without)
    stands, many = np.unique(
        universe.encode(trips.period, trips.origin, trips.destination), return_counts=True
    )
    found = np.union1d(cells, stands)
    return LearntCells(
        cells=found,
        # A whole trip that stands for very many cells is as uncertain as it is large.
        means=_placed(found, (cells, mean), (stands, many)),
        variances=_placed(found, (cells, posterior.variance), (stands, many**2)),
        counts=_placed(found, (cells, whole), (stands, many)).astype(np.int64),
        totals=tuple(
            rest.sums(shape, without) + _summed(element, mean, len(shape.counts))
            for shape, element in zip(goal.shapes, elements, strict=True)
        ),
        looks=tuple(looks),
        effects=RandomEffects(
            origin=finest.effect / 2,
            destination=finest.effect / 2,
            # Every period is measured, or made of what is.
            period=0.0,
            pair=posterior.pair,
        ),
        diagnostics={"candidates": len(cells)},
    )


def _posterior(
    universe: ODCells, cells: IntArray, expected: FactorModel, looked: Looked
) -> CensoredPosterior:
    """Returns the posterior of every candidate."""
    values = np.full(len(cells), looked.threshold - 1)
    values[np.searchsorted(cells, looked.shown.cells)] = looked.shown.values
    # The cells of a pair of places follow each other while the table is learnt.
    by_pair = np.argsort(cells % universe.pairs, kind="stable")
    learnt = learn_censored(
        Candidates(
            cells=_made_of(universe, cells[by_pair]),
            values=values[by_pair],
            threshold=looked.threshold,
        ),
        expected,
        _missing(universe),
        looked.law,
    )
    return replace(
        learnt, mean=_put_back(learnt.mean, by_pair), variance=_put_back(learnt.variance, by_pair)
    )


def _look(  # noqa: PLR0917  the candidates and the rest, each with all that is known
    noisy: NoisySums,
    shape: Target,
    element: IntArray,
    posterior: CensoredPosterior,
    yielding: FloatArray,
    others: OtherCells,
) -> SumErrors:
    """Compares the measured sums of a feature with those of candidates and the rest together."""
    rest = others.expected.sums(shape, others.without)
    spread = posterior.others * rest
    return SumErrors.of(
        noisy=noisy.values,
        noise=float(noisy.law.variance),
        cells=SumsOfCells(
            estimates=rest + _summed(element, posterior.mean, len(rest)),
            variances=spread + _summed(element, posterior.variance, len(rest)),
            yielding=spread + _summed(element, yielding, len(rest)),
        ),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Goal:
    """The sums that priors are fitted to: blocks of places, and a target for every feature."""

    blocks: Blocks
    shapes: tuple[Target, ...]

    @staticmethod
    def of(universe: ODCells, features: Sequence[Feature], sums: Sequence[NoisySums]) -> "_Goal":
        ends = [pair_ends(feature) for feature in features]
        blocks = _blocks(ends, len(universe.locations))
        totals = period_totals(sums, len(universe.periods))
        return _Goal(
            blocks=blocks,
            shapes=tuple(
                _shape(feature, each, blocks, denoised_sums(noisy, totals))
                for feature, each, noisy in zip(features, ends, sums, strict=True)
            ),
        )

    @property
    def targets(self) -> list[Target]:
        """The sums, the finest first: the last ones are met exactly."""
        return sorted(self.shapes, key=lambda shape: -len(shape.counts))

    def left_by(self, elements: Sequence[IntArray], trips: FloatArray) -> list[Target]:
        """Returns what sums have left when some cells have their trips, the finest first."""
        left = []
        for shape, element in zip(self.shapes, elements, strict=True):
            counts = shape.counts - _summed(element, trips, len(shape.counts))
            left.append(replace(shape, counts=np.maximum(counts, 0.0)))
        return sorted(left, key=lambda shape: -len(shape.counts))


def _blocks(ends: Sequence[PairEnds], places: int) -> Blocks:
    """Returns the classes of places that features of both ends tell apart."""
    both = [each for each in ends if min(each.between.shape) > 1]
    origin, rows = joint_codes([(each.origin, len(each.between)) for each in both], places)
    destination, columns = joint_codes(
        [(each.destination, each.between.shape[1]) for each in both], places
    )
    return Blocks(origin=origin, destination=destination, rows=rows, columns=columns)


def _shape(feature: Feature, ends: PairEnds, blocks: Blocks, counts: FloatArray) -> Target:
    periods = np.zeros(len(feature.universe.periods), dtype=np.int64)
    if feature.periods is not None:
        periods += feature.periods.codes
    starts, stops = ends.between.shape
    if stops == 1 < starts:
        kind, codes = Kind.ORIGINS, ends.between[ends.origin, 0]
    elif starts == 1 < stops:
        kind, codes = Kind.DESTINATIONS, ends.between[0, ends.destination]
    else:
        kind, codes = Kind.BLOCKS, _codes_of_blocks(ends, blocks)
    element = periods.reshape(-1, *(1,) * codes.ndim) * feature.pair_classes + codes
    return Target(kind=kind, element=element, counts=counts)


def _codes_of_blocks(ends: PairEnds, blocks: Blocks) -> IntArray:
    """Returns the class of the pairs of every block; any one where there are none."""
    row, column = np.zeros(blocks.rows, np.int64), np.zeros(blocks.columns, np.int64)
    row[blocks.origin], column[blocks.destination] = ends.origin, ends.destination
    return np.maximum(ends.between[row[:, None], column[None, :]], 0).astype(np.int64)


def _missing(universe: ODCells) -> CellList:
    """Returns the pairs that have no cell: a place and itself, in every period."""
    places = 0 if universe.include_intrazonal else len(universe.locations)
    periods = len(universe.periods)
    place = np.tile(np.arange(places), periods)
    return CellList(period=np.repeat(np.arange(periods), places), origin=place, destination=place)


def _candidates(universe: ODCells, expected: FactorModel, shown: Shown) -> IntArray:
    """Returns the cells with estimates of their own, ascending."""
    large = expected.largest(_LEAST_EXPECTED, _MOST_EXPECTED)
    if not universe.include_intrazonal:
        large = large[np.flatnonzero(large.origin != large.destination)]
    return np.union1d(shown.cells, universe.encode(large.period, large.origin, large.destination))


def _made_of(universe: ODCells, cells: IntArray) -> CellList:
    period, origin, destination = universe.decode(cells)
    return CellList(period=period, origin=origin, destination=destination)


def _summed(element: IntArray, values: FloatArray, size: int) -> FloatArray:
    return np.bincount(element, weights=values, minlength=size).astype(np.float64)


def _placed(found: IntArray, *parts: tuple[IntArray, NDArray[Any]]) -> FloatArray:
    """Adds up the values of some cells where each has its place."""
    values = np.zeros(len(found))
    for cells, some in parts:
        values[np.searchsorted(found, cells)] += some
    return values


def _put_back(values: FloatArray, order: IntArray) -> FloatArray:
    found = np.empty_like(values)
    found[order] = values
    return found
