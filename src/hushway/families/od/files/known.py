"""How much of an OD table is known."""

import numpy as np

from hushway.families.od.files.adds_up import PublishedSums
from hushway.families.od.files.view import ODView
from hushway.release.forecast.known import Known, KnownSums, known_sums, sure_share


def known_trips(view: ODView) -> Known:
    """Returns how much is known of flows, and of the published totals."""
    rows = ((part.counts, part.standard_errors) for part in view.batches())
    return Known(
        counted="trips",
        cells="flows",
        sure=sure_share(rows),
        sums=tuple(map(_sums, view.margins)),
    )


def _sums(sums: PublishedSums) -> KnownSums:
    title = sums.feature.title
    if sums.errors is not None:
        return known_sums(title, sums.counts, sums.errors)
    # The error of a sum that was fitted is not known, that of what was measured is.
    measured = np.maximum(sums.measured, 0)
    return known_sums(title, measured, np.full(len(measured), sums.standard_error))
