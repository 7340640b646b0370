"""What the OD family publishes: whole trip counts with standard errors, and sums that add up."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.measured import Measured

# A count is known if it is at least this many of its standard errors.
KNOWN: Final = 2.0


def known_share(counts: IntArray, standard_errors: FloatArray) -> float:
    """Returns which share of the trips stands in rows that are known.

    Of the others a reader should look at sums: their rows say where trips are to be expected.
    """
    known = counts >= KNOWN * standard_errors
    return round(float(counts[known].sum()) / max(1.0, float(counts.sum())), 4)


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginTable:
    """The sums over one public feature: what was measured and what was fitted. Safe to see.

    The published sum of an element is the sum of the table's rows in it, always.

    Attributes:
        measured: The noisy count of each element, as measured.
        standard_error: Standard deviation of the noise in each.
        fitted: The sum of each element after the fit, before counts were made whole.
        errors: Standard deviation of the error in each published sum, if that was learnt.
    """

    feature: Feature
    measured: IntArray
    standard_error: float
    fitted: FloatArray
    errors: FloatArray | None = None


def margin_tables(
    features: Sequence[Feature], measured: Sequence[Measured], fitted: Sequence[FloatArray]
) -> tuple[MarginTable, ...]:
    """Returns the sums over some features, as measured and as fitted."""
    return tuple(
        MarginTable(
            feature=feature,
            measured=answer.values,
            standard_error=math.sqrt(answer.variance),
            fitted=sums,
        )
        for feature, answer, sums in zip(features, measured, fitted, strict=True)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimates:
    """The best guess of cells, before counts were made whole. Safe to see.

    Attributes:
        cells: Ascending cell numbers; cells that are not here expect next to nothing.
        means: The expected trips of each, a real number.
        standard_errors: The standard deviation of each count around it.
    """

    cells: IntArray
    means: FloatArray
    standard_errors: FloatArray


@dataclass(frozen=True, kw_only=True)
class ODTable:
    """Published trips by (period, origin, destination). Safe for anyone to see.

    Attributes:
        cells: Ascending cell numbers of the rows.
        counts: Published count of each row, never negative.
        standard_errors: Standard deviation of the noise in each cell's measurement, in trips; or
            of the error in its count, if that was learnt.
        threshold: If only cells measured at or above a threshold are rows, that threshold: a cell
            without a row was measured below it.
        zeros_left_out: Whether a cell without a row is published as 0. If it is false and there is
            no threshold, every cell of the universe is a row.
        margins: The features that the counts were fitted to, the coarsest first.
        effects: If errors of counts were learnt, what they have in common; None otherwise.
        estimates: If counts were learnt, what is expected of every cell that matters.
    """

    universe: ODCells
    cells: IntArray
    counts: IntArray
    standard_errors: FloatArray
    threshold: int | None
    zeros_left_out: bool = False
    margins: tuple[MarginTable, ...] = ()
    effects: RandomEffects | None = None
    estimates: Estimates | None = None
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
