"""Links as the files of a release: what is refused before, and what can be checked after."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hushway.families.links.files.published import FILES, MEASURED_CLASSES, describe
from hushway.families.links.files.roads import check_readable, read_universe
from hushway.families.links.files.rows import (
    PARQUET,
    REST,
    read_links_parquet,
    read_measured_classes,
    read_rest,
)
from hushway.families.links.fit.publication import Rest
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.mechanism.terms import (
    FAMILY,
    LinksMechanism,
    counts_of,
    stated_counts,
    stated_terms,
)
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import ClassZones, LinkUniverse
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.folder.finding import Notes
from hushway.release.folder.guard import are_rounded, check_amounts, check_size, is_column, refuse
from hushway.release.folder.published_file import Description, TableContents, check_files
from hushway.release.terms import (
    TERMS_HOLD,
    check_domain,
    check_noise,
    check_release_type,
    check_terms,
    refuse_numbers,
)
from hushway.release.untrusted.limits import LIST_BYTES, read_plain


def check_links(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks roads, counts, measurements and the other formats, as `Family.check` asks."""
    universe = notes.attempt("geography", lambda: _geography(folder, certificate))
    if universe is None:
        return None
    table = notes.attempt("links", lambda: _table(folder, universe, facts))
    if table is None:
        return None
    notes.holds("terms", lambda: check_stated(certificate, table), TERMS_HOLD)
    notes.holds(
        "formats",
        lambda: check_files(FILES, table, folder),
        f"The maps and the GMNS tables hold the same numbers as {PARQUET}.",
    )
    return describe(table)


def _geography(folder: Path, certificate: Certificate) -> tuple[LinkUniverse, str]:
    universe = read_universe(folder)
    check_domain(certificate, universe)
    check_size(universe.size, MOST_CELLS)
    return universe, (
        f"The public lists give the {universe.roads.links:,} links, {universe.roads.nodes:,} nodes "
        f"and the periods of the certificate ({len(universe.periods):,})."
    )


def refitting(
    folder: Path, certificate: Certificate, _facts: Mapping[str, Any]
) -> tuple[LinksMechanism, LinkUniverse]:
    """Returns the mechanism of a release and its public cells."""
    universe, _ = _geography(folder, certificate)
    return stated_counts(certificate.terms.mechanism), universe


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
        rest=read_rest(read_plain(folder / REST, LIST_BYTES), universe),
        class_totals=totals,
        noise=facts["noise"],
        diagnostics=plain("diagnostics of the fit", facts["fit"]),
    )
    check_table(table)
    return table, "Every row is a public link in a public period, once, with a count above 0."


# Beyond it a release would not fit into the memory of those who check it.
MOST_CELLS = 1 << 26

# Sums of this many persons, in hundredths, are whole numbers of 64 bits.
_MOST_PERSONS = 1e12
_MOST_MEASURED = 1 << 62
_SPEED_DIGITS = 1
_LIMITS: Any = {"most": _MOST_PERSONS, "digits": 2}


def check_table(table: LinkTable) -> None:
    """Makes sure that a table of links is made of published numbers."""
    _check_public(table.universe)
    _check_rows(table)
    numbers = (table.counts, table.standard_error)
    shape = (len(table.period),)
    check_amounts("The counts and errors", numbers, shape, above_zero=True, **_LIMITS)
    _check_speeds(table)
    _check_rest(table)
    _check_measured(table)
    if type(table.threshold) is not float or not math.isfinite(table.threshold):
        refuse("The threshold is not a number.")
    plain("diagnostics of the fit", table.diagnostics)


def _check_rows(table: LinkTable) -> None:
    period, link, universe = table.period, table.link, table.universe
    if not is_column(period, np.int64) or not is_column(link, np.int64, len(period)):
        refuse("The periods and links are not whole numbers, one for each row.")
    inside = (
        (period >= 0)
        & (period < len(universe.periods))
        & (link >= 0)
        & (link < universe.roads.links)
    )
    if not bool(inside.all()):
        refuse("A row is about a period or a link that is not public.")
    # Ascending without a repeated one: a public order, whatever the engine met first.
    if not bool(np.all(np.diff(period * universe.roads.links + link) > 0)):
        refuse("The rows are not in the order of periods and links, each once.")


