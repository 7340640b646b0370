"""Makes sure that a certificate is that of a table of links, and has paid for it."""

from hushway.artefact.stated import check_family, check_noise, check_terms, refuse_numbers
from hushway.privacy.certificate import Certificate
from hushway.releases.links.stated import stated_counts
from hushway.releases.links.table import LinkTable
from hushway.releases.links.terms import FAMILY, stated_terms


def check_stated(certificate: Certificate, table: LinkTable) -> None:
    """Makes sure that a certificate states the terms of a table of links.

    Privacy:
        Every measurement in the release was announced, for as many items of a unit as all the
        others, and what the certificate says was measured is in the release.

    Raises:
        ReleaseError: It states other terms, other noise, or measurements that are not there.
    """
    check_family(certificate, FAMILY)
    check_terms(certificate, stated_terms(certificate, table.universe))
    check_noise(certificate.terms, table.noise)
    mechanism = stated_counts(certificate.terms.mechanism)
    stated = (
        mechanism.shown,
        mechanism.spends.classes is not None,
        mechanism.spends.speeds is not None,
    )
    held = (table.threshold, table.class_totals is not None, table.speed is not None)
    if stated != held:
        raise refuse_numbers("rows and measurements")
