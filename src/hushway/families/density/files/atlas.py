"""A density read again: as a page draws it, and to be added up."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.files.averages import average_days
from hushway.families.density.files.check import MOST_CELLS
from hushway.families.density.files.published import PARQUET
from hushway.families.density.files.rows import read_density_parquet
from hushway.families.density.files.universe import read_universe
from hushway.families.density.public.visits import DensityUniverse
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.atlas import Drawing, Numbers
from hushway.release.drawing.atlas_parts import outlined, shown_periods
from hushway.release.folder.guard import check_size
from hushway.release.questions.cells import AskedCells, Dimension, correlated
from hushway.release.terms import check_domain

COUNTED = "visits"


def draw_density(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> Drawing:
    """Returns what a density shows, as `Family.drawing` asks."""
    universe, _ = read_universe(folder, facts)
    check_domain(certificate, universe)
    check_size(universe.size, MOST_CELLS)
    counts, errors = read_density_parquet(folder / PARQUET, universe)
    periods = universe.averages or universe.periods
    if universe.averages is not None:
        counts, errors = average_days(universe, counts), average_days(universe, errors)
    return Drawing(
        counted=COUNTED,
        window=universe.counted,
        periods=shown_periods(periods),
        places=outlined(universe.areas),
        totals=Numbers(
            count=counts.ravel(),
            error=errors.ravel(),
            meaning="Published visits of an area in a period, "
            f"{universe.counted}. The error is what the count is "
            "expected to be off by.",
        ),
        notes=(
            known_words(counts, errors),
            "How far a sum over several areas or periods may be off is not published.",
        ),
    )


# A count is known if 1.96 of its errors are at most this share of it.
_KNOWN: Final = 0.5


def known_words(counts: FloatArray, errors: FloatArray) -> str:
    """Returns how much of what is published is known, and that it is no map if that is little."""
    sure = counts[1.96 * errors <= _KNOWN * counts].sum() / max(float(counts.sum()), 1e-9)
    words = f"{sure:.0%} of the visits are in counts that are known to within half of themselves."
    if sure < _KNOWN:
        words += (
            " This is no map of where people are: busy areas may be several times as busy as "
            "published, and what is known is sums over many areas or periods."
        )
    return words


# The share of variances that counts of an area, of a period, and all counts have in common.
_OF_AN_AREA: Final = 0.1
_OF_A_PERIOD: Final = 0.2
_OF_ALL: Final = 0.01


def ask_density(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> AskedCells:
    """Returns the visits of a release to be added up, as `Family.asked` asks."""
    universe, _ = read_universe(folder, facts)
    check_domain(certificate, universe)
    return visits_asked(universe, *read_density_parquet(folder / PARQUET, universe))


def visits_asked(universe: DensityUniverse, counts: FloatArray, errors: FloatArray) -> AskedCells:
    """Returns visits by (area, period) to be added up."""
    area, period = np.divmod(np.arange(universe.size, dtype=np.int64), universe.bins)
    names = [each.name for each in universe.areas.areas]
    return AskedCells(
        counted="visits",
        dimensions={
            "areas": Dimension(ids=universe.areas.ids, position=area, names=(names,)),
            "periods": Dimension(ids=universe.periods.labels, position=period),
        },
        counts=counts.reshape(-1),
        variances=correlated(
            errors.reshape(-1), (area, _OF_AN_AREA), (period, _OF_A_PERIOD), (None, _OF_ALL)
        ),
    )
