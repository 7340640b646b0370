"""Published sums over public features, exact in whole numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hushway.arrays import IntArray
from hushway.families.od.mechanism.table import ODTable
from hushway.families.od.public.features import Feature
from hushway.families.od.public.groups import groups_of


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedSums:
    """The sums of one feature as a release shows them.

    Attributes:
        feature: The public partition.
        counts: The sum of the published rows in each element.
        measured: The noisy count of each element.
        standard_error: Standard deviation of the noise in each measured count.
    """

    feature: Feature
    counts: IntArray
    measured: IntArray
    standard_error: float

    @property
    def residuals(self) -> IntArray:
        """How far each published sum is from what was measured."""
        return self.counts - self.measured


def published_sums(table: ODTable) -> tuple[PublishedSums, ...]:
    """Returns the sums over every feature that a table was fitted to."""
    features = [margin.feature for margin in table.margins]
    return tuple(
        PublishedSums(
            feature=margin.feature,
            counts=counts,
            measured=margin.measured,
            standard_error=float(margin.standard_error),
        )
        for margin, counts in zip(
            table.margins, sums_of_rows(features, [(table.cells, table.counts)]), strict=True
        )
    )


def sums_of_rows(
    features: Sequence[Feature], batches: Iterable[tuple[IntArray, IntArray]]
) -> tuple[IntArray, ...]:
    """Adds up rows over the elements of features.

    Args:
        features: The features.
        batches: Cells and counts of the rows, some at a time.
    """
    sums = tuple(np.zeros(feature.size, dtype=np.int64) for feature in features)
    for cells, counts in batches:
        for feature, total in zip(features, sums, strict=True):
            # Weights of bincount are doubles; this adds whole numbers.
            np.add.at(total, feature.of(cells), counts)
    return sums


def coarser_sums(finer: Feature, counts: IntArray, coarser: Feature) -> IntArray:
    """Adds up the sums of a feature over the elements of one that it refines."""
    inside = groups_of(finer.universe, [finer]).element_of(coarser)
    total = np.zeros(coarser.size, dtype=np.int64)
    np.add.at(total, inside, counts)
    return total
