"""A wrong reader: people whose events lie in several batches count once in each."""

from hushway.families.density.rows.bounding import BoundedVisits
from hushway.families.density.rows.duckdb import DuckDBVisits
from hushway.families.density.rows.grouping import VisitRows


class VisitsBatchByBatch(DuckDBVisits):
    """A counter of visits that bounds people in each batch of rows by itself."""

    def _bounded(self, batches: list[VisitRows]) -> BoundedVisits:
        parts = [super(VisitsBatchByBatch, self)._bounded([batch]) for batch in batches]
        nobody = super()._bounded([])
        return BoundedVisits(
            series=sum((part.series for part in parts), start=nobody.series),
            histogram=sum((part.histogram for part in parts), start=nobody.histogram),
            total=sum(part.total for part in parts),
        )
