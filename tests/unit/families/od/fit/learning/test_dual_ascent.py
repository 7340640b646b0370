"""Candidates and the rest against sums."""

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.families.od.fit.learning.factor_model import (
    Blocks,
    CellList,
    FactorModel,
    Kind,
    Target,
)
from hushway.families.od.fit.learning.integerisation import OtherCells, SumTarget, ascend_dual
from hushway.families.od.fit.reconciliation.reconcile import MeasuredSums, reconcile
from support.od_problems import partition

PLACES = 6
ORIGIN, DESTINATION = (part.ravel() for part in np.indices((PLACES, PLACES)))
EVERY = CellList(period=np.zeros(PLACES**2, dtype=np.int64), origin=ORIGIN, destination=DESTINATION)
ALIKE = np.zeros(PLACES, dtype=np.int32)
BLOCKS = Blocks(origin=ALIKE, destination=ALIKE, rows=1, columns=1)
BY_PLACE = np.arange(PLACES)[None, :]


def met(kind: Kind, element: IntArray, counts: IntArray, variance: float) -> SumTarget:
    shape = Target(kind=kind, element=BY_PLACE, counts=counts.astype(np.float64))
    return SumTarget(shape=shape, element=element, counts=counts, variance=variance)


def test_it_finds_what_the_joint_fit_finds_if_every_cell_is_a_candidate() -> None:
    rng = np.random.default_rng(4)
    mean, variance = rng.gamma(1, 5, PLACES**2), rng.gamma(2, 2, PLACES**2)
    counts = [rng.poisson(40, PLACES) for _ in range(2)]
    sums = [
        met(Kind.ORIGINS, ORIGIN, counts[0], 3.0),
        met(Kind.DESTINATIONS, DESTINATION, counts[1], 5.0),
    ]
    rest = OtherCells(expected=FactorModel.even(BLOCKS, 1), without=EVERY, spread=1.0)
    found = ascend_dual(mean, variance, rest, sums)
    joined = reconcile(
        mean[None, :],
        variance[None, :],
        [
            MeasuredSums(partition=partition(place, [0]), counts=each, variance=noise)
            for place, each, noise in ((ORIGIN, counts[0], 3.0), (DESTINATION, counts[1], 5.0))
        ],
    )
    np.testing.assert_allclose(found, joined.values.ravel(), atol=0.05)


def test_the_rest_gives_way_where_there_is_no_candidate() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    none = CellList(period=nobody, origin=nobody, destination=nobody)
    expected = FactorModel.even(BLOCKS, 1)
    counts = np.array([6, 12, 3, 6, 6, 9])
    rest = OtherCells(expected=expected, without=none, spread=2.0)
    found = ascend_dual(
        np.zeros(0), np.zeros(0), rest, [met(Kind.ORIGINS, nobody, counts, variance=1e-6)]
    )
    assert len(found) == 0
    sums = expected.at(EVERY).reshape(PLACES, PLACES).sum(axis=1)
    assert sums == pytest.approx(counts, rel=1e-3)
