"""Peers of OD tables: what others publish at the same budget, one trip protected.

Public software is asked as its makers show, with the same noise law where it takes measurements.
Whatever is not installed raises ImportError, and the comparison goes on without it.

private-pgm as of August 2025 wants jax 0.5 and chex 0.1.89; inf-tda 0.1 wants arrays of pandas that
can be written to, as pandas 2 gives them.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hushway.families.od.fit.partitions import Partition
from hushway.families.od.fit.reconciliation.reconcile import MeasuredSums, reconcile
from hushway.families.od.planning.trial import ODScene
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import SeededSource

Counts = NDArray[np.float64]

_CELLS, _ENDS = Fraction(8, 10), Fraction(1, 10)
# Ends are met as if their noise had this part of a cell's variance; how near the fit is solved.
_HARD, _NEAR = 0.01, 1e-4
_DELTA = 1e-6
_PGM_STEPS = 1000


def _truth(scene: ODScene) -> NDArray[np.int64]:
    """Returns the exact table as (period, origin, destination)."""
    places, periods = len(scene.cells.locations), len(scene.cells.periods)
    cube = np.zeros((periods, places, places), dtype=np.int64)
    cube[scene.cells.decode(scene.truth.cells)] = scene.truth.values
    return cube


def _noisy(
    values: NDArray[np.int64], epsilon: Fraction, source: SeededSource
) -> tuple[NDArray[np.int64], float]:
    law = DiscreteLaplace(1 / epsilon)
    return values + law.draw(source, values.size).reshape(values.shape), float(law.variance)


def _cells_of(scene: ODScene, cube: Counts) -> Counts:
    return cube[scene.cells.decode(np.arange(scene.cells.size))]


def rows_and_columns(scene: ODScene, epsilon: Fraction, seed: int) -> Counts:
    """Cells .8, origins .1, destinations .1 by period: non-negative least squares.

    Ends are met almost exactly, once they are not negative and both add up to the same. Weighed by
    its noise, an end would lose to the cut at 0 of its many cells.
    """
    cells, source = scene.cells, SeededSource(seed)
    cube = _truth(scene)
    periods = len(cells.periods)
    values, variance = _noisy(_cells_of(scene, cube).astype(np.int64), epsilon * _CELLS, source)
    _, origin, destination = cells.decode(np.arange(cells.pairs))
    ends = [_noisy(cube.sum(axis=axis), epsilon * _ENDS, source)[0] for axis in (2, 1)]
    totals = np.mean([counts.sum(axis=1) for counts in ends], axis=0)
    measured = []
    for counts, end in zip(ends, (origin, destination), strict=True):
        partition = Partition(
            period_class=np.arange(periods, dtype=np.int32),
            pair_class=end.astype(np.int32),
            periods=periods,
            classes=len(cells.locations),
        )
        hard = np.array([_adding_up(*each) for each in zip(counts, totals, strict=True)])
        measured.append(
            MeasuredSums(partition=partition, counts=hard.ravel(), variance=_HARD * variance)
        )
    table = values.reshape(periods, cells.pairs).astype(np.float64)
    found = reconcile(table, np.full(table.shape, variance), measured, tolerance=_NEAR)
    return found.values.ravel()


def _adding_up(counts: NDArray[np.int64], total: float) -> NDArray[np.int64]:
    """Returns the nearest counts that are not negative and add up to a total."""
    highest = np.sort(counts)[::-1]
    lower = (np.cumsum(highest) - max(total, 1.0)) / np.arange(1, len(counts) + 1)
    return np.rint(np.maximum(counts - lower[highest > lower][-1], 0.0)).astype(np.int64)


def private_pgm(scene: ODScene, epsilon: Fraction, seed: int) -> Counts:
    """The estimate of private-pgm from its origins and destinations by period, and its pairs."""
    from mbi import Domain, LinearMeasurement, estimation

    source, cube = SeededSource(seed), _truth(scene)
    domain = Domain(("t", "o", "d"), cube.shape)
    parts = ((2, ("t", "o"), _ENDS), (1, ("t", "d"), _ENDS), (0, ("o", "d"), _CELLS))
    measurements = []
    for axis, clique, share in parts:
        values, variance = _noisy(cube.sum(axis=axis), epsilon * share, source)
        measurements.append(
            LinearMeasurement(values.ravel().astype(float), clique, math.sqrt(variance))
        )
    model = estimation.mirror_descent(domain, measurements, iters=_PGM_STEPS)
    return _cells_of(scene, np.asarray(model.project(("t", "o", "d")).datavector(flatten=False)))


def inf_tda(scene: ODScene, epsilon: Fraction, seed: int) -> Counts:
    """inf-tda over period, origin, destination, with every public cell in its index."""
    import pandas as pd
    from InfTDA.mechanism import inf_tda as release

    del seed  # it draws from the machine's own source
    cube = _truth(scene)
    index = pd.MultiIndex.from_product([range(size) for size in cube.shape])
    table = release(
        pd.Series(cube.ravel().astype(np.int32), index=index),
        budget=(float(epsilon), _DELTA),
        contribution=1,
    )
    counts = np.zeros(cube.shape)
    period, origin, destination = (table.index.get_level_values(level) for level in range(3))
    counts[period, origin, destination] = table.to_numpy()
    return _cells_of(scene, counts)
