"""The earth mover's distance: how many metres off a published distribution is on the map."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from hushway.arrays import FloatArray
from hushway.errors import DataError
from hushway.progress import Progress

# A city of 989 areas needs some thousands of pivots; only a broken problem needs this many.
_MOST_PIVOTS = 100_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Transport:
    """The cheapest way to turn one distribution into another, with its proof.

    Attributes:
        cost: Metres that the average unit of mass moves.
        potential: A height for each area that nowhere falls faster than 1 per metre. The mean
            height of the first distribution less that of the second is at most the cost of any
            transport; here it equals `cost`, so no transport is cheaper.
    """

    cost: float
    potential: FloatArray


def earth_movers(truth: FloatArray, release: FloatArray, distance: FloatArray) -> float:
    """Returns the earth mover's distance of two spatial distributions, exactly.

    Both are scaled to sum to 1. If one of them has no mass there is no distribution: NaN.

    Args:
        truth: Mass of each area.
        release: Mass of each area.
        distance: Metres between every two areas: a metric.
    """
    if not (truth.any() and release.any()):
        return float("nan")
    return transport(truth, release, distance).cost


def weekly_earth_movers(
    truth: FloatArray,
    release: FloatArray,
    centres: FloatArray,
    *,
    hours: Sequence[int] | None = None,
    progress: Progress,
) -> FloatArray:
    """Returns the earth mover's distance of every hour; NaN where an hour has no mass.

    Args:
        truth: Mass by (area, hour).
        release: Mass by (area, hour).
        centres: Centre (x, y) of each area in metres.
        hours: Which hours to compare, in this order; all if left out.
        progress: Told how far it is.
    """
    distance = cdist(centres, centres)
    chosen = range(truth.shape[1]) if hours is None else hours
    found = np.empty(len(chosen))
    for done, hour in enumerate(chosen):
        progress("earth mover's distance", done / len(chosen))
        found[done] = earth_movers(truth[:, hour], release[:, hour], distance)
    return found


def transport(source: FloatArray, target: FloatArray, distance: FloatArray) -> Transport:
    """Returns the cheapest transport of one distribution into another.

    Only what one has more than the other is moved. Proof: let an area take in mass from i and give
    out mass to j; sending it from i to j at once costs no more, by the triangle inequality, and
    leaves what the area holds as it was. So some cheapest transport has no area that does both,
    and in it min(p, q) stays in every area, for free.

    Args:
        source: Mass of each area, not all 0.
        target: Mass of each area, not all 0.
        distance: Metres between every two areas: a metric.

    Raises:
        DataError: A mass is negative, missing or infinite, or all are 0, or the solver gave up.
    """
    surplus = _distribution(source) - _distribution(target)
    giving, taking = np.flatnonzero(surplus > 0), np.flatnonzero(surplus < 0)
    if len(giving) == 0 or len(taking) == 0:
        return Transport(cost=0.0, potential=np.zeros(len(surplus)))
    given, taken = surplus[giving], -surplus[taking]
    # The two sums differ by rounding only; the solver wants them equal.
    moved = given.sum()
    cost, heights = _solve(given / moved, taken / taken.sum(), distance[np.ix_(giving, taking)])
    # The lowest of cones stands for heights everywhere: none of them is steeper than 1 per metre.
    potential = (distance[:, taking] - heights).min(axis=1)
    return Transport(cost=float(moved * cost), potential=potential)


def _solve(given: FloatArray, taken: FloatArray, distance: FloatArray) -> tuple[float, FloatArray]:
    """Returns the least cost, and the duals of those that take."""
    with warnings.catch_warnings():
        # What the solver would warn of is in its log, and an error here; besides, its source warns
        # of itself when it is compiled.
        warnings.simplefilter("ignore")
        from ot.lp import emd2

        cost, log = emd2(
            given, taken, np.ascontiguousarray(distance), numItermax=_MOST_PIVOTS, log=True
        )
    if log["warning"] is not None:
        raise DataError(
            "The earth mover's distance was not found: the solver gave up before the optimum.",
            advice="Check that distances are finite metres, or compare fewer areas.",
        )
    return float(cost), np.asarray(log["v"], dtype=np.float64)


def _distribution(mass: FloatArray) -> FloatArray:
    if not np.isfinite(mass).all() or (mass < 0).any() or not mass.any():
        raise DataError(
            "Masses must be finite numbers, not below 0 and not all 0.",
            advice="Cut negative counts off at 0 before comparing distributions.",
        )
    return np.asarray(mass / mass.sum())
