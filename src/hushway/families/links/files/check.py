"""What can be checked about the files of a release of links without the protected data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hushway.errors import ReleaseError
from hushway.families.links.files.guard import MOST_CELLS, check_stated, check_table
from hushway.families.links.files.published import FILES, MEASURED_CLASSES, describe
from hushway.families.links.files.rows import PARQUET, read_links_parquet, read_measured_classes
from hushway.families.links.files.universe import read_universe
from hushway.families.links.mechanism.table import LinkTable
from hushway.families.links.public.universe import LinkUniverse
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.bounded import LIST_BYTES, read_plain
from hushway.release.finding import Notes
from hushway.release.published_file import check_files
from hushway.release.resource import Description
from hushway.release.stated import TERMS_HOLD, check_domain


def check_links(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks roads, counts, measurements and the other formats.

    Args:
        notes: Where the findings go.
        folder: The release.
        certificate: Its certificate.
        facts: What its data package says about the links.

    Returns:
        The description that the data package must give; None when the links cannot be read.
    """
    universe = notes.attempt("geography", lambda: _geography(folder, certificate))
    if universe is None:
        return None
    table = notes.attempt("links", lambda: _table(folder, universe, facts))
    if table is None:
        return None
    notes.attempt("terms", lambda: _terms(certificate, table))
    notes.attempt("formats", lambda: _formats(folder, table))
    return describe(table)


def _geography(folder: Path, certificate: Certificate) -> tuple[LinkUniverse, str]:
    universe = read_universe(folder)
    check_domain(certificate, universe)
    if universe.size > MOST_CELLS:
        raise ReleaseError(
            f"A release holds at most {MOST_CELLS:,} counts.",
            advice="Ask the publisher for a smaller release.",
        )
    return universe, (
        f"The public lists give the {universe.roads.links:,} links, {universe.roads.nodes:,} nodes "
        f"and the periods of the certificate ({len(universe.periods):,})."
    )


def _table(folder: Path, universe: LinkUniverse, facts: Mapping[str, Any]) -> tuple[LinkTable, str]:
    rows = read_links_parquet(folder / PARQUET, universe, speeds=facts["speeds"])
    totals = None
    if facts["classes_measured"]:
        totals = read_measured_classes(read_plain(folder / MEASURED_CLASSES, LIST_BYTES), universe)
    table = LinkTable(
        universe=universe,
        period=rows.period,
        link=rows.link,
        counts=rows.counts,
        standard_error=rows.standard_error,
        speed=rows.speed,
        speed_error=rows.speed_error,
        threshold=facts["threshold"],
        class_totals=totals,
        noise=facts["noise"],
        diagnostics=plain("diagnostics of the fit", facts["fit"]),
    )
    check_table(table)
    return table, "Every row is a public link in a public period, once, with a count above 0."


def _terms(certificate: Certificate, table: LinkTable) -> tuple[bool, str]:
    check_stated(certificate, table)
    return True, TERMS_HOLD


def _formats(folder: Path, table: LinkTable) -> tuple[bool, str]:
    check_files(FILES, table, folder)
    return True, f"The maps and the GMNS tables hold the same numbers as {PARQUET}."
