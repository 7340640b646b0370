"""Refuses densities that hold anything but the numbers of a release."""

from typing import Any, NoReturn

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import GeographyError, PrivacyError
from hushway.families.density.mechanism.table import DensityTable
from hushway.families.density.mechanism.terms import FAMILY, stated_series, stated_terms
from hushway.families.density.public.cells import DensityUniverse, Sites
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.visits import ClusterSeries
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.stated import (
    check_domain,
    check_family,
    check_noise,
    check_terms,
    refuse_numbers,
)

# Beyond it a release would not fit into the memory of those who check it.
MOST_CELLS = 1 << 27

# Sums of this many visits, in hundredths or in parts, are whole numbers of 64 bits.
_MOST_VISITS = 1e12
_MOST_PARTS = 1 << 62
_DIGITS = 2


def check_table(table: DensityTable) -> None:
    """Makes sure that a density is made of published numbers.

    Raises:
        PrivacyError: It is not.
    """
    _check_public(table.universe)
    shape = (len(table.universe.areas), table.universe.bins)
    for array in (table.counts, table.standard_error):
        if not _is_array(array, np.float64) or array.shape != shape:
            _refuse("The counts and standard errors are not numbers, one for each area and bin.")
        if not bool(np.all(np.isfinite(array) & (array >= 0) & (array <= _MOST_VISITS))):
            _refuse("A count or a standard error is negative, or not a number of visits.")
        if not np.array_equal(np.round(array, _DIGITS), array):
            _refuse("A count or a standard error is not rounded to hundredths.")
    if not bool(np.all(table.standard_error > 0)):
        _refuse("A standard error is 0, as if nothing had been added.")
    _check_measured(table)
    plain("diagnostics of the fit", table.diagnostics)


def _check_measured(table: DensityTable) -> None:
    universe = table.universe
    _check_whole(table.measured_series, (_clusters(table), universe.bins))
    if table.measured_sites is not None:
        _check_whole(table.measured_sites, (universe.site_count,))
    total = table.measured_total
    if total is not None and (type(total) is not int or abs(total) >= _MOST_PARTS):
        _refuse("The measured number of all visits is not a whole number.")


def _check_whole(array: IntArray, shape: tuple[int, ...]) -> None:
    if not _is_array(array, np.int64) or array.shape != shape:
        _refuse("What was measured is not whole numbers, one for each cluster and bin or site.")
    if not bool(np.all((array > -_MOST_PARTS) & (array < _MOST_PARTS))):
        _refuse("What was measured is too large to be added up.")


def _clusters(table: DensityTable) -> int:
    """Returns the number of clusters, once it is sure that they are numbered as they must be."""
    if not _is_array(table.cluster, np.int64) or type(table.quanta) is not int:
        _refuse("The clusters or the parts of a visit are not whole numbers.")
    if not len(table.cluster) or int(table.cluster.min()) < 0:
        _refuse("A cluster is not numbered from 0.")
    try:
        series = ClusterSeries(universe=table.universe, cluster=table.cluster, quanta=table.quanta)
        # Not every number of quanta is allowed, which shows when they are shared out.
        shared_out = series.parts
    except GeographyError as problem:
        _refuse(str(problem))
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
        _refuse(f"A release holds at most {MOST_CELLS:,} counts.")


def _check_classes(*parts: tuple[object, type]) -> None:
    if any(type(part) is not kind for part, kind in parts):
        _refuse("The areas, bins, sites and cover of the density are not public ones.")


def _is_array(array: object, kind: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype == kind


def _refuse(message: str) -> NoReturn:
    raise PrivacyError(message, advice="Publish only what a mechanism's `fit` returned.")


def check_stated(certificate: Certificate, table: DensityTable) -> None:
    """Makes sure that a certificate states the terms of a density.

    Privacy:
        Every measurement in the release was announced, in cells and parts that it has, and what the
        certificate says was measured is in the release.

    Raises:
        ReleaseError: It states other terms, other noise, or measurements that are not there.
    """
    check_family(certificate, FAMILY)
    check_domain(certificate, table.universe)
    check_terms(certificate, stated_terms(certificate, table.universe, table.cluster))
    check_noise(certificate.terms, table.noise)
    mechanism = stated_series(certificate.terms.mechanism)
    stated = (
        mechanism.quanta,
        mechanism.spends.histogram is not None,
        mechanism.spends.total is not None,
    )
    held = (table.quanta, table.measured_sites is not None, table.measured_total is not None)
    merged = len(table.measured_series) < len(table.universe.cover)
    if stated != held or (merged and mechanism.spends.clusters is None):
        raise refuse_numbers("measurements")
