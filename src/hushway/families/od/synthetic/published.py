"""Reads a published OD table back, by those who work with it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.files.check import read_universe
from hushway.families.od.files.features import read_features
from hushway.families.od.files.margins import read_margins
from hushway.families.od.files.names import ESTIMATES, FEATURES, MARGINS, PAIRS, PARQUET
from hushway.families.od.files.rows import read_estimates, read_parquet
from hushway.families.od.fit.table import Estimates
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.draws import DrawnTable, PeriodSums, draw_table
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
        estimates: What is expected of cells, if the release learnt it.
        period_errors: Standard error of the trips of every period, if that was learnt.
    """

    universe: ODCells
    cells: IntArray
    counts: IntArray
    estimates: Estimates | None = None
    period_errors: FloatArray | None = None

    def drawn(self, seed: int) -> DrawnTable:
        """Returns a whole table that looks like a day: a draw, or what is published.

        Only a release that learnt its counts knows how far they may be off; of any other the table
        itself is returned.
        """
        if self.estimates is None or self.period_errors is None:
            return DrawnTable(cells=self.cells, counts=self.counts)
        period = self.cells // self.universe.pairs
        totals = np.zeros(len(self.universe.periods), dtype=np.int64)
        np.add.at(totals, period, self.counts)
        sums = PeriodSums(counts=totals, errors=self.period_errors)
        return draw_table(self.universe, self.estimates, sums, seed=seed)


def read_published_trips(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> PublishedTrips:
    """Reads the table of a verified OD release, dense, above a threshold or without zeros."""
    universe, _ = read_universe(folder, certificate, facts)
    parts = list(read_parquet(folder / PARQUET, universe))
    learnt = (folder / ESTIMATES).is_file()
    none = np.zeros(0, dtype=np.int64)
    return PublishedTrips(
        universe=universe,
        cells=np.concatenate([none, *(part.cells for part in parts)]),
        counts=np.concatenate([none, *(part.counts for part in parts)]),
        estimates=read_estimates(universe, folder / ESTIMATES) if learnt else None,
        period_errors=_period_errors(folder, universe) if learnt else None,
    )


def _period_errors(folder: Path, universe: ODCells) -> FloatArray:
    """Returns the standard error of every period's trips, from the coarsest sums that tell."""
    features = read_features(read_plain(folder / FEATURES, LIST_BYTES), folder / PAIRS, universe)
    periods = len(universe.periods)
    told = [
        np.sqrt(np.sum(sums.errors.reshape(periods, -1) ** 2, axis=1))
        for sums in read_margins(folder / MARGINS, features, learnt=True)
        if sums.errors is not None and sums.feature.period_classes == periods
    ]
    return np.min(told, axis=0) if told else np.zeros(periods)
