"""What every family asks of a table before it is written."""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import PrivacyError, ReleaseError


def refuse(message: str) -> NoReturn:
    """Refuses a table that holds something else than published numbers."""
    raise PrivacyError(message, advice="Publish only what a mechanism's `fit` returned.")


def is_column(array: object, kind: Any, rows: int | None = None) -> bool:
    """Whether something is a plain array of numbers of a type, in one dimension."""
    return (
        isinstance(array, np.ndarray)
        and array.dtype == kind
        and array.ndim == 1
        and (rows is None or len(array) == rows)
    )


def are_amounts(array: FloatArray, most: float = np.inf) -> bool:
    """Whether all numbers are finite, not negative and not beyond the most."""
    return bool(np.all(np.isfinite(array) & (array >= 0) & (array <= most)))


def check_amounts(
    what: str,
    columns: Iterable[FloatArray],
    shape: tuple[int, ...],
    *,
    most: float,
    digits: int,
    above_zero: bool = False,
) -> None:
    """Refuses columns that are not rounded amounts, one for each row."""
    for column in columns:
        plain = isinstance(column, np.ndarray) and column.dtype == np.float64
        if not plain or column.shape != shape:
            refuse(f"{what} are not numbers, one for each row.")
        if not are_amounts(column, most) or (above_zero and not bool(np.all(column))):
            refuse(f"One of {what} is missing, or not an amount that can be published.")
        if not are_rounded(column, digits):
            refuse(f"One of {what} is not rounded to {digits} digits.")


def are_rounded(array: FloatArray, digits: int) -> bool:
    """Whether all numbers have no more digits behind the point."""
    return np.array_equal(np.round(array, digits), array)


def check_reads_back(what: str, is_same: Callable[[], bool], advice: str) -> None:
    """Makes sure that a verifier can read public lists back from their files."""
    try:
        same = is_same()
    except (ValueError, LookupError, TypeError, ReleaseError):
        same = False
    if not same:
        raise ReleaseError(
            f"{what} would not be the same when read back from the release.", advice=advice
        )


def check_size(cells: int, most: int) -> None:
    """Makes sure that a release fits into the memory of those who check it."""
    if cells > most:
        raise ReleaseError(
            f"A release holds at most {most:,} counts.",
            advice="Ask the publisher for a smaller release.",
        )
