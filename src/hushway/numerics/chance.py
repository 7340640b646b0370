"""Draws for synthetic cities.

Everything is made of `Generator.random`, whose stream numpy keeps stable, so that a seed gives the
same city with every version of numpy.
"""

import numpy as np

from hushway.arrays import FloatArray, IntArray


def generator(seed: int, stream: int) -> np.random.Generator:
    """Returns one of the independent streams of a seed."""
    return np.random.Generator(np.random.PCG64([seed, stream]))


def draw(rng: np.random.Generator, weights: FloatArray, count: int) -> IntArray:
    """Draws `count` indices with replacement, in proportion to their weights."""
    return pick(np.cumsum(weights), rng.random(count))


def pick(cumulative: FloatArray, uniform: FloatArray) -> IntArray:
    """Turns uniform draws into indices by inverting cumulative weights."""
    chosen = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
    # A product that rounds up to the total would point past the end.
    return np.asarray(np.minimum(chosen, len(cumulative) - 1), dtype=np.int64)


def race(rng: np.random.Generator, weights: FloatArray) -> FloatArray:
    """Returns keys whose largest entries are a weighted draw without replacement.

    These are Gumbel keys (Efraimidis and Spirakis 2006): log weight plus noise; weight 0 never
    wins.
    """
    tiny = np.finfo(np.float64).tiny
    noise = -np.log(-np.log(np.maximum(rng.random(weights.shape), tiny)))
    return np.asarray(np.where(weights > 0, np.log(np.maximum(weights, tiny)) + noise, -np.inf))


def largest(keys: FloatArray, count: int) -> IntArray:
    """Returns the positions of the `count` largest keys, ascending."""
    return np.sort(np.argpartition(-keys, count - 1)[:count]).astype(np.int64)


def standard_normal(rng: np.random.Generator, *shape: int) -> FloatArray:
    """Draws normal numbers (Box and Muller)."""
    radius = np.sqrt(-2 * np.log1p(-rng.random(shape)))
    return np.asarray(radius * np.cos(2 * np.pi * rng.random(shape)))


def shuffle(rng: np.random.Generator, count: int) -> IntArray:
    """Returns a random order of 0 .. count-1."""
    return np.argsort(rng.random(count), kind="stable").astype(np.int64)


def distances_m(origins: FloatArray, destinations: FloatArray) -> FloatArray:
    """Returns the distance of every origin (row) to every destination (column), by air."""
    east = origins[:, 0][:, None] - destinations[:, 0][None, :]
    north = origins[:, 1][:, None] - destinations[:, 1][None, :]
    return np.asarray(np.hypot(east, north))
