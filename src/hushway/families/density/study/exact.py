"""A density beside the exact visits, for the steward's own eyes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.opening import open_session
from hushway.engine.session import Sums
from hushway.families.density.files.published import PARQUET
from hushway.families.density.files.rows import read_density_parquet
from hushway.families.density.job import EventRows
from hushway.families.density.public.visits import DensityUniverse
from hushway.families.density.rows.rows import (
    AreaIndex,
    refuse_other_columns,
    rows_by_number,
    rows_by_text,
    visits_read,
)
from hushway.families.density.study.scene import area_truth
from hushway.privacy.measured import Internal
from hushway.privacy.query import ExactCounts
from hushway.progress import ShareProgress
from hushway.release.job import CountingContext, Job
from hushway.release.true_errors import TrueErrors, grid_errors

_VISITS: Final = "visits"


@dataclass(frozen=True, kw_only=True)
class EveryVisit:
    """Counts all visits of people, nobody cut down. A `hushway.engine.session.Part`.

    Privacy:
        Nothing is bounded: for values that stay `Internal`.

    Attributes:
        universe: The public areas, bins and sites.
    """

    universe: DensityUniverse

    def count(
        self, session: EmbeddedSession, rows: ir.Table, progress: ShareProgress | None
    ) -> IntArray:
        """Returns how many people were seen by (bin, site): each once, however often."""
        areas = AreaIndex(self.universe.areas) if self.universe.sites is None else None
        if rows.person.type().is_integer():
            batches = list(rows_by_number(session, rows, areas, progress))
            owner = np.concatenate([np.zeros(0, np.int64), *(one.owner for one in batches)])
            code = np.concatenate([np.zeros(0, np.int32), *(one.code for one in batches)])
        else:
            people = rows_by_text(session, rows, areas, progress)
            owner = np.repeat(np.arange(len(people.salt)), np.diff(people.start))
            code = people.code
        return self._distinct(owner, code)

    def _distinct(self, owner: IntArray, code: IntArray) -> IntArray:
        order = np.lexsort((code, owner))
        owner, code = owner[order], code[order]
        first = np.ones(len(code), dtype=np.bool_)
        first[1:] = (owner[1:] != owner[:-1]) | (code[1:] != code[:-1])
        # A row that is nowhere has the code -1.
        return np.bincount(code[first & (code >= 0)], minlength=self._size)

    def sums(self, counted: IntArray) -> Sums:
        """Returns what is not 0."""
        cells = np.flatnonzero(counted)
        return {_VISITS: ExactCounts(cells=cells, values=counted[cells])}

    def counted(self, sums: Sums) -> IntArray:
        """Returns a number for every bin and site."""
        found = np.zeros(self._size, dtype=np.int64)
        found[sums[_VISITS].cells] = sums[_VISITS].values
        return found

    @property
    def _size(self) -> int:
        return self.universe.bins * self.universe.site_count


def true_errors(release: Path, job: Job, context: CountingContext) -> Internal[TrueErrors]:
    """Compares a density with all visits of its plan, shared among areas as its visits are.

    Privacy:
        Reads all exact visits: what it returns carries no guarantee.

    Args:
        release: The release folder, which was verified.
        job: The job of its plan.
        context: What counts the visits.
    """
    rows, universe = job.rows, job.geography
    assert isinstance(rows, EventRows)  # noqa: S101  what a density plan makes
    assert isinstance(universe, DensityUniverse)  # noqa: S101  likewise
    refuse_other_columns(rows.source, universe)
    with open_session(context.settings) as session:
        found = session.count(
            visits_read(rows.source, universe), EveryVisit(universe=universe), context.progress
        )
    by_site = found.reshape(universe.bins, universe.site_count).T
    counts, _ = read_density_parquet(release / PARQUET, universe)
    true = area_truth(universe, by_site)
    return Internal(grid_errors(job.wording.counted, "an area", counts.reshape(true.shape), true))
