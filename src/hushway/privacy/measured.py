"""What a curator hands out: noisy values that anyone may see."""

import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn
from weakref import ref

from hushway.errors import PrivacyError
from hushway.privacy.events import Event
from hushway.privacy.noise.lazy import LazyVector, Shown
from hushway.privacy.query import IntArray, Query, WeightedQuery


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A noisy value for every cell of a query.

    Attributes:
        query: What was counted.
        values: Noisy integers, negative ones included.
        variance: Variance of the noise in each, as a fraction.
        event: What it cost, and how.
    """

    query: Query | WeightedQuery
    values: IntArray
    variance: Fraction
    event: Event


# The lazy vectors know which cells are occupied, so they are kept where no attribute of a
# MeasuredSparse leads.
_VECTORS: "dict[ref[MeasuredSparse], LazyVector]" = {}


def _forget(gone: "ref[MeasuredSparse]") -> None:
    _VECTORS.pop(gone, None)


class MeasuredSparse:
    """One noisy value for every cell of a huge query, shown from the top down.

    Privacy:
        All of it was paid for when it was measured. Looking at it, at any threshold and as often as
        one likes, is post-processing: what is shown has the law of a dense draw.
    """

    __slots__ = ("__weakref__", "event", "query", "threshold", "variance")

    def __init__(
        self,
        *,
        query: Query,
        threshold: int,
        variance: Fraction,
        event: Event,
        vector: LazyVector,
    ) -> None:
        self.query = query
        self.threshold = threshold
        self.variance = variance
        self.event = event
        _VECTORS[ref(self, _forget)] = vector

    def reveal(self, threshold: int | None = None) -> Shown:
        """Returns all cells measured at or above a threshold, its own unless another is given.

        Raises:
            PrivacyError: Too many cells would show, or this is a forked copy that has not shown as
                much before the fork.
        """
        wanted = self.threshold if threshold is None else operator.index(threshold)
        return _VECTORS[ref(self)].reveal(wanted)

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(
            "A sparse measurement cannot be copied: its hidden part would be drawn twice.",
            advice="Reveal what is needed, then pass that on.",
        )
