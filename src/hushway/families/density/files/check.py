"""What can be checked about the files of a density release without the protected data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.density.files.guard import MOST_CELLS, check_stated, check_table
from hushway.families.density.files.measured import read_measured_series
from hushway.families.density.files.published import (
    CSV,
    FILES,
    GEO,
    MEASURED_SITES,
    PARQUET,
    SERIES,
    describe,
)
from hushway.families.density.files.rows import fits_csv, read_density_parquet
from hushway.families.density.files.sites import read_measured_sites
from hushway.families.density.files.universe import check_pieces, read_universe
from hushway.families.density.mechanism.table import DensityTable
from hushway.families.density.public.cells import DensityUniverse
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.bounded import LIST_BYTES, read_plain
from hushway.release.finding import Notes
from hushway.release.published_file import check_files
from hushway.release.resource import Description
from hushway.release.stated import TERMS_HOLD, check_domain


@dataclass(frozen=True, kw_only=True)
class _Geography:
    """The public lists, and the clusters of the cover."""

    universe: DensityUniverse
    cluster: IntArray


def check_density(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks geography, counts, measurements and the other formats.

    Args:
        notes: Where the findings go.
        folder: The release.
        certificate: Its certificate.
        facts: What its data package says about the density.

    Returns:
        The description that the data package must give; None when the density cannot be read.
    """
    geography = notes.attempt("geography", lambda: _geography(folder, certificate, facts))
    if geography is None:
        return None
    table = notes.attempt("density", lambda: _table(folder, geography, facts))
    if table is None:
        return None
    notes.attempt("terms", lambda: _terms(certificate, table))
    notes.attempt("formats", lambda: _formats(folder, table))
    return describe(table)


def _geography(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[_Geography, str]:
    universe, cluster = read_universe(folder, sites=facts["towers"])
    check_domain(certificate, universe)
    check_pieces(universe)
    if universe.size > MOST_CELLS:
        raise ReleaseError(
            f"A release holds at most {MOST_CELLS:,} counts.",
            advice="Ask the publisher for a smaller release.",
        )
    return _Geography(universe=universe, cluster=cluster), (
        f"The public lists give the {len(universe.areas):,} areas and {universe.bins:,} bins of "
        "the certificate."
    )


def _table(
    folder: Path, geography: _Geography, facts: Mapping[str, Any]
) -> tuple[DensityTable, str]:
    universe, cluster = geography.universe, geography.cluster
    # The first check of the table asks for clusters without gaps; so many are there at most.
    clusters = len(np.unique(cluster))
    counts, errors = read_density_parquet(folder / PARQUET, universe)
    sites = None
    if facts["sites_measured"]:
        sites = read_measured_sites(
            read_plain(folder / MEASURED_SITES, LIST_BYTES), universe.site_count
        )
    table = DensityTable(
        universe=universe,
        counts=counts,
        standard_error=errors,
        cluster=cluster,
        quanta=facts["quanta"],
        measured_series=read_measured_series(folder / SERIES, clusters, universe.bins),
        measured_sites=sites,
        measured_total=facts["measured_total"],
        noise=facts["noise"],
        diagnostics=plain("diagnostics of the fit", facts["fit"]),
    )
    check_table(table)
    return table, (
        "Every area has a count for every bin, never negative, and every cluster a measurement."
    )


def _terms(certificate: Certificate, table: DensityTable) -> tuple[bool, str]:
    check_stated(certificate, table)
    return True, TERMS_HOLD


def _formats(folder: Path, table: DensityTable) -> tuple[bool, str]:
    check_files(FILES, table, folder)
    if not fits_csv(table.universe):
        return True, f"{GEO} holds the same numbers as {PARQUET}."
    return True, f"{CSV} and {GEO} hold the same numbers as {PARQUET}."
