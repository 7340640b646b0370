"""What sums of learnt trips are made of, and how far they may be off."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray, unique_below
from hushway.families.od.files.adds_up import PublishedSums, read_effects
from hushway.families.od.files.features import read_features
from hushway.families.od.files.margins import read_margins
from hushway.families.od.files.names import ADDS_UP, ESTIMATES, FEATURES, MARGINS, PAIRS, PARQUET
from hushway.families.od.files.rows import joined, read_estimates, read_parquet
from hushway.families.od.fit.random_effects import RandomEffects, SharedErrors
from hushway.families.od.public.cells import ODCells
from hushway.numerics.compiled import compiled
from hushway.privacy.certificate import Certificate
from hushway.release.terms import PARAMETER
from hushway.release.untrusted.limits import LIST_BYTES, read_plain

# So many cells stand for those without an estimate.
_MOST_SPREAD: Final = 1 << 18
_GOLDEN: Final = 0.6180339887498949


@dataclass(frozen=True, kw_only=True, eq=False)
class LearntSums:
    """Cells with counts or estimates, and published totals of them.

    Attributes:
        universe: The public cells.
        cells: Ascending numbers of those that have a count or an estimate, and of some that stand
            for all others.
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

    @cached_property
    def shared(self) -> SharedErrors:
        """What tells the variance of any sum."""
        return self.effects.shared(self.universe, self.cells, self.variances_of_cells)

    def variances(self, group: IntArray, size: int) -> FloatArray:
        """Returns the variance of sums, as `release.questions` asks."""
        # What is in no sum still belongs to its origin, destination, period and pair.
        sum_of = np.where(group < 0, size, group)
        found = self.shared.variances(sum_of, size + 1)[:size]
        # Counts are whole: so far are they from what is expected.
        found += np.bincount(sum_of, self.counts - self.means, minlength=size + 1)[:size] ** 2
        # Published sums have errors of their own.
        told = np.full(size, np.inf)
        for total, element in zip(self.totals, self.elements, strict=True):
            variance = np.asarray(total.errors) ** 2
            told = np.minimum(told, of_one_element(element, variance, group, size))
        return np.where(np.isfinite(told), told, found)


def read_learnt(folder: Path, certificate: Certificate, universe: ODCells) -> LearntSums:
    """Reads what sums are made of from a release that learnt."""
    rows = joined(read_parquet(folder / PARQUET, universe))
    estimates = read_estimates(universe, folder / ESTIMATES)
    totals = read_sums(folder, certificate, universe, learnt=True)
    effects = read_effects(read_plain(folder / ADDS_UP, LIST_BYTES))
    listed, _ = unique_below(np.concatenate([rows.cells, estimates.cells]), universe.size)
    cells, _ = unique_below(np.concatenate([listed, _spread(universe.size)]), universe.size)
    counts, means = np.zeros(len(cells)), np.zeros(len(cells))
    counts[np.searchsorted(cells, rows.cells)] = rows.counts
    at = np.searchsorted(cells, estimates.cells)
    means[at] = estimates.means
    known = estimates.standard_errors**2
    unknown = (1 + effects.unlisted) * float(np.sum(rows.standard_errors**2)) - float(known.sum())
    # Cells without an estimate vary too: these stand for all of them.
    own = np.full(len(cells), max(unknown, 0.0) / max(1, len(cells) - len(listed)))
    own[np.searchsorted(cells, listed)] = 0.0
    own[at] = known
    return LearntSums(
        universe=universe,
        cells=cells,
        counts=counts,
        means=means,
        variances_of_cells=own,
        effects=effects,
        totals=totals,
        elements=tuple(total.feature.of(cells) for total in totals),
    )


def _spread(size: int) -> IntArray:
    """Returns public cells, spread over all of them: every one if they are few."""
    steps = np.arange(min(size, _MOST_SPREAD), dtype=np.float64)
    # Multiples of the golden ratio follow no order of places and periods.
    return np.unique((steps * _GOLDEN % 1 * size if size > len(steps) else steps).astype(np.int64))


def read_sums(
    folder: Path, certificate: Certificate, universe: ODCells, *, learnt: bool
) -> tuple[PublishedSums, ...]:
    """Reads the published sums, if the certificate names any."""
    if not certificate.terms.mechanism.parameters.get(PARAMETER):
        return ()
    features = read_features(read_plain(folder / FEATURES, LIST_BYTES), folder / PAIRS, universe)
    return read_margins(folder / MARGINS, features, learnt=learnt)


@compiled
def of_one_element(
    element: IntArray, variance: FloatArray, group: IntArray, size: int
) -> FloatArray:
    """Returns variances of sums that are one whole element of a published total, or infinity."""
    several = len(variance)
    one, whole = np.full(size, several), np.zeros(several + 1, dtype=np.int64)
    held = np.zeros(size, dtype=np.int64)
    for cell in range(len(group)):
        whole[element[cell]] += 1
        if group[cell] >= 0:
            first = held[group[cell]] == 0
            held[group[cell]] += 1
            if first:
                one[group[cell]] = element[cell]
            elif one[group[cell]] != element[cell]:
                one[group[cell]] = several
    found = np.full(size, np.inf)
    for each in range(size):
        if held[each] > 0 and held[each] == whole[one[each]]:
            found[each] = variance[one[each]]
    return found
