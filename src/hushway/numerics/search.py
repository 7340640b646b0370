"""Binary search in a stretch of a sorted array, for compiled code.

A slice is an object with a reference count, which costs more than the search itself; so the stretch
is given by where it begins and ends. Halves are chosen without a branch, since a processor would
mispredict every second one.
"""

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.numerics.compiled import compiled


@compiled
def first_at_least(ascending: IntArray | Int32Array, number: int, begin: int, end: int) -> int:
    """Returns the first place of a stretch that holds at least a number; its end if none does."""
    left = end - begin
    while left > 0:
        half = (left + 1) // 2
        begin += half if ascending[begin + half - 1] < number else 0
        left -= half
    return begin


@compiled
def first_above(ascending: FloatArray, number: float, begin: int, end: int) -> int:
    """Returns the first place of a stretch that holds more than a number; its end if none does."""
    left = end - begin
    while left > 0:
        half = (left + 1) // 2
        begin += half if ascending[begin + half - 1] <= number else 0
        left -= half
    return begin
