"""Sums of any published visits, with how far they may be off."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.density.files.published import PARQUET
from hushway.families.density.files.rows import read_density_parquet
from hushway.families.density.files.universe import read_universe
from hushway.families.density.public.visits import DensityUniverse
from hushway.privacy.certificate import Certificate
from hushway.release.questions.cells import AskedCells, Dimension, correlated
from hushway.release.terms import check_domain

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
