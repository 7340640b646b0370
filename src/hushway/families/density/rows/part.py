"""What is counted of people's events wherever they are read."""

from dataclasses import dataclass

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.key import BoundingKey
from hushway.engine.session import Sums
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.rows.counts import (
    BoundedVisits,
    VisitRule,
    bounded_people,
    bounded_rows,
)
from hushway.families.density.rows.grouping import VisitRows
from hushway.families.density.rows.rows import AreaIndex, rows_by_number, rows_by_text
from hushway.numerics.threads import processors
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress


@dataclass(frozen=True, kw_only=True)
class VisitPart:
    """Bounds and counts the visits of people, all of each. A `hushway.engine.session.Part`.

    Privacy:
        Of each person of the part at most one visit of a bin and `max_visits` in all count.

    Attributes:
        universe: The public areas, bins and sites.
        limits: How much of one person counts.
        key: Decides which visits are kept.
    """

    universe: DensityUniverse
    limits: VisitLimits
    key: BoundingKey

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> BoundedVisits:
        """Returns the bounded visits of all batches together: a person may be in several."""
        areas = AreaIndex(self.universe.areas) if self.universe.sites is None else None
        threads = session.settings.threads or processors()
        if rows.person.type().is_integer():
            return self.bounded(list(rows_by_number(session, rows, areas, progress)), threads)
        people = rows_by_text(session, rows, areas, progress)
        return bounded_people(people, self._rule, threads)

    def bounded(self, batches: list[VisitRows], threads: int) -> BoundedVisits:
        """Returns the bounded visits of people whose rows may lie in several batches."""
        return bounded_rows(batches, self._rule, threads)

    def sums(self, counted: BoundedVisits) -> Sums:
        """Returns what is not 0 of all that was counted."""
        return {
            "series": ExactCounts.of_all(counted.series.ravel()),
            "circles": ExactCounts.of_all(counted.circles.ravel()),
            "activity": ExactCounts.of_all(counted.activity),
            "total": ExactCounts.of_all(np.array([counted.total], dtype=np.int64)),
        }

    def counted(self, sums: Sums) -> BoundedVisits:
        """Returns all that was counted."""
        universe, limits = self.universe, self.limits
        sites = universe.site_count
        return BoundedVisits(
            series=_dense(sums["series"], universe.bins * sites).reshape(universe.bins, sites),
            circles=_dense(sums["circles"], limits.circles * sites).reshape(limits.circles, sites),
            activity=_dense(sums["activity"], len(limits.activity)),
            total=int(_dense(sums["total"], 1)[0]),
        )

    @property
    def _rule(self) -> VisitRule:
        return VisitRule.of(self.universe, self.limits, self.key)


def _dense(counts: ExactCounts, size: int) -> IntArray:
    values = np.zeros(size, dtype=np.int64)
    values[counts.cells] = counts.values
    return values
