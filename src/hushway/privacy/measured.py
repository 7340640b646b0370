"""Noisy measurements that a curator returns; anyone may see them."""

import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, NoReturn, TypeVar
from weakref import ref

from hushway.arrays import IntArray
from hushway.errors import PrivacyError
from hushway.privacy.events import Event
from hushway.privacy.noise.grouped import Grouping
from hushway.privacy.noise.lazy import LazyVector, Shown, ShownGroups
from hushway.privacy.query import AnyQuery, CutQuery, Query


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A noisy value for every cell of a query.

    Attributes:
        values: Noisy integers, negative ones included; or what was chosen for each series.
        variance: Variance of the noise in each, as a fraction; 0 for choices.
    """

    query: AnyQuery | CutQuery
    values: IntArray
    variance: Fraction
    event: Event


@dataclass(frozen=True, kw_only=True)
class KeptAnswer:
    """A noisy answer as far as it was looked at: what can be kept of it for others.

    Attributes:
        values: The noisy value of every cell that was shown; or what was chosen.
        cells: Ascending numbers of these cells; None if every cell was shown.
        thresholds: From which value on the cells of each group were shown; None likewise.
    """

    values: IntArray
    cells: IntArray | None = None
    thresholds: IntArray | None = None


# The lazy vectors know which cells are occupied, so they are kept where no attribute of a
# MeasuredSparse leads.
_VECTORS: "dict[ref[MeasuredSparse], LazyVector]" = {}


def _forget(gone: "ref[MeasuredSparse]") -> None:
    _VECTORS.pop(gone, None)


class MeasuredSparse:
    """One noisy value for every cell of a huge query, shown from the top down.

    Privacy:
        All of it was charged when it was measured. Looking at it, at any threshold and as often as
        one likes, is post-processing: what is shown has the law of a dense draw.

    Attributes:
        threshold: Where it is looked at unless another threshold is given; None if nowhere.
        groups: The public groups of cells that it can be looked at by; None if it has none.
    """

    __slots__ = ("__weakref__", "event", "groups", "query", "threshold", "variance")

    def __init__(
        self,
        *,
        query: Query,
        variance: Fraction,
        event: Event,
        vector: LazyVector,
        threshold: int | None = None,
        groups: Grouping | None = None,
    ) -> None:
        self.query = query
        self.threshold = threshold
        self.groups = groups
        self.variance = variance
        self.event = event
        _VECTORS[ref(self, _forget)] = vector

    def reveal(self, threshold: int | None = None) -> Shown:
        """Returns all cells measured at or above a threshold, its own unless another is given."""
        wanted = self.threshold if threshold is None else operator.index(threshold)
        if wanted is None:
            raise PrivacyError(
                "This measurement has no threshold of its own.",
                advice="Say from which value on cells are to be shown.",
            )
        return _VECTORS[ref(self)].reveal(wanted)

    def reveal_groups(self, thresholds: IntArray) -> ShownGroups:
        """Returns all cells measured at or above the threshold of their group."""
        if self.groups is None:
            raise PrivacyError(
                "This measurement has no groups.", advice="Give the groups when it is measured."
            )
        return _VECTORS[ref(self)].reveal_groups(thresholds)

    def kept(self) -> KeptAnswer:
        """Returns all that was shown so far; nothing new is drawn."""
        return KeptAnswer(**_VECTORS[ref(self)].seen())

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(
            "A sparse measurement cannot be copied: its hidden part would be drawn twice.",
            advice="Reveal what is needed, then pass that on.",
        )


T = TypeVar("T")


@dataclass(frozen=True)
class Internal(Generic[T]):
    """A value that saw exact data: for the steward's own eyes, refused by every writer of releases.

    Privacy:
        Utility reports and attack results depend on exact counts and carry no guarantee at all.
    """

    value: T
