"""The one way in which functions here are compiled, so that their types survive."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compiles a function at its first call and keeps the machine code on disk.

    Floating point stays as written: reordering sums would break double-double arithmetic.
    """
    return cast("Callable[P, R]", njit(cache=True, error_model="numpy")(function))


def compiled_for_threads(function: Callable[P, R]) -> Callable[P, R]:
    """Compiles a function likewise, for use by several threads at once.

    While it runs it does not hold Python's lock, so it must not share what it writes to.
    """
    return cast("Callable[P, R]", njit(cache=True, nogil=True, error_model="numpy")(function))
