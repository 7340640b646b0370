"""A density as the files of a release: what is refused before, and what can be checked after."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import GeographyError
from hushway.families.density.files.averages import averaged
from hushway.families.density.files.published import (
    FILES,
    MEASURED_SITES,
    PARQUET,
    SERIES,
    describe,
)
from hushway.families.density.files.rows import read_density_parquet, read_measured_series
from hushway.families.density.files.universe import (
    check_pieces,
    check_readable,
    read_measured_sites,
    read_universe,
)
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.mechanism.terms import (
    FAMILY,
    DensityMechanism,
    stated_series,
    stated_terms,
)
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import ClusterSeries, DensityUniverse, Sites
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.folder.finding import Notes
from hushway.release.folder.guard import check_amounts, check_size, refuse
from hushway.release.folder.published_file import (
    Description,
    TableContents,
    check_files,
    compared_files,
)
from hushway.release.terms import (
    TERMS_HOLD,
    check_domain,
    check_noise,
    check_release_type,
    check_terms,
    refuse_numbers,
)
from hushway.release.untrusted.limits import LIST_BYTES, read_plain


def check_density(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks geography, counts, measurements and the other formats, as `Family.check` asks."""
    geography = notes.attempt("geography", lambda: _geography(folder, certificate, facts))
    if geography is None:
        return None
    table = notes.attempt("density", lambda: _table(folder, *geography, facts))
    if table is None:
        return None
    notes.holds("terms", lambda: check_stated(certificate, table), TERMS_HOLD)
    notes.holds(
        "formats",
        lambda: check_files(FILES, table, folder),
        f"These agree with {PARQUET} and the public lists: {compared_files(FILES, table)}.",
    )
    return describe(table)


