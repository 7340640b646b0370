"""Features: public partitions of the OD cells whose counts are measured beside the cells.

A feature puts a cell (period, origin, destination) into an element by a label of its pair of places
and a label of its period; either may be missing. The five features of the CBDP paper have this form
(Fioretto, Lee and Van Hentenryck 2018, section 9), and so has any column that a user gives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import Int32Array, IntArray
from hushway.errors import GeographyError
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Labels, PairEnds, labels_of_codes, renumbered
from hushway.privacy.public_facts import digest_of, public_facts


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class Feature:
    """A public partition of the cells. A `hushway.privacy.query.Partition`.

    Elements are numbered (period class, pair class), the pair class running faster; every element
    has cells.

    Attributes:
        title: What it is called in plans, such as "zones".
        pairs: What counts of a pair of places; None if all pairs are alike.
        periods: What counts of a period; None if all periods are alike.
    """

    title: str
    universe: ODCells
    pairs: Labels | None
    periods: Labels | None

    def __post_init__(self) -> None:
        wrong = (
            self.pairs is not None and len(self.pairs.codes) != self.universe.pairs,
            self.periods is not None and len(self.periods.codes) != len(self.universe.periods),
        )
        if any(wrong):
            raise GeographyError(
                f"The published total {self.title!r} does not label these places and periods.",
                advice="Build the published total from the universe that it is used with.",
            )

    @property
    def name(self) -> str:
        """What one element stands for."""
        parts = [labels.column for labels in (self.periods, self.pairs) if labels is not None]
        return f"trips by ({', '.join(parts)})" if parts else "all trips"

    @property
    def pair_classes(self) -> int:
        """Number of classes of pairs."""
        return 1 if self.pairs is None else len(self.pairs)

    @property
    def period_classes(self) -> int:
        """Number of classes of periods."""
        return 1 if self.periods is None else len(self.periods)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.period_classes * self.pair_classes

    @cached_property
    def digest(self) -> str:
        """A digest of the public facts that the elements are made of."""
        facts: dict[str, object] = {"universe": self.universe.digest}
        for part, labels in (("pairs", self.pairs), ("periods", self.periods)):
            if labels is not None:
                codes = sha256(labels.codes.astype("<i4").tobytes()).hexdigest()
                facts[part] = [labels.column, list(labels.names), codes]
        return digest_of(facts)

    def of(self, cells: IntArray) -> IntArray:
        """Returns the element of each cell."""
        period, pair = np.divmod(cells, self.universe.pairs)
        element = np.zeros_like(cells)
        if self.periods is not None:
            element += self.periods.codes[period]
        if self.pairs is not None:
            element *= len(self.pairs)
            element += self.pairs.codes[pair]
        return element

    def labels(self, element: int) -> tuple[str, str]:
        """Returns the period label and the pair label of an element; "" where all are alike."""
        period, pair = divmod(element, self.pair_classes)
        return (
            "" if self.periods is None else self.periods.names[period],
            "" if self.pairs is None else self.pairs.names[pair],
        )


def total_feature(cells: ODCells) -> Feature:
    """Returns the feature with one element: all trips."""
    return Feature(title="total", universe=cells, pairs=None, periods=None)


def period_feature(cells: ODCells) -> Feature:
    """Returns the trips of each period."""
    return Feature(title="period", universe=cells, pairs=None, periods=every_period(cells))


ORIGINS: Final = "origins"
DESTINATIONS: Final = "destinations"


def origins_feature(cells: ODCells) -> Feature:
    """Returns the trips that start at each place, in each period."""
    labels = place_pair_labels(cells, "place", cells.locations.ids, side="origin")
    return pair_feature(cells, ORIGINS, labels)


def destinations_feature(cells: ODCells) -> Feature:
    """Returns the trips that end at each place, in each period."""
    labels = place_pair_labels(cells, "place", cells.locations.ids, side="destination")
    return pair_feature(cells, DESTINATIONS, labels)


def pair_feature(cells: ODCells, title: str, pairs: Labels, *, by_period: bool = True) -> Feature:
    """Returns the trips of each class of pairs, in each period or over all of them."""
    periods = every_period(cells) if by_period else None
    return Feature(title=title, universe=cells, pairs=pairs, periods=periods)


def refuse_idle(features: Sequence[Feature]) -> None:
    """Refuses features that would cost budget and tell nothing that others do not."""
    seen: dict[tuple[bytes, bytes], str] = {}
    for feature in features:
        if feature.universe.size == 1:
            raise GeographyError(
                "The table has a single cell, so published totals tell nothing more.",
                advice='Use mechanism "laplace", or give more places or periods.',
            )
        if feature.size == feature.universe.size:
            raise GeographyError(
                f"Every element of the published total {feature.title!r} is a single cell.",
                advice="Leave it out: the cells are always measured.",
            )
        if feature.pairs is not None and len(feature.pairs) == 1:
            raise GeographyError(
                f"The published total {feature.title!r} gives all pairs of places the same label.",
                advice='Leave it out: "total" and "period" count all pairs together.',
            )
        shape = _partition_of(feature)
        if shape in seen:
            raise GeographyError(
                f"The published totals {seen[shape]!r} and {feature.title!r} put the same cells "
                "together.",
                advice="Leave one of them out: the budget would be split for nothing.",
            )
        seen[shape] = feature.title


def without_idle(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Returns the features that tell something which the cells and earlier features do not."""
    kept: dict[tuple[bytes, bytes], Feature] = {}
    for feature in features:
        if feature.size < feature.universe.size:
            kept.setdefault(_partition_of(feature), feature)
    return tuple(kept.values())


