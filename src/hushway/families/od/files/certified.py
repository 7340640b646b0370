"""Makes sure that a certificate is that of an OD table, and has paid for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from hushway.families.od.mechanism.laplace import DenseLaplace, SparseLaplace
from hushway.families.od.mechanism.stated import stated_od
from hushway.families.od.mechanism.terms import FAMILY, stated_terms
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.bound import Bound
from hushway.privacy.certificate import Certificate
from hushway.release.stated import (
    check_domain,
    check_family,
    check_terms,
    is_noise,
    noise_error,
    refuse_numbers,
)


@dataclass(frozen=True, kw_only=True)
class RowFacts:
    """What the rows of a table have in common.

    Attributes:
        threshold: Cells measured below it have no row, if there is one.
        zeros_left_out: Whether a cell without a row is published as 0.
        least: The lowest count; None without rows.
        standard_errors: The lowest and the highest one; None without rows.
    """

    threshold: int | None
    zeros_left_out: bool
    least: int | None
    standard_errors: tuple[float, float] | None


def check_stated(
    certificate: Certificate,
    cells: ODCells,
    features: Sequence[Feature],
    margin_errors: Sequence[float],
) -> None:
    """Makes sure that a certificate states the terms of a table with these features.

    Args:
        certificate: The certificate.
        cells: The public cells of the table.
        features: The features whose sums it holds.
        margin_errors: The standard error of the sums of each.

    Raises:
        ReleaseError: It states other terms or other noise.
    """
    check_family(certificate, FAMILY)
    check_domain(certificate, cells)
    check_terms(certificate, stated_terms(certificate, cells, features))
    _, *margins = certificate.terms.events
    noise = [noise_error(event) for event in margins]
    if len(noise) != len(margin_errors) or not all(map(is_noise, margin_errors, noise)):
        raise refuse_numbers("standard errors of the sums")


def check_rows(
    certificate: Certificate, cells: ODCells, features: Sequence[Feature], rows: RowFacts
) -> None:
    """Makes sure that rows are such as the stated mechanism publishes.

    Raises:
        ReleaseError: They have another threshold or carry other noise.
    """
    terms = certificate.terms
    mechanism = stated_od(terms.mechanism, cells, features)
    bound: Bound = terms.events[0].bound
    threshold = mechanism.threshold(cells, bound) if isinstance(mechanism, SparseLaplace) else None
    zeros_left_out = not isinstance(mechanism, DenseLaplace | SparseLaplace)
    below = threshold is not None and rows.least is not None and rows.least < threshold
    if (rows.threshold, rows.zeros_left_out) != (threshold, zeros_left_out) or below:
        raise refuse_numbers("rows")
    noise = noise_error(terms.events[0])
    if not all(is_noise(error, noise) for error in rows.standard_errors or ()):
        raise refuse_numbers("standard errors")
