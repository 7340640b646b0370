"""Runs work in several threads; results do not depend on their number."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

from hushway.arrays import IntArray

T = TypeVar("T")
R = TypeVar("R")


def in_threads(work: Callable[[T], R], things: Sequence[T], threads: int) -> list[R]:
    """Does work on each thing, and returns what came out in the order of the things."""
    return list(in_order(work, things, threads))


def usual_threads(threads: int | None) -> int:
    """Returns how many threads to use: those asked for, or one for each processor."""
    return processors() if threads is None else max(1, threads)


def chunks(weights: IntArray, share: int) -> list[tuple[int, int]]:
    """Cuts things in a row into stretches [first, last) of about `share` weight each."""
    if len(weights) == 0:
        return []
    done = np.cumsum(weights)
    marks = np.arange(share, int(done[-1]), share)
    cuts = np.unique(np.concatenate([[0], np.searchsorted(done, marks) + 1, [len(weights)]]))
    return [(first, last) for first, last in pairwise(cuts.tolist())]


def in_order(work: Callable[[T], R], things: Sequence[T], threads: int) -> Iterator[R]:
    """Does work on each thing, and yields what came out in the order of the things."""
    if threads == 1 or len(things) <= 1:
        yield from map(work, things)
        return
    with ThreadPoolExecutor(max_workers=threads) as pool:
        yield from pool.map(work, things)


def processors() -> int:
    """Returns how many processors this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)  # pragma: no cover  not on Linux