def _partition_of(feature: Feature) -> tuple[bytes, bytes]:
    """Returns the partition itself: codes renumbered in the order of last appearance."""
    parts = []
    for labels in (feature.pairs, feature.periods):
        if labels is None or len(labels) == 1:
            parts.append(b"")
            continue
        last = np.empty(len(labels), dtype=np.int64)
        # Of several things of a class the last one stays.
        last[labels.codes] = np.arange(len(labels.codes))
        order = np.empty(len(labels), dtype=np.int32)
        order[np.argsort(last)] = np.arange(len(labels), dtype=np.int32)
        parts.append(sha256(order[labels.codes].tobytes()).digest())
    return parts[0], parts[1]


Side = Literal["origin", "destination", "both"]

_SHOWN = 5


def place_pair_labels(
    cells: ODCells, column: str, labels: Sequence[str], *, side: Side = "both"
) -> Labels:
    """Returns what pairs of places are called by a label of their places, such as zone to zone."""
    _refuse_unlabelled(cells, column, labels)
    names = sorted(set(labels))
    index = {name: code for code, name in enumerate(names)}
    of_place = np.array([index[label] for label in labels], dtype=np.int32)
    alike = np.zeros_like(of_place)
    origin, destination = {
        "origin": (of_place, alike),
        "destination": (alike, of_place),
        "both": (of_place, of_place),
    }[side]
    width = int(destination.max()) + 1
    every = origin[:, None] * np.int32(width) + destination
    # Only the routes that occur get a name: there may be as many routes as pairs.
    classes = int(origin.max() + 1) * width
    present, codes = renumbered(pairs_of_matrix(cells, every), classes)
    between = np.full(classes, -1, dtype=np.int32)
    between[present] = np.arange(len(present), dtype=np.int32)
    return Labels(
        column=f"{column} pair" if side == "both" else f"{side} {column}",
        codes=codes,
        names=tuple(
            f"{names[i // width]} → {names[i % width]}" if side == "both" else names[i]
            for i in present
        ),
        ends=PairEnds(origin=origin, destination=destination, between=between.reshape(-1, width)),
    )


def pair_table_labels(
    cells: ODCells, column: str, matrix: Int32Array, names: Sequence[str]
) -> Labels:
    """Returns the labels of pairs given as a matrix (origin, destination) of codes; -1 is none."""
    places = len(cells.locations)
    if matrix.shape != (places, places) or matrix.max() >= len(names):
        raise GeographyError(
            f"The table of pairs does not say which {column} these places have.",
            advice="Read the table of pairs with the same list of places.",
        )
    codes = pairs_of_matrix(cells, matrix)
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise GeographyError(
            f"{len(missing):,} pairs of places have no {column}: {_some_pairs(cells, missing)}.",
            advice=f"Give every pair that trips may make a {column}.",
        )
    return labels_of_codes(column, codes, names)


def every_period(cells: ODCells) -> Labels:
    """Returns each period as a class of its own."""
    names = cells.periods.labels
    return Labels(column="period", codes=np.arange(len(names), dtype=np.int32), names=names)


def pairs_of_matrix(cells: ODCells, matrix: NDArray[Any]) -> NDArray[Any]:
    """Returns the entries of a matrix (origin, destination), in the order of pair numbers."""
    flat = np.ascontiguousarray(matrix).reshape(-1)
    if cells.include_intrazonal:
        return flat
    # After the first entry of the diagonal the next ones stand at the end of rows one longer.
    places = len(matrix)
    return flat[1:].reshape(places - 1, places + 1)[:, :-1].reshape(-1)


def _refuse_unlabelled(cells: ODCells, column: str, labels: Sequence[str]) -> None:
    bare = [key for key, label in zip(cells.locations.ids, labels, strict=True) if not label]
    if bare:
        raise GeographyError(
            f"{len(bare):,} places have no {column}: {', '.join(map(repr, bare[:_SHOWN]))}"
            f"{' and more' if len(bare) > _SHOWN else ''}.",
            advice=f"Give every place a {column}, or leave the published total out.",
        )


def _some_pairs(cells: ODCells, pairs: IntArray) -> str:
    # Pairs of the first period are numbered like cells.
    _, origin, destination = cells.decode(pairs[:_SHOWN])
    ids = cells.locations.ids
    some = [f"{ids[o]!r} to {ids[d]!r}" for o, d in zip(origin, destination, strict=True)]
    return ", ".join(some) + (" and more" if len(pairs) > _SHOWN else "")
