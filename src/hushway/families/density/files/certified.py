"""Makes sure that a certificate is that of a density, and has paid for what it was made from."""

from hushway.families.density.mechanism.stated import stated_series
from hushway.families.density.mechanism.table import DensityTable
from hushway.families.density.mechanism.terms import FAMILY, stated_terms
from hushway.privacy.certificate import Certificate
from hushway.release.stated import (
    check_domain,
    check_family,
    check_noise,
    check_terms,
    refuse_numbers,
)


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
