"""Reads a published OD table back, by those who work with it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.od.files.check import read_universe
from hushway.families.od.files.published import PARQUET
from hushway.families.od.files.rows import read_parquet
from hushway.families.od.public.cells import ODCells
from hushway.families.verify import read_certificate, read_facts, verify


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedTrips:
    """The numbers of an OD release.

    Attributes:
        universe: The public cells.
        cells: Numbers of the cells that have a row, ascending. A cell without one is published as
            0, or was measured below a threshold.
        counts: The published trips of each, over all days that its period is counted over.
    """

    universe: ODCells
    cells: IntArray
    counts: IntArray


def read_od_table(folder: Path) -> PublishedTrips:
    """Reads the table of an OD release, dense, above a threshold or without zeros.

    Privacy:
        Reads a published release and nothing else: it costs nothing.

    Args:
        folder: A release folder of the family od, private or stamped NOT PRIVATE.

    Raises:
        ReleaseError: There is no release, it does not verify, or it is of another family.
    """
    if not verify(folder).intact:
        raise ReleaseError(
            f"The release {folder.name} is not as it was written.",
            advice="See what is wrong with: hushway verify RELEASE",
        )
    certificate = read_certificate(folder)
    if certificate.terms.family != "od":
        raise ReleaseError(
            f"The release {folder.name} is of the family {certificate.terms.family!r}; one of "
            "OD tables was expected.",
            advice="Give the folder of a release of the family od.",
        )
    facts = read_facts(folder)
    universe, _ = read_universe(folder, certificate, facts)
    parts = list(read_parquet(folder / PARQUET, universe))
    none = np.zeros(0, dtype=np.int64)
    return PublishedTrips(
        universe=universe,
        cells=np.concatenate([none, *(part.cells for part in parts)]),
        counts=np.concatenate([none, *(part.counts for part in parts)]),
    )
