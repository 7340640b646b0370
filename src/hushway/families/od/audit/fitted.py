"""The fitted OD mechanisms in a town: features that stay within a corner, and what is seen there.

A corner is a pair of places with eight periods. Two features cut it in halves, one by half of the
day and one by parity of the period, so they cross; no element reaches beyond a corner. What a fit
does at a corner then depends on that corner alone, and one release holds a run for each.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hushway.families.od.audit.product import Fitted
from hushway.families.od.audit.toy import town
from hushway.families.od.mechanism.catalogue import od_cbdp, od_hierarchical
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature, period_feature, total_feature
from hushway.families.od.public.pair_labels import place_pair_labels
from hushway.geography.labels import Labels
from hushway.privacy.loss import Loss

PERIODS = 8
# A period in the same half as period 0 but not of its parity, and one of its parity but not in its
# half.
SAME_HALF, SAME_PARITY = 1, 4
# Two features and the cells; the forms of cbdp share the budget evenly between them.
MEASUREMENTS = 3
# Only measured: thousands of corners a release cost next to nothing.
MEASURED_TOWN = town(places=60, periods=PERIODS)
# Fitted too: the time of a fit grows with the corners.
FITTED_TOWN = town(places=40, periods=PERIODS)


@dataclass(frozen=True, kw_only=True)
class Form:
    """A form of the fitted mechanisms.

    Attributes:
        words: What it is called in findings.
        make: Makes it for some cells and a budget, as the catalogue of plans does.
    """

    words: str
    make: Callable[[ODCells, Loss], Fitted]


def halves(cells: ODCells) -> Feature:
    """Returns the trips of each corner in each half of the day."""
    return _by_corner(cells, "half", [period // (PERIODS // 2) for period in range(PERIODS)])


def parities(cells: ODCells) -> Feature:
    """Returns the trips of each corner in even and in odd periods."""
    return _by_corner(cells, "parity", [period % 2 for period in range(PERIODS)])


def both_features(cells: ODCells) -> tuple[Feature, Feature]:
    """Returns the two features of a town."""
    return halves(cells), parities(cells)


# Counts made whole with regard to all sums depend on other corners by less than one trip; plain
# rounding does not, so it is the one that corners are independent under.
FLAT = Form(
    words="cbdp",
    make=lambda cells, budget: od_cbdp(
        cells, both_features(cells), budget=budget, controlled=False, lazy=False
    ),
)
NESTED = Form(
    words="nested cbdp",
    make=lambda cells, budget: od_cbdp(
        cells, both_features(cells), budget=budget, nest=True, controlled=False, lazy=False
    ),
)
LAZY = Form(
    words="lazy cbdp",
    make=lambda cells, budget: od_cbdp(
        cells, both_features(cells), budget=budget, controlled=False, lazy=True
    ),
)
TREE = Form(
    words="hierarchical",
    make=lambda cells, budget: od_hierarchical(cells, both_features(cells), budget=budget),
)
# As a plan has it, with sums over the whole town: for towns that are a single corner.
PLANNED = Form(
    words="planned cbdp",
    make=lambda cells, budget: od_cbdp(
        cells, (total_feature(cells), period_feature(cells)), budget=budget
    ),
)
FORMS = (FLAT, NESTED, LAZY, TREE)


def _by_corner(cells: ODCells, title: str, classes: list[int]) -> Feature:
    return Feature(
        title=title,
        universe=cells,
        pairs=place_pair_labels(cells, "corner", cells.locations.ids),
        periods=Labels(
            column=title, codes=np.array(classes, dtype=np.int32), names=("first", "second")
        ),
    )
