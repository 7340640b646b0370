"""What a page needs to answer sums of any flows as `release.sum` does."""

from typing import Final

import numpy as np

from hushway.families.od.files.adds_up import PublishedSums
from hushway.families.od.files.learnt_sums import LearntSums
from hushway.release.drawing.atlas import PublishedTotal, Selectable

# More would make a page wait.
_MOST_CELLS: Final = 600_000
_SHARED: Final = (
    *("origin", "destination", "period", "pair"),
    *("origin_by_period", "destination_by_period"),
)


def selectable(sums: LearntSums) -> Selectable | None:
    """Returns it, unless there is too much of it, or pages show average days rather than sums."""
    if len(sums.cells) > _MOST_CELLS or sums.universe.periods.average:
        return None
    return Selectable(
        intrazonal=sums.universe.include_intrazonal,
        cell=sums.cells,
        count=sums.counts,
        mean=sums.means,
        error=np.sqrt(sums.variances_of_cells),
        effects={name: getattr(sums.effects, name) for name in _SHARED},
        totals=tuple(map(_total, sums.totals)),
    )


def _total(total: PublishedSums) -> PublishedTotal:
    feature = total.feature
    return PublishedTotal(
        pair=None if feature.pairs is None else feature.pairs.codes.astype(np.int64),
        pairs=feature.pair_classes,
        period=None if feature.periods is None else feature.periods.codes.astype(np.int64),
        error=np.asarray(total.errors, dtype=np.float64),
    )
