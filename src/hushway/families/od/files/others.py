"""Releases of other steps, read as noisy answers about the cells of one table."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.errors import PlanError
from hushway.families.od.files.check import refitting
from hushway.families.od.fit.learned import noise_law
from hushway.families.od.fit.learning.prior import NoisySums
from hushway.families.od.fit.learning.series import NoisyStep
from hushway.families.od.fit.partitions import Partition, partition_of
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.mechanism.people import LearnedPeople
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import LEARNED
from hushway.families.od.public.features import Feature
from hushway.privacy.measured import Measured
from hushway.release.learning import helpful_steps
from hushway.release.mechanism import Measurements, Mechanism
from hushway.release.others import OtherRelease


def learning(
    mechanism: Mechanism[Any, Any], others: Sequence[OtherRelease]
) -> Learned | LearnedPeople:
    """Returns a mechanism whose fit learns from those other releases that help.

    Raises:
        PlanError: It is none that learns, or looks only at cells that stand out.
    """
    if not isinstance(mechanism, Learned | LearnedPeople) or mechanism.lazy:
        raise PlanError(
            "series.learn_from: only tables that learn, and look at every cell, learn from other "
            "releases.",
            advice=f'Use mechanism "{LEARNED}" with fewer cells, or leave learn_from out.',
        )
    steps = helpful_steps(
        others,
        refitting,
        helps=partial(_helps, mechanism.universe),
        answers=lambda other, measured, _own, *asked: noisy_answers(other, measured, *asked),
    )
    return replace(mechanism, others=steps)


def _helps(universe: ODCells, other: Mechanism[Any, Any], own: ODCells) -> bool:
    """Whether a table has every cell looked at, the same periods, and some of the places."""
    return (
        isinstance(other, Learned | LearnedPeople)
        and not other.lazy
        and own.periods.labels == universe.periods.labels
        and not own.locations.index.keys().isdisjoint(universe.locations.index)
    )


def noisy_answers(
    mechanism: Learned | LearnedPeople,
    measured: Measurements,
    universe: ODCells,
    features: Sequence[Feature],
) -> NoisyStep:
    """Returns the noisy answers of another step, on the cells and totals of a table."""
    own = mechanism.universe
    totals, (cells, *sums) = mechanism.table_answers(measured)
    assert isinstance(cells, Measured)  # noqa: S101  every cell was looked at
    at, known = _pairs_in(own, universe)
    values = cells.values.reshape(len(own.periods), own.pairs)
    told = [
        NoisySums(partition=partition_of(total), values=one.values, law=noise_law(one))
        for total, one in zip(totals, sums, strict=True)
        if isinstance(one, Measured)
    ]
    same = bool(known.all()) and np.array_equal(at, np.arange(own.pairs))
    return NoisyStep(
        cells=np.where(known, values[:, at], 0),
        law=noise_law(cells),
        sums=[_like(partition_of(each), told) if same else None for each in features],
        known=known,
    )


def _pairs_in(own: ODCells, universe: ODCells) -> tuple[IntArray, BoolArray]:
    """Returns where each pair of a table is among those of another one, and whether it is there."""
    index = own.locations.index
    place = np.array([index.get(one, -1) for one in universe.locations.ids])
    _, origin, destination = universe.decode(np.arange(universe.pairs))
    start, end = place[origin], place[destination]
    known = (start >= 0) & (end >= 0)
    if not own.include_intrazonal:
        known &= start != end
    at = np.zeros(universe.pairs, dtype=np.int64)
    at[known] = own.encode(np.zeros(int(known.sum()), np.int64), start[known], end[known])
    return at, known


def _like(partition: Partition, sums: Sequence[NoisySums]) -> NoisySums | None:
    """Returns the sums over the same partition; None if there are none."""
    for one in sums:
        own = one.partition
        if np.array_equal(own.period_class, partition.period_class) and np.array_equal(
            own.pair_class, partition.pair_class
        ):
            return one
    return None
