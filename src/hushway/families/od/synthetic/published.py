"""Reads a published OD table back, by those who work with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushway.arrays import IntArray
from hushway.families.od.files.adds_up import published_sums, read_effects
from hushway.families.od.files.check import read_universe
from hushway.families.od.files.features import read_features
from hushway.families.od.files.margins import read_margins
from hushway.families.od.files.names import ADDS_UP, ESTIMATES, FEATURES, MARGINS, PAIRS, PARQUET
from hushway.families.od.files.rows import joined, read_estimates, read_parquet
from hushway.families.od.fit.table import ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.draws import DrawnTable, Learnt, draw_table
from hushway.privacy.certificate import Certificate
from hushway.release.untrusted.limits import LIST_BYTES, read_plain


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedTrips:
    """The numbers of an OD release.

    Attributes:
        universe: The public cells.
        cells: Numbers of the cells that have a row, ascending. A cell without one is published as
            0, or was measured below a threshold.
        counts: The published trips of each, over all days that its period is counted over.
        learnt: What the release learnt of counts and their errors, if it did.
    """

    universe: ODCells
    cells: IntArray
    counts: IntArray
    learnt: Learnt | None = None

    def drawn(self, seed: int) -> DrawnTable:
        """Returns a whole table that looks like a day: a draw, or what is published.

        Only a release that learnt its counts knows how far they may be off; of any other the table
        itself is returned.
        """
        if self.learnt is None:
            return DrawnTable(cells=self.cells, counts=self.counts)
        return draw_table(self.learnt, seed=seed)


def published_trips(table: ODTable) -> PublishedTrips:
    """Returns the numbers that a release of a table would have."""
    learnt = None
    if table.estimates is not None and table.effects is not None:
        learnt = Learnt(
            universe=table.universe,
            estimates=table.estimates,
            effects=table.effects,
            sums=published_sums(table),
        )
    return PublishedTrips(
        universe=table.universe, cells=table.cells, counts=table.counts, learnt=learnt
    )


def read_published_trips(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> PublishedTrips:
    """Reads the table of a verified OD release, dense, above a threshold or without zeros."""
    universe, _ = read_universe(folder, certificate, facts)
    rows = joined(read_parquet(folder / PARQUET, universe))
    learnt = None
    if (folder / ESTIMATES).is_file():
        labels = read_plain(folder / FEATURES, LIST_BYTES)
        features = read_features(labels, folder / PAIRS, universe)
        learnt = Learnt(
            universe=universe,
            estimates=read_estimates(universe, folder / ESTIMATES),
            effects=read_effects(read_plain(folder / ADDS_UP, LIST_BYTES)),
            sums=read_margins(folder / MARGINS, features, learnt=True),
        )
    return PublishedTrips(universe=universe, cells=rows.cells, counts=rows.counts, learnt=learnt)
