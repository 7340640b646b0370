"""Published numbers that are added up by their labels, and how far sums of them may be off."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import ReleaseError

# Given the sum that each number is in, or -1, and how many sums there are: the variance of each.
Variances = Callable[[IntArray, int], FloatArray]
# What is asked for: labels by dimension.
Where = Mapping[str, str | Sequence[str]]

_NEAR: Final = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class Dimension:
    """What numbers are told apart by, such as origins.

    Attributes:
        ids: What the release calls each origin.
        position: The origin of each number.
        names: Further public labels, one of each origin: names, zones.
        unasked: The only origin that is taken if none is asked for; None for all of them.
        rest: Ids of what is left over here, which is something else in every release.
    """

    ids: Sequence[str]
    position: IntArray
    names: Sequence[Sequence[str]] = ()
    unasked: int | None = None
    rest: Sequence[str] = ()

    def having(self, text: str) -> BoolArray:
        """Says which have a label: an id, or else a name; * stands for any letters."""
        for labels in (self.ids, *self.names):
            found = np.array([fnmatchcase(label, text) or label == text for label in labels])
            if found.any():
                return found
        near = get_close_matches(text, [*self.ids, *(n for each in self.names for n in each)])
        shown = near or [*self.ids[:_NEAR]]
        raise ReleaseError(
            f"The release has no {text!r} there.",
            advice=f"Give an id, a name or a zone of it, such as {', '.join(shown)}.",
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class AskedCells:
    """The numbers of a release, to be added up.

    Attributes:
        counted: What is counted, such as "trips".
        dimensions: What numbers are told apart by.
        counts: What each adds to a sum.
        variances: How far sums may be off.
        notes: What readers of sums must know, one sentence each.
        noise_alone: Whether errors are nothing but noise: no fit that expects the same of a place
            in every release of a series.
        selected: Whether numbers that are not sure enough are left out, so that which ones are
            there is noise itself.
        learnt: Whether the release was fitted with what other steps of its series say.
    """

    counted: str
    dimensions: Mapping[str, Dimension]
    counts: FloatArray
    variances: Variances
    notes: Sequence[str] = ()
    noise_alone: bool = False
    selected: bool = False
    learnt: bool = False

    def dimension(self, name: str) -> Dimension:
        """Returns a dimension.

        Raises:
            ReleaseError: There is none of this name.
        """
        if name not in self.dimensions:
            raise ReleaseError(
                f"The release does not tell {name!r} apart.",
                advice=f"Ask by: {', '.join(self.dimensions)}.",
            )
        return self.dimensions[name]

    def labels(self, name: str, where: Where) -> BoolArray:
        """Says which labels of a dimension are asked for."""
        dimension = self.dimension(name)
        if name in where:
            asked = where[name]
            texts = [asked] if isinstance(asked, str) else asked
            return np.asarray(np.any([dimension.having(text) for text in texts], axis=0))
        found = np.full(len(dimension.ids), dimension.unasked is None)
        if dimension.unasked is not None:
            found[dimension.unasked] = True
        return found

    def shared_with(self, other: "AskedCells") -> "AskedCells":
        """Returns only what another release publishes, too."""
        there = set(other.labelled())
        kept = np.array([each in there for each in self.labelled()], dtype=np.bool_)

        def variances(group: IntArray, size: int) -> FloatArray:
            return self.variances(np.where(kept, group, -1), size)

        return replace(self, counts=np.where(kept, self.counts, 0.0), variances=variances)

    def labelled(self) -> Iterator[tuple[str, ...]]:
        """Yields the labels of each number."""
        each = self.dimensions.values()
        columns = [[one.ids[i] for i in one.position.tolist()] for one in each]
        return zip(*columns, strict=True)

    def chosen(self, where: Where) -> BoolArray:
        """Says which numbers are asked for."""
        for name in where:
            self.dimension(name)
        found = np.ones(len(self.counts), dtype=np.bool_)
        for name, dimension in self.dimensions.items():
            found &= self.labels(name, where)[dimension.position]
        return found


def correlated(errors: FloatArray, *together: tuple[IntArray | None, float]) -> Variances:
    """Returns the variances of sums of numbers whose errors go together in part.

    Args:
        errors: The standard error of each number.
        together: A share of every variance that numbers of one group have in common, with the
            group of each; None if all numbers are one group.
    """
    alone = 1 - sum(share for _, share in together)

    def variances(group: IntArray, size: int) -> FloatArray:
        inside = group >= 0
        sums, error = group[inside], errors[inside]
        found = alone * np.bincount(sums, error**2, minlength=size)
        for keys, share in together:
            key = np.zeros_like(sums) if keys is None else keys[inside]
            found += share * _squares(sums, key, error, size)
        return np.asarray(found)

    return variances


def _squares(sums: IntArray, key: IntArray, error: FloatArray, size: int) -> FloatArray:
    """Adds up the squares of what errors of each sum and key are together."""
    keys = int(key.max(initial=0)) + 1
    parts, part = np.unique(sums * keys + key, return_inverse=True)
    together = np.bincount(part, error, minlength=len(parts))
    return np.bincount(parts // keys, together**2, minlength=size).astype(np.float64)
