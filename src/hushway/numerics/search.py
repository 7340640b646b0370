"""Binary search in a stretch of a sorted array, and a binary heap, for compiled code.

A slice is an object with a reference count, which costs more than the search itself; so the stretch
is given by where it begins and ends. Halves are chosen without a branch, since a processor would
mispredict every second one.

Of equal keys, the smallest thing is on top of a heap: what a search finds never depends on how the
heap was filled.
"""

from hushway.arrays import FloatArray, Int32Array, IntArray
from hushway.numerics.compiled import Rows, compiled, compiled_for_threads


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


@compiled_for_threads
def push(heap: Rows, size: int, key: float, thing: int) -> int:
    """Puts a thing on a heap of `size` things, and returns the new size."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if heap[above].key < key or (heap[above].key == key and heap[above].thing <= thing):
            break
        heap[at].key, heap[at].thing = heap[above].key, heap[above].thing
        at = above
    heap[at].key, heap[at].thing = key, thing
    return size + 1


@compiled_for_threads
def drop(heap: Rows, size: int) -> int:
    """Takes the top thing off a heap of `size` things, and returns the new size."""
    size -= 1
    key, thing = heap[size].key, heap[size].thing
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and _comes_first(heap, below + 1, below):
            below += 1
        if key < heap[below].key or (key == heap[below].key and thing <= heap[below].thing):
            break
        heap[at].key, heap[at].thing = heap[below].key, heap[below].thing
        at = below
    heap[at].key, heap[at].thing = key, thing
    return size


@compiled_for_threads
def _comes_first(heap: Rows, one: int, other: int) -> bool:
    if heap[one].key == heap[other].key:
        return bool(heap[one].thing < heap[other].thing)
    return bool(heap[one].key < heap[other].key)
