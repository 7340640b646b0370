"""Work on arrays by several threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_threads(work: Callable[[T], R], things: Sequence[T], threads: int) -> list[R]:
    """Does work on each thing, and returns what came out in the order of the things."""
    if threads == 1 or len(things) <= 1:
        return [work(thing) for thing in things]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        return list(pool.map(work, things))
