"""Sums of any published trips, with how far they may be off."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.files.adds_up import PublishedSums
from hushway.families.od.files.check import read_universe
from hushway.families.od.files.learnt_sums import LearntSums, read_learnt, read_sums
from hushway.families.od.files.names import ESTIMATES, PARQUET
from hushway.families.od.files.rows import Rows, joined, read_parquet
from hushway.families.od.public.cells import ODCells
from hushway.privacy.certificate import Certificate
from hushway.privacy.events import LaplaceEvent
from hushway.release.questions.cells import AskedCells, Dimension, Variances, correlated

# Every cell of a table that learnt nothing is held in memory.
_MOST_CELLS: Final = 1 << 24


def ask_od(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> AskedCells:
    """Returns the trips of a release to be added up, as `Family.asked` asks."""
    universe, _ = read_universe(folder, certificate, facts)
    if (folder / ESTIMATES).is_file():
        return learnt_cells(read_learnt(folder, certificate, universe))
    rows = joined(read_parquet(folder / PARQUET, universe))
    sums = read_sums(folder, certificate, universe, learnt=False)
    if facts["threshold"] is not None:
        note = f"Flows measured below {facts['threshold']} are not published, and not in any sum."
        alone = correlated(rows.standard_errors)
        return replace(_asked(universe, rows.cells, rows.counts, alone, note), selected=True)
    return _measured_cells(universe, rows, sums, certificate)


def learnt_cells(sums: LearntSums) -> AskedCells:
    """Returns learnt trips."""
    return _asked(sums.universe, sums.cells, sums.counts, sums.variances)


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
    right = np.where(counts > 0, counts, -below)
    return replace(_asked(universe, cells, right, correlated(errors), note), noise_alone=True)


def _of_elements(element: IntArray, variance: FloatArray, group: IntArray, size: int) -> FloatArray:
    """Returns variances of sums that are made of whole elements of a published total.

    Args:
        element: The element of each cell.
        variance: The variance of each element.
        group: The sum that each cell is in, or -1.
        size: How many sums there are.

    Returns:
        Infinity where a sum is not made of whole elements.
    """
    inside = group >= 0
    parts = np.unique(group[inside] * len(variance) + element[inside])
    sums, found = np.divmod(parts, len(variance))
    cells = np.bincount(sums, np.bincount(element, minlength=len(variance))[found], minlength=size)
    whole = cells == np.bincount(group[inside], minlength=size)
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
