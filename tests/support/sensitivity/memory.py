"""Counters of arrays in memory, with rows of people of whom some have very many."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.privacy.query import Counter
from support.little_plans import material_of

PEOPLE = 6
_ROWS = 150

# Counts the rows that are kept of those that a generator draws.
InMemory = Callable[[Any, BoundingKey, Any, Any], Counter]


def skewed_people(rng: np.random.Generator) -> Any:
    """Returns whose each row is; the first has most, the last has one alone."""
    return np.append(rng.zipf(1.7, _ROWS) % (PEOPLE - 1), PEOPLE - 1)


def in_memory(family: str) -> InMemory:
    """Returns what makes a counter of arrays, from the family's test material."""
    made: InMemory = material_of(family).in_memory
    return made
