"""How much of a density is known."""

from hushway.families.density.fit.table import DensityTable
from hushway.release.forecast.known import Known, sure_share


def known_visits(table: DensityTable) -> Known:
    """Returns how much is known of counts; errors of sums are not published."""
    return Known(
        counted="visits", cells="counts", sure=sure_share([(table.counts, table.standard_error)])
    )
