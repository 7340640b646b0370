"""Which days a release of a series is of: its periods say so, or else its certificate."""

from datetime import date
from pathlib import Path

from hushway.privacy.certificate import Certificate
from hushway.privacy.ledger.span import Span
from hushway.release.folder.published_file import PERIODS
from hushway.release.formats.places import published_periods
from hushway.release.others import certified_first_day


def days_of(folder: Path, certificate: Certificate) -> tuple[date, date] | None:
    """Returns the first and the last day of a release; None if it does not say them.

    Raises:
        ReleaseError: Its periods cannot be read.
    """
    if (folder / PERIODS).exists():
        periods = published_periods(folder)
        return periods.first_day, periods.last_day
    if certificate.account.span is None:
        return None
    try:
        first = certified_first_day(certificate.terms.mechanism.parameters)
    except (TypeError, ValueError):
        return None
    if first is None:
        return None
    span = Span.from_text(certificate.account.span)
    return span.days(span.name(first))
