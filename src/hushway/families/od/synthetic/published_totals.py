"""Moves drawn counts to drawn totals: each where its published value and its error allow."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.od.files.adds_up import PublishedSums

_SWEEPS: Final = 6
_NOTHING: Final = 1e-12
_LEAST: Final = 0.25


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
    """A published total, and which of its sums counts are moved to."""

    sums: PublishedSums
    known: BoolArray


def move_to_totals(rng: np.random.Generator, drawn: Movable, totals: Sequence[Total]) -> FloatArray:
    """Moves counts to drawn sums of one total after the other, the coarsest last."""
    counts = drawn.counts.astype(np.float64)
    targets = [
        (total.sums.feature.of(drawn.cells), np.where(total.known, _drawn(rng, total.sums), np.nan))
        for total in sorted(totals, key=lambda total: -total.sums.feature.size)
        if total.known.any()
    ]
    for _ in range(_SWEEPS):
        for element, target in targets:
            found = np.bincount(element, weights=counts, minlength=len(target))
            missing = np.where(np.isnan(target), 0.0, target - found)
            rises = missing[element] > 0
            gives = np.where(rises, drawn.variances, counts * drawn.ratios)
            room = np.bincount(element, weights=gives, minlength=len(target))
            step = (missing / np.maximum(room, _NOTHING))[element]
            fallen = counts * np.exp(np.minimum(step, 0.0) * drawn.ratios)
            counts = np.where(rises, counts + gives * step, fallen)
    return counts


def _drawn(rng: np.random.Generator, sums: PublishedSums) -> FloatArray:
    """Draws sums by gamma laws, which know no negative numbers."""
    errors = np.maximum(np.zeros(1) if sums.errors is None else sums.errors, _NOTHING)
    # A total that was rounded to 0 may have been a little more.
    means = np.maximum(sums.counts, _LEAST)
    return rng.gamma((means / errors) ** 2, errors**2 / means)
