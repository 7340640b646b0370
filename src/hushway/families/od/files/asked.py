"""Sums of any published trips, with how far they may be off."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.files.adds_up import PublishedSums, read_effects
from hushway.families.od.files.check import read_universe
from hushway.families.od.files.features import read_features
from hushway.families.od.files.margins import read_margins
from hushway.families.od.files.names import ADDS_UP, ESTIMATES, FEATURES, MARGINS, PAIRS, PARQUET
from hushway.families.od.files.rows import Rows, joined, read_estimates, read_parquet
from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.fit.table import Estimates
from hushway.families.od.public.cells import ODCells
from hushway.privacy.certificate import Certificate
from hushway.privacy.events import LaplaceEvent
from hushway.release.questions.cells import AskedCells, Dimension, Variances, correlated
from hushway.release.terms import PARAMETER
from hushway.release.untrusted.limits import LIST_BYTES, read_plain

# Every cell of a table that learnt nothing is held in memory.
_MOST_CELLS: Final = 1 << 24
# So many cells stand for those without an estimate.
_MOST_SPREAD: Final = 1 << 18
_GOLDEN: Final = 0.6180339887498949


def ask_od(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> AskedCells:
    """Returns the trips of a release to be added up, as `Family.asked` asks."""
    universe, _ = read_universe(folder, certificate, facts)
    rows = joined(read_parquet(folder / PARQUET, universe))
    learnt = (folder / ESTIMATES).is_file()
    sums = _sums(folder, certificate, universe, learnt=learnt)
    if learnt:
        effects = read_effects(read_plain(folder / ADDS_UP, LIST_BYTES))
        return learnt_cells(
            universe, rows, read_estimates(universe, folder / ESTIMATES), effects, sums
        )
    if facts["threshold"] is not None:
        note = f"Flows measured below {facts['threshold']} are not published, and not in any sum."
        return _asked(universe, rows.cells, rows.counts, correlated(rows.standard_errors), note)
    return _measured_cells(universe, rows, sums, certificate)


def _sums(
    folder: Path, certificate: Certificate, universe: ODCells, *, learnt: bool
) -> tuple[PublishedSums, ...]:
    if not certificate.terms.mechanism.parameters.get(PARAMETER):
        return ()
    features = read_features(read_plain(folder / FEATURES, LIST_BYTES), folder / PAIRS, universe)
    return read_margins(folder / MARGINS, features, learnt=learnt)


def learnt_cells(
    universe: ODCells,
    rows: Rows,
    estimates: Estimates,
    effects: RandomEffects,
    sums: Sequence[PublishedSums],
) -> AskedCells:
    """Returns learnt trips: variances are those of estimates and of what their errors share."""
    listed = np.union1d(rows.cells, estimates.cells)
    cells = np.union1d(listed, _spread(universe.size))
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

    elements = [(np.asarray(each.errors) ** 2, each.feature.of(cells)) for each in sums]

    def variances(group: IntArray, size: int) -> FloatArray:
        # What is in no sum still belongs to its origin, destination, period and pair.
        sum_of = np.where(group < 0, size, group)
        found = effects.variances(universe, cells, own, sum_of, size + 1)[:size]
        # Counts are whole: so far are they from what is expected.
        found += np.bincount(sum_of, counts - means, minlength=size + 1)[:size] ** 2
        # Published sums have errors of their own.
        told = np.full(size, np.inf)
        for variance, element in elements:
            told = np.minimum(told, _of_elements(element, variance, group, size, most=1))
        return np.where(np.isfinite(told), told, found)

    return _asked(universe, cells, counts, variances)


def _spread(size: int) -> IntArray:
    """Returns public cells, spread over all of them: every one if they are few."""
    steps = np.arange(min(size, _MOST_SPREAD), dtype=np.float64)
    # Multiples of the golden ratio follow no order of places and periods.
    return np.unique((steps * _GOLDEN % 1 * size if size > len(steps) else steps).astype(np.int64))


def _measured_cells(
    universe: ODCells, rows: Rows, sums: Sequence[PublishedSums], certificate: Certificate
) -> AskedCells:
    """Returns trips whose every cell was measured: noise is independent from cell to cell."""
    if universe.size > _MOST_CELLS:
        raise ReleaseError(
            f"The release has more than {_MOST_CELLS:,} cells: too many to add up here.",
            advice="Read its published sums: margins.csv.",
        )
    cells = np.arange(universe.size, dtype=np.int64)
    counts, errors = np.zeros(universe.size), np.full(universe.size, rows.standard_errors.max())
    counts[rows.cells], errors[rows.cells] = rows.counts, rows.standard_errors
    if not sums:
        return _unfitted(universe, cells, counts, errors, certificate)
    alone = correlated(errors)
    elements = [
        (np.full(each.feature.size, each.standard_error**2), each.feature.of(cells))
        for each in sums
    ]

    def variances(group: IntArray, size: int) -> FloatArray:
        found = alone(group, size)
        for variance, element in elements:
            found = np.minimum(found, _of_elements(element, variance, group, size))
        return found

    return _asked(universe, cells, counts, variances)


def _unfitted(
    universe: ODCells,
    cells: IntArray,
    counts: FloatArray,
    errors: FloatArray,
    certificate: Certificate,
) -> AskedCells:
    """Returns trips as they were measured, without what cutting off at 0 adds to sums.

    Discrete Laplace noise with P(Z = k) in proportion to a^|k| makes x + Z negative or 0 with a
    chance of which E max(0, -x - Z) is a / (1 - a) times as much, whatever x is. So every published
    0 stands for that much less than 0, and sums are right on average.
    """
    (event,) = certificate.terms.events
    assert isinstance(event, LaplaceEvent)  # noqa: S101  nothing else leaves cells unfitted
    below = 1 / np.expm1(1 / float(event.scale))
    note = "Noisy counts below 0 are published as 0; sums leave out what that adds on average."
    return _asked(universe, cells, np.where(counts > 0, counts, -below), correlated(errors), note)


def _of_elements(
    element: IntArray, variance: FloatArray, group: IntArray, size: int, most: int | None = None
) -> FloatArray:
    """Returns variances of sums that are made of whole elements of a published total.

    Args:
        element: The element of each cell.
        variance: The variance of each element.
        group: The sum that each cell is in, or -1.
        size: How many sums there are.
        most: The most elements of a sum.

    Returns:
        Infinity where a sum is not made of whole elements, or of too many.
    """
    inside = group >= 0
    parts = np.unique(group[inside] * len(variance) + element[inside])
    sums, found = np.divmod(parts, len(variance))
    cells = np.bincount(sums, np.bincount(element, minlength=len(variance))[found], minlength=size)
    whole = cells == np.bincount(group[inside], minlength=size)
    if most is not None:
        whole &= np.bincount(sums, minlength=size) <= most
    return np.where(whole, np.bincount(sums, variance[found], minlength=size), np.inf)


def _asked(
    universe: ODCells,
    cells: IntArray,
    counts: FloatArray | IntArray,
    variances: Variances,
    *notes: str,
) -> AskedCells:
    period, origin, destination = universe.decode(cells)
    places = universe.locations
    names = (
        [place.name for place in places.places],
        [place.zone for place in places.places],
        *(labels.values for labels in places.labels),
    )
    return AskedCells(
        counted="trips",
        dimensions={
            "origins": Dimension(ids=places.ids, position=origin, names=names),
            "destinations": Dimension(ids=places.ids, position=destination, names=names),
            "periods": Dimension(ids=universe.periods.labels, position=period),
        },
        counts=counts.astype(np.float64),
        variances=variances,
        notes=notes,
    )
