"""Sums, means, differences, ratios and the largest of published numbers, each with an interval.

Privacy:
    Made of published numbers alone: free, as often as one likes.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray
from hushway.errors import ReleaseError
from hushway.release.questions.cells import AskedCells, Dimension, Where

# The share of intervals that miss the truth.
MISSED: Final = 0.05
_DIGITS: Final = 4


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A number that follows from a release.

    Attributes:
        label: What it is of.
        value: The number.
        standard_error: What it is expected to be off by; NaN for ratios, which have no such thing.
        low: Lower end of an interval of 95%.
        high: Upper end of it; infinite if a ratio may be by nothing.
    """

    label: str
    value: float
    standard_error: float
    low: float
    high: float


def total(cells: AskedCells, where: Where, *, per: str | None = None) -> Answer:
    """Returns a sum, or the mean of it.

    Args:
        cells: What is published.
        where: What is summed over.
        per: The dimension whose labels the sum is divided by; None for the sum itself.
    """
    chosen = cells.chosen(where)
    parts = 1 if per is None else int(cells.labels(per, where).sum())
    value, error = float(cells.counts[chosen].sum()), math.sqrt(_variance(cells, chosen))
    return Answer(label=words(where), **interval(value / parts, error / parts))


def difference(cells: AskedCells, where: Where, minus: Where) -> Answer:
    """Returns one sum minus another; what is in both does not matter."""
    (one, other), covariance = _joint(cells, where, minus)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    label = f"{words(where)}, minus {words(minus)}"
    found = interval(one - other, math.sqrt(max(variance, 0.0)), floor=-math.inf)
    return Answer(label=label, **found)


def ratio(cells: AskedCells, where: Where, over: Where) -> Answer:
    """Returns one sum divided by another, with the interval of Fieller (1954)."""
    (one, other), covariance = _joint(cells, where, over)
    label = f"{words(where)}, over {words(over)}"
    if other <= 0:
        raise ReleaseError(
            "Nothing is published there to divide by.", advice="Divide by a larger sum."
        )
    square = deviations(MISSED) ** 2
    # What r solves (one - r * other)^2 <= square * variance of (one - r * other)?
    a = other**2 - square * covariance[1, 1]
    b = one * other - square * covariance[0, 1]
    c = one**2 - square * covariance[0, 0]
    low, high = 0.0, math.inf
    if a > 0:
        root = math.sqrt(max(b * b - a * c, 0.0))
        low, high = max((b - root) / a, 0.0), (b + root) / a
    return Answer(
        label=label,
        value=round(one / other, _DIGITS),
        standard_error=math.nan,
        low=round(low, _DIGITS),
        high=round(high, _DIGITS),
    )


def largest(cells: AskedCells, where: Where, *, by: str, top: int) -> Iterator[Answer]:
    """Yields the largest sums by a dimension, the largest first.

    They were picked for being large, so their intervals are wider: of the listed ones 95% hold on
    average (Benjamini and Yekutieli 2005, false coverage rate).
    """
    asked, sums, errors = sums_by(cells, where, by)
    order = [i for i in np.argsort(-sums, kind="stable").tolist() if asked[i]][:top]
    missed = MISSED * len(order) / max(1, int(asked.sum()))
    for i in order:
        label = label_of(cells.dimensions[by], i)
        yield Answer(label=label, **interval(float(sums[i]), float(errors[i]), missed=missed))


def sums_by(cells: AskedCells, where: Where, by: str) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Returns which labels of a dimension are asked for, the sum of each, and its error."""
    dimension, each = cells.dimension(by), {by: "*"} | dict(where)
    chosen, size = cells.chosen(each), len(dimension.ids)
    group = np.where(chosen, dimension.position, -1)
    sums = np.bincount(group[chosen], cells.counts[chosen], minlength=size).astype(np.float64)
    errors: FloatArray = np.sqrt(np.maximum(cells.variances(group, size), 0.0))
    return cells.labels(by, each), sums, errors


def label_of(dimension: Dimension, position: int) -> str:
    """Returns a name with its id, where they differ."""
    key = dimension.ids[position]
    name = dimension.names[0][position] if dimension.names else key
    return key if name in ("", key) else f"{name} ({key})"


def _variance(cells: AskedCells, chosen: BoolArray) -> float:
    return max(float(cells.variances(np.where(chosen, 0, -1), 1)[0]), 0.0)


def _joint(cells: AskedCells, one: Where, other: Where) -> tuple[FloatArray, FloatArray]:
    """Returns two sums and their covariances.

    These follow from variances of sums over what is only in one, only in the other, or in both.
    """
    first, second = cells.chosen(one), cells.chosen(other)
    parts = (first & ~second, second & ~first, first & second)
    own = [_variance(cells, part) for part in parts]
    covariance = np.diag(own)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        both = _variance(cells, parts[i] | parts[j])
        covariance[i, j] = covariance[j, i] = (both - own[i] - own[j]) / 2
    members = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    sums = np.array([cells.counts[part].sum() for part in parts])
    return members @ sums, members @ covariance @ members.T


def interval(
    value: float, error: float, *, floor: float = 0.0, missed: float = MISSED
) -> dict[str, float]:
    """Returns a number with its error and its interval, as `Answer` names them."""
    half = deviations(missed) * error
    found = {
        "value": max(value, floor),
        "standard_error": error,
        "low": max(value - half, floor),
        "high": max(value + half, floor),
    }
    return {name: round(number, _DIGITS) for name, number in found.items()}


def deviations(missed: float) -> float:
    """Returns how many standard errors to either side miss the truth so often."""
    return NormalDist().inv_cdf(1 - missed / 2)


def words(where: Where) -> str:
    """Returns a question in words: origins A, B; periods 08:00."""
    named = (
        f"{name} {labels if isinstance(labels, str) else ', '.join(labels)}"
        for name, labels in where.items()
    )
    return "; ".join(named) or "everything"
