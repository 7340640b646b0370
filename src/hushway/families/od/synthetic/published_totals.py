"""Moves drawn counts so that totals vary as their published errors say."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.files.adds_up import PublishedSums

_SWEEPS: Final = 6
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Movable:
    """Drawn counts, and how far each gives way.

    Attributes:
        cells: Their cells.
        counts: The counts.
        variances: The variance of the error of each: how much of a rise it takes.
        ratios: The variance of each over its mean. A fall takes a share of each count in
            proportion to this, so that on average it is distributed as a rise is.
    """

    cells: IntArray
    counts: IntArray
    variances: FloatArray
    ratios: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Total:
    """A published total, and the error of each sum over what drawn cells vary by in it."""

    sums: PublishedSums
    ratios: FloatArray


def move_to_totals(drawn: Movable, totals: Sequence[Total]) -> FloatArray:
    """Moves counts to sums of one total after the other, the coarsest last."""
    counts = drawn.counts.astype(np.float64)
    targets = [
        _target(total, total.sums.feature.of(drawn.cells), counts)
        for total in sorted(totals, key=lambda total: -total.sums.feature.size)
    ]
    for _ in range(_SWEEPS):
        for element, target in targets:
            missing = target - np.bincount(element, weights=counts, minlength=len(target))
            rises = missing[element] > 0
            gives = np.where(rises, drawn.variances, counts * drawn.ratios)
            room = np.bincount(element, weights=gives, minlength=len(target))
            step = (missing / np.maximum(room, _NOTHING))[element]
            fallen = counts * np.exp(np.minimum(step, 0.0) * drawn.ratios)
            counts = np.where(rises, counts + gives * step, fallen)
    return counts


def _target(total: Total, element: IntArray, counts: FloatArray) -> tuple[IntArray, FloatArray]:
    """Returns where sums go: as far from what is published as they were drawn, times a ratio.

    So what cells of different sums have in common stays: an origin that was drawn too high is too
    high in all of its periods.
    """
    published = total.sums.counts
    found = np.bincount(element, weights=counts, minlength=len(published))
    return element, np.maximum(published + total.ratios * (found - published), 0.0)
