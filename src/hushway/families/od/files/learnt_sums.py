"""What sums of learnt trips are made of, and how far they may be off."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.files.adds_up import PublishedSums, read_effects
from hushway.families.od.files.features import read_features
from hushway.families.od.files.margins import read_margins
from hushway.families.od.files.names import ADDS_UP, ESTIMATES, FEATURES, MARGINS, PAIRS, PARQUET
from hushway.families.od.files.rows import joined, read_estimates, read_parquet
from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.public.cells import ODCells
from hushway.privacy.certificate import Certificate
from hushway.release.terms import PARAMETER
from hushway.release.untrusted.limits import LIST_BYTES, read_plain


@dataclass(frozen=True, kw_only=True, eq=False)
class LearntSums:
    """Cells with counts or estimates, and published totals of them.

    Attributes:
        universe: The public cells.
        cells: Ascending numbers of those that have a count or an estimate.
        counts: The published count of each.
        means: What is expected of each.
        variances_of_cells: The variance of each around that.
        effects: What their errors share.
        totals: The published totals, with errors.
        elements: The element of each cell in each of these.
    """

    universe: ODCells
    cells: IntArray
    counts: FloatArray
    means: FloatArray
    variances_of_cells: FloatArray
    effects: RandomEffects
    totals: tuple[PublishedSums, ...]
    elements: tuple[IntArray, ...]

    def variances(self, group: IntArray, size: int) -> FloatArray:
        """Returns the variance of sums, as `release.questions` asks."""
        # What is in no sum still belongs to its origin, destination, period and pair.
        sum_of = np.where(group < 0, size, group)
        found = self.effects.variances(
            self.universe, self.cells, self.variances_of_cells, sum_of, size + 1
        )[:size]
        # Counts are whole: so far are they from what is expected.
        found += np.bincount(sum_of, self.counts - self.means, minlength=size + 1)[:size] ** 2
        for total, element in zip(self.totals, self.elements, strict=True):
            variance = np.asarray(total.errors) ** 2
            found = np.minimum(found, of_one_element(element, variance, group, size))
        return found


def read_learnt(folder: Path, certificate: Certificate, universe: ODCells) -> LearntSums:
    """Reads what sums are made of from a release that learnt."""
    rows = joined(read_parquet(folder / PARQUET, universe))
    estimates = read_estimates(universe, folder / ESTIMATES)
    totals = read_sums(folder, certificate, universe, learnt=True)
    cells = np.union1d(rows.cells, estimates.cells)
    counts, means, own = (np.zeros(len(cells)) for _ in range(3))
    counts[np.searchsorted(cells, rows.cells)] = rows.counts
    at = np.searchsorted(cells, estimates.cells)
    means[at], own[at] = estimates.means, estimates.standard_errors**2
    return LearntSums(
        universe=universe,
        cells=cells,
        counts=counts,
        means=means,
        variances_of_cells=own,
        effects=read_effects(read_plain(folder / ADDS_UP, LIST_BYTES)),
        totals=totals,
        elements=tuple(total.feature.of(cells) for total in totals),
    )


def read_sums(
    folder: Path, certificate: Certificate, universe: ODCells, *, learnt: bool
) -> tuple[PublishedSums, ...]:
    """Reads the published sums, if the certificate names any."""
    if not certificate.terms.mechanism.parameters.get(PARAMETER):
        return ()
    features = read_features(read_plain(folder / FEATURES, LIST_BYTES), folder / PAIRS, universe)
    return read_margins(folder / MARGINS, features, learnt=learnt)


def of_one_element(
    element: IntArray, variance: FloatArray, group: IntArray, size: int
) -> FloatArray:
    """Returns variances of sums that are one whole element of a published total, or infinity."""
    inside = group >= 0
    sums, found = group[inside], element[inside]
    one = np.zeros(size, dtype=np.int64)
    one[sums] = found
    missed = np.bincount(sums, found != one[sums], minlength=size)
    whole = np.bincount(sums, minlength=size) == np.bincount(element, minlength=len(variance))[one]
    return np.where(whole & (missed == 0), variance[one], np.inf)
