"""A binary heap (priority queue) for compiled code; of equal keys the smallest thing is on top.

Because equal keys have an order too, what a search finds never depends on how the heap was filled.
"""

from hushway.numerics.compiled import Rows, compiled_for_threads


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