def _geography(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[tuple[DensityUniverse, IntArray], str]:
    universe, cluster = read_universe(folder, facts)
    check_domain(certificate, universe)
    check_pieces(universe)
    check_size(universe.size, MOST_CELLS)
    return (universe, cluster), (
        f"The public lists give the {len(universe.areas):,} areas and {universe.bins:,} periods of "
        "the certificate."
    )


def refitting(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[DensityMechanism, DensityUniverse]:
    """Returns the mechanism of a release and its public cells."""
    (universe, _), _ = _geography(folder, certificate, facts)
    return stated_series(certificate.terms.mechanism), universe


def _table(
    folder: Path, universe: DensityUniverse, cluster: IntArray, facts: Mapping[str, Any]
) -> tuple[DensityTable, str]:
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
        measured_activity=_listed(facts["measured_activity"]),
        measured_total=facts["measured_total"],
        measured_left_out=_listed(facts["measured_left_out"]),
        noise=facts["noise"],
        diagnostics=plain("diagnostics of the fit", facts["fit"]),
    )
    check_table(table)
    return table, (
        "Every area has a count for every period, never negative, and every cluster a measurement."
    )


def _listed(values: list[int] | None) -> IntArray | None:
    return None if values is None else np.array(values, dtype=np.int64)


# Beyond it a release would not fit into the memory of those who check it.
MOST_CELLS = 1 << 27

# Sums of this many visits, in hundredths or in parts, are whole numbers of 64 bits.
_MOST_VISITS = 1e12
_MOST_PARTS = 1 << 62
_DIGITS = 2


def check_table(table: DensityTable) -> None:
    """Makes sure that a density is made of published numbers."""
    _check_public(table.universe)
    shape = (len(table.universe.areas), table.universe.bins)
    limits: Any = {"most": _MOST_VISITS, "digits": _DIGITS}
    check_amounts("The counts", [table.counts], shape, **limits)
    # An error of 0 would say that no noise was added.
    check_amounts("The standard errors", [table.standard_error], shape, above_zero=True, **limits)
    _check_measured(table)
    plain("diagnostics of the fit", table.diagnostics)


def _check_measured(table: DensityTable) -> None:
    universe = table.universe
    _check_whole(table.measured_series, (_clusters(table), universe.bins))
    sites, activity = table.measured_sites, table.measured_activity
    # How many circles and classes there are is compared with the certificate.
    if sites is not None:
        _check_whole(sites, (len(sites), universe.site_count))
    for numbers in (activity, table.measured_left_out):
        if numbers is not None:
            _check_whole(numbers, (len(numbers),))
    total = table.measured_total
    if total is not None and (type(total) is not int or abs(total) >= _MOST_PARTS):
        refuse("The measured number of all visits is not a whole number.")


def _check_whole(array: IntArray, shape: tuple[int, ...]) -> None:
    if not _is_array(array, np.int64) or array.shape != shape:
        refuse("What was measured is not whole numbers, one for each cluster and period or site.")
    if not bool(np.all((array > -_MOST_PARTS) & (array < _MOST_PARTS))):
        refuse("What was measured is too large to be added up.")


def _clusters(table: DensityTable) -> int:
    """Returns the number of clusters, once it is sure that they are numbered as they must be."""
    if not _is_array(table.cluster, np.int64) or type(table.quanta) is not int:
        refuse("The clusters or the parts of a visit are not whole numbers.")
    if not len(table.cluster) or int(table.cluster.min()) < 0:
        refuse("A cluster is not numbered from 0.")
    try:
        series = ClusterSeries(universe=table.universe, cluster=table.cluster, quanta=table.quanta)
        # Not every number of quanta is allowed, which shows when they are shared out.
        shared_out = series.parts
    except GeographyError as problem:
        refuse(str(problem))
    return int(shared_out[0].max()) + 1


def _check_public(universe: DensityUniverse) -> None:
    # The very classes: a subclass might carry more than what is public.
    _check_classes((universe, DensityUniverse))
    areas, cover, sites = universe.areas, universe.cover, universe.sites
    _check_classes((areas, Areas), (cover, Cover), (universe.periods, Periods))
    _check_classes((cover.pieces, Pieces), *((area, Area) for area in areas.areas))
    if sites is not None:
        _check_classes((sites, Sites))
        _check_classes((sites.locations, Locations))
    if universe.size > MOST_CELLS:
        refuse(f"A release holds at most {MOST_CELLS:,} counts.")


def _check_classes(*parts: tuple[object, type]) -> None:
    if any(type(part) is not kind for part, kind in parts):
        refuse("The areas, periods, sites and cover of the density are not public ones.")


def _is_array(array: object, kind: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == kind


def check_stated(certificate: Certificate, table: DensityTable) -> None:
    """Makes sure that a certificate states the terms of a density.

    Privacy:
        Every measurement in the release was announced, in cells and parts that it has, and what the
        certificate says was measured is in the release.
    """
    check_release_type(certificate, FAMILY)
    check_domain(certificate, table.universe)
    check_terms(certificate, stated_terms(certificate, table.universe, table.cluster))
    check_noise(certificate.terms, table.noise)
    mechanism = _series_of(stated_series(certificate.terms.mechanism), table)
    limits, spends = mechanism.limits, mechanism.spends
    stated = (
        mechanism.quanta,
        0 if spends.histogram is None else mechanism.circles,
        0 if spends.activity is None else len(limits.activity),
        spends.total is not None,
        0 if spends.left_out is None else table.universe.periods.parts,
    )
    held = (
        table.quanta,
        0 if table.measured_sites is None else len(table.measured_sites),
        0 if table.measured_activity is None else len(table.measured_activity),
        table.measured_total is not None,
        0 if table.measured_left_out is None else len(table.measured_left_out),
    )
    merged = len(table.measured_series) < len(table.universe.cover)
    if stated != held or (merged and mechanism.spends.clusters is None):
        raise refuse_numbers("measurements")


def _series_of(mechanism: DensityMechanism, table: DensityTable) -> DensitySeries:
    """Returns the series that was run; limits that were chosen follow from what was measured."""
    if isinstance(mechanism, DensitySeries):
        return mechanism
    activity = table.measured_activity
    if activity is None or mechanism.people != tuple(activity.tolist()):
        raise refuse_numbers("people by their visits")
    return mechanism.series_of(table.universe)


class DensityContents(TableContents[DensityTable]):
    """A density, ready to be written."""

    files = FILES
    describe = staticmethod(describe)

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the density is one and belongs to the certificate."""
        check_table(self.table)
        check_stated(certificate, self.table)
        check_pieces(self.table.universe)
        check_readable(self.table.universe, self.table.cluster)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns maps of some hours, series and the noise of every area, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.density.files.picture import draw_density_picture

        return draw_density_picture(averaged(self.table), certificate)
