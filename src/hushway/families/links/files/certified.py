"""Makes sure that a certificate is that of a table of links, and has paid for it."""

import numpy as np

from hushway.families.links.mechanism.stated import stated_counts
from hushway.families.links.mechanism.table import LinkTable
from hushway.families.links.mechanism.terms import FAMILY, stated_terms
from hushway.privacy.certificate import Certificate
from hushway.release.stated import (
    check_domain,
    check_family,
    check_noise,
    check_terms,
    refuse_numbers,
)

_ROUNDED = 0.01


def check_stated(certificate: Certificate, table: LinkTable) -> None:
    """Makes sure that a certificate states the terms of a table of links.

    Privacy:
        Every measurement in the release was announced, for as many items of a unit as all the
        others, and what the certificate says was measured is in the release.

    Raises:
        ReleaseError: It states other terms, other noise, or measurements that are not there.
    """
    check_family(certificate, FAMILY)
    check_domain(certificate, table.universe)
    check_terms(certificate, stated_terms(certificate, table.universe))
    check_noise(certificate.terms, table.noise)
    mechanism = stated_counts(certificate.terms.mechanism)
    stated = (
        mechanism.shown,
        mechanism.spends.classes is not None,
        mechanism.spends.speeds is not None,
    )
    held = (table.threshold, table.class_totals is not None, table.speed is not None)
    # Counts and errors are rounded after they were compared.
    least = table.threshold * (table.standard_error - _ROUNDED) - _ROUNDED
    if stated != held or bool(np.any(table.counts < least)):
        raise refuse_numbers("rows and measurements")