def _check_speeds(table: LinkTable) -> None:
    speed, error = table.speed, table.speed_error
    if speed is None and error is None:
        return
    rows = len(table.period)
    if not (is_column(speed, np.float64, rows) and is_column(error, np.float64, rows)):
        refuse("The speeds and their errors are not numbers, one for each row.")
    columns: Any = np.stack([np.asarray(speed), np.asarray(error)])
    known = ~np.isnan(columns)
    if not np.array_equal(known[0], known[1]):
        refuse("A speed has no error, or an error no speed.")
    speeds = columns[known]
    if not bool(np.all(np.isfinite(speeds) & (speeds > 0))):
        refuse("A speed or its error is not a number above 0.")
    if not are_rounded(speeds, _SPEED_DIGITS):
        refuse("A speed or its error is not rounded to tenths.")


def _check_rest(table: LinkTable) -> None:
    rest = table.rest
    rows = len(table.universe.periods) * len(ClassZones(universe=table.universe).links[1])
    if type(rest) is not Rest:
        refuse("The sums of links that do not show are not those of zones, classes and periods.")
    numbers = (rest.counts, rest.standard_error, rest.km, rest.km_error)
    check_amounts("The numbers of links that do not show", numbers, (rows,), **_LIMITS)


def _check_measured(table: LinkTable) -> None:
    totals = table.class_totals
    if totals is None:
        return
    if not is_column(totals, np.int64, ClassZones(universe=table.universe).size):
        refuse("What was measured is not whole numbers, one for each zone, class and period.")
    if not bool(np.all((totals > -_MOST_MEASURED) & (totals < _MOST_MEASURED))):
        refuse("What was measured is too large to be added up.")


def _check_public(universe: LinkUniverse) -> None:
    # The very classes: a subclass might carry more than what is public.
    if (
        type(universe) is not LinkUniverse
        or type(universe.roads) is not RoadNetwork
        or type(universe.periods) is not Periods
    ):
        refuse("The roads and periods of the table are not public ones.")
    if universe.size > MOST_CELLS:
        refuse(f"A release holds at most {MOST_CELLS:,} counts.")
    named = type(universe.zones) is tuple and all(type(name) is str for name in universe.zones)
    if not named or not is_column(universe.zone, np.int64) or int(universe.zone.min()) < 0:
        refuse("The zones are not numbers from 0 with names.")


_ROUNDED = 0.01


def check_stated(certificate: Certificate, table: LinkTable) -> None:
    """Makes sure that a certificate states the terms of a table of links.

    Privacy:
        Every measurement in the release was announced, for as many items of a unit as all the
        others, and what the certificate says was measured is in the release.
    """
    check_release_type(certificate, FAMILY)
    check_domain(certificate, table.universe)
    check_terms(certificate, stated_terms(certificate, table.universe))
    check_noise(certificate.terms, table.noise)
    mechanism = counts_of(stated_counts(certificate.terms.mechanism))
    stated = (
        mechanism.publish_above_se,
        mechanism.spends.classes is not None,
        mechanism.spends.speeds is not None,
    )
    held = (table.threshold, table.class_totals is not None, table.speed is not None)
    # Counts and errors are rounded after they were compared.
    least = table.threshold * (table.standard_error - _ROUNDED) - _ROUNDED
    if stated != held or bool(np.any(table.counts < least)):
        raise refuse_numbers("rows and measurements")


class LinksContents(TableContents[LinkTable]):
    """A table of links, ready to be written."""

    files = FILES
    describe = staticmethod(describe)

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the table is one and belongs to the certificate."""
        check_table(self.table)
        check_stated(certificate, self.table)
        check_readable(self.table.universe)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns a map of the roads with the published counts, and their noise, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.links.files.picture import draw_links_picture

        return draw_links_picture(self.table, certificate)
