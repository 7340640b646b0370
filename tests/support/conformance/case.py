"""What all engines are asked, and must answer alike."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import md5
from pathlib import Path

import numpy as np
import pyarrow as pa

from hushway.engine.key import PRIME, BoundingKey
from hushway.engine.settings import EngineSettings
from hushway.privacy.query import ExactCounts

# For each question the cells that are not empty, and their counts.
Answers = list[dict[int, int]]
# The zone of all agencies. Sessions of databases and clusters are in others.
ZONE = "Europe/Paris"
# The clocks go forward in the first window and back in the second.
SEASONS = {"spring": date(2026, 3, 28), "autumn": date(2026, 10, 24)}
# A person with so many rows is far beyond every bound; ten million are a benchmark.
TIRELESS = 6_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Case:
    """Rows, and what is counted of them.

    Attributes:
        name: What is special about it.
        rows: Makes the rows.
        by_hand: Answers by the rule in plain Python.
        by_memory: Answers by arrays in memory.
        count: Answers by an engine that is told where the rows are.
        in_csv: Whether CSV files say the same: in them all ids are text, and the key mixes in the
            ids of some families.
    """

    name: str
    rows: Callable[[], pa.Table]
    by_hand: Callable[[], Answers]
    by_memory: Callable[[], Answers] | None
    count: Callable[[Path | str, EngineSettings], Answers]
    in_csv: bool

    @cached_property
    def expected(self) -> Answers:
        """The answers by hand, worked out once."""
        return self.by_hand()

    def __str__(self) -> str:
        """Names it in a list of tests."""
        return self.name


def random_key(seed: int) -> BoundingKey:
    words = np.random.default_rng(seed).integers(0, 2**63, BoundingKey.WORDS)
    return BoundingKey.from_words([int(word) for word in words])


def salt_of(person: int, *, text: bool) -> int:
    """Returns the number that a person's id becomes."""
    if not text:
        return person
    return int(md5(name_of(person).encode(), usedforsecurity=False).hexdigest()[:15], 16)


def name_of(person: int) -> str:
    """Returns an id that is text."""
    return f"é {person}"


def number_by_hand(key: BoundingKey, salt: int, what: int, kind: int) -> int:
    """Returns the place of a thing in its person's circle, by the formula in words."""
    a, b, c, d, *polynomial, _, _ = key.coefficients
    mixed = (a * (salt % 2**30) + b * ((salt >> 30) % 2**31) + c * what + d * kind) % PRIME
    return int(sum(k * mixed**i for i, k in enumerate(reversed(polynomial))) % PRIME)


def as_counts(found: ExactCounts) -> dict[int, int]:
    assert (np.diff(found.cells) > 0).all()
    assert (found.values != 0).all()
    return dict(zip(found.cells.tolist(), found.values.tolist(), strict=True))
