"""What single questions of a density must not give away: the series, the histogram, the total."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from hushway.arrays import IntArray
from hushway.auditing.cases import Case, HasVariance, Loses, Shifts, cases_of, runs_for
from hushway.auditing.harness import evidence, in_thousandths
from hushway.auditing.law import Moments, gaussian
from hushway.families.density.audit.stage import (
    CELLS,
    LONE_SITES,
    SHARED,
    SITES,
    TOGETHER,
    DensityStage,
    Stay,
    Stays,
    staged,
)
from hushway.families.density.public.visits import (
    ActivityHistogram,
    ClusterTotals,
    SiteHistogram,
    VisitCells,
    VisitTotal,
)
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.query import Query

_BINS = 24
# As a plan without a histogram asks for them.
_PARTS_OF_TOTALS = 64
# Fewer runs where every run is a question of its own, and a mistake would show in all of them.
_BRIEF = Fraction(1, 4)
# Districts are made when they are needed, which takes a while.
_day = partial(staged, corners=500, bins=_BINS)
_morning = partial(staged, corners=1000, bins=9)
_hours = partial(staged, corners=2000, bins=4)
_asked = partial(staged, corners=1, bins=_BINS, most=9, in_total=20, laplace=True, repeats=500)


@dataclass(frozen=True)
class Projection:
    """The series of each corner as a weighted sum of noisy parts: best for Gaussian noise."""

    direction: Mapping[tuple[int, int], int]

    def __call__(self, stage: DensityStage, curator: Curator) -> IntArray:
        """Returns one number for each corner; a direction has weights of some (cell, bin)."""
        (answer,) = stage.measured(curator)
        values = stage.district.series_by_corner(answer.values)
        total = np.zeros(len(values), dtype=np.int64)
        for (cell, when), weight in self.direction.items():
            total += weight * values[:, cell, when]
        return total


def over_bins(bins: int) -> Projection:
    """Returns the sum over the first bins of the first cell."""
    return Projection({(0, when): 1 for when in range(bins)})


def _two_visits(stage: DensityStage, curator: Curator) -> IntArray:
    (answer,) = stage.measured(curator)
    values = stage.district.series_by_corner(answer.values)
    nearer = evidence(values, answer.event, stage.mechanism.quanta)
    return in_thousandths(nearer[:, 0, 0] + nearer[:, 1, 1])


def answers(stage: DensityStage, curator: Curator, cells: VisitCells) -> list[IntArray]:
    """Returns the noisy answers to one question, asked as often as the stage spends on."""
    query = Query(name=cells.name, cells=cells)
    return [curator.counts(query, stage.spend).values for _ in range(stage.repeats)]


def _total_visits(stage: DensityStage, curator: Curator) -> IntArray:
    return np.concatenate(answers(stage, curator, VisitTotal(universe=stage.universe)))


def _first_cell(stage: DensityStage, curator: Curator) -> IntArray:
    cells = ClusterTotals(
        universe=stage.universe, cluster=stage.district.every_cell, quanta=_PARTS_OF_TOTALS
    )
    (answer,) = answers(stage, curator, cells)
    return answer.reshape(-1, CELLS)[:, 0]


def _people(stage: DensityStage, curator: Curator, circles: int = 1) -> IntArray:
    """Returns the noisy histogram by (repetition, circle, corner, site), in parts of a person."""
    cells = SiteHistogram(universe=stage.universe, circles=circles)
    return np.stack(answers(stage, curator, cells)).reshape(stage.repeats, circles, -1, SITES)


def _first_site(stage: DensityStage, curator: Curator) -> IntArray:
    return _people(stage, curator)[:, 0, :, 0].ravel()


def _all_sites(stage: DensityStage, curator: Curator) -> IntArray:
    return np.asarray(_people(stage, curator).sum(axis=3).ravel())


def _first_site_in_circles(stage: DensityStage, curator: Curator) -> IntArray:
    return np.asarray(_people(stage, curator, stage.limits.circles)[0, :, :, 0].sum(axis=0))


def _everybody(stage: DensityStage, curator: Curator) -> IntArray:
    return np.asarray(_people(stage, curator).sum(axis=(1, 2, 3)))


def _one_visit_or_all(stage: DensityStage, curator: Curator) -> IntArray:
    fewest = stage.limits.activity
    busy = int(np.searchsorted(fewest, stage.universe.bins, side="right")) - 1
    cells = ActivityHistogram(universe=stage.universe, classes=len(fewest))
    return np.array([answer[0] + answer[busy] for answer in answers(stage, curator, cells)])


def _two_counts(stage: DensityStage) -> Moments:
    cells = stage.mechanism.series(stage.universe, stage.district.every_cell)
    sigma_squared = noise_for(stage.spend, stage.mechanism.bound(cells)).variance
    return gaussian(Fraction(math.floor(sigma_squared)), terms=2)


# One visit in each of nine bins, in all four cells: as many as count.
NINE_VISITS = Case(
    "series: nine visits or none",
    "the series, projected on what the person adds,",
    stage=partial(_morning, most=9),
    look=Projection({(i % CELLS, i): 1 for i in range(9)}),
    one=tuple(Stay(site=LONE_SITES[i % CELLS], bin=i) for i in range(9)),
)
# The same person moves the projection by sqrt(2 rho) standard deviations, no more, no less.
SHIFT_OF_NINE = replace(NINE_VISITS, name="series: nine visits fit rho", claim=Shifts(tight=True))
# Every site of the first cell in every bin, several times: only four visits may count.
RESTLESS = Case(
    "series: 576 events of one person or none",
    "the sum over all periods of the first cell",
    stage=partial(_day, most=4),
    look=over_bins(_BINS),
    one=tuple(Stay(site=site, bin=when, times=3) for site in TOGETHER for when in range(_BINS)),
)
# A visit in every bin of six days: only four may count, over all days together.
MANY_DAYS = Case(
    "series: six days of one person fit rho",
    "the sum over all periods of the first cell",
    stage=partial(staged, corners=1000, bins=4, days=6, most=4),
    look=over_bins(_BINS),
    one=tuple(Stay(site=0, bin=when) for when in range(_BINS)),
    claim=Shifts(),
)
# Eight sites of one cell in one bin count as one visit.
CROWDED_BIN = Case(
    "series: eight sites in one period or none",
    "the first cell in the first period",
    stage=partial(_morning, most=8),
    look=over_bins(1),
    one=tuple(Stay(site=site, bin=0, times=4) for site in TOGETHER),
)
# In the direction of the paper's subtraction.
SHARED_SITE = Case(
    "series: nine visits at a site that three cells share",
    "the first cell less five sixths of the others",
    stage=partial(_morning, most=9),
    look=Projection({(c, when): 6 if c == 0 else -5 for c in range(CELLS) for when in range(9)}),
    one=tuple(Stay(site=SHARED, bin=when) for when in range(9)),
    claim=Shifts(),
)
# The difference is exact if both were given the same noise.
CELL_LESS_ANOTHER = Case(
    "series: one cell less another",
    "the difference of two noisy counts",
    stage=partial(_hours, most=1),
    look=Projection({(0, 0): 1, (1, 0): -1}),
    one=(Stay(site=0, bin=0),),
)
BIN_LESS_ANOTHER = replace(
    CELL_LESS_ANOTHER,
    name="series: one period less another",
    look=Projection({(0, 0): 1, (0, 1): -1}),
)
# The noise of two counts differs as two independent draws do.
FRESH_CELLS = Case(
    "series: fresh noise for every cell",
    "the difference of two empty counts",
    stage=partial(_hours, most=1),
    look=CELL_LESS_ANOTHER.look,
    claim=HasVariance(_two_counts),
)
FRESH_BINS = replace(
    FRESH_CELLS, name="series: fresh noise for every bin", look=BIN_LESS_ANOTHER.look
)
# All of epsilon shows if both noisy counts are at least one visit: half the time each.
NAIVE_LAPLACE = Case(
    "series with Laplace noise: two visits or none",
    "the evidence of both counts, in thousandths,",
    stage=partial(_hours, most=2, in_total=1, laplace=True),
    look=_two_visits,
    one=(Stay(site=LONE_SITES[0], bin=0), Stay(site=LONE_SITES[1], bin=1)),
    claim=Loses(tight=True),
    effort=runs_for(1 / 4),
)
# In the histogram the person is one person there.
ONE_PERSON_AT_ONE_SITE = Case(
    "histogram: 480 events of one person or none",
    "the noisy number of people at the site",
    stage=partial(_day, most=9, laplace=True),
    look=_first_site,
    one=tuple(Stay(site=0, bin=when, times=20) for when in range(_BINS)),
    claim=Loses(tight=True),
)
# A person at every site and in every bin: all parts together are one person.
ONE_PERSON_AT_MANY_SITES = Case(
    "histogram: a person at all sites is one person",
    "the noisy parts of a person, over all sites",
    stage=partial(_day, most=9),
    look=_all_sites,
    one=tuple(Stay(site=site, bin=when) for site in range(SITES) for when in range(_BINS)),
    claim=Shifts(),
)
_CROWD: Stays = tuple(Stay(site=LONE_SITES[i], bin=i, person=i) for i in range(4))
# How many people there are is as noisy as everything else.
ONE_MORE_PERSON = Case(
    "histogram: four people or three",
    "the sum of the noisy histogram, which densities are normalised by,",
    stage=_asked,
    look=_everybody,
    one=_CROWD,
    other=_CROWD[:3],
    words=("four", "three"),
    effort=_BRIEF,
)
ONE_CIRCLE = Case(
    "histogram: a busy person is in one circle",
    "the noisy number of people at the site, over all circles",
    stage=partial(_day, most=2, in_total=20),
    look=_first_site_in_circles,
    one=tuple(Stay(site=0, bin=when) for when in range(_BINS)),
    claim=Shifts(),
)
# The person is in one class of activity, once.
ONE_CLASS = Case(
    "activity: a person with visits in all periods or none",
    "the noisy number of people with one visit or with one in every period",
    stage=_asked,
    look=_one_visit_or_all,
    one=tuple(Stay(site=0, bin=when, times=3) for when in range(_BINS)),
    effort=_BRIEF,
)
# The total moves by what a person may count for.
CUT_OFF_TOTAL = Case(
    "total: 4,896 events of one person or none",
    "the noisy number of all visits",
    stage=_asked,
    look=_total_visits,
    one=tuple(Stay(site=site, bin=b, times=17) for site in range(SITES) for b in range(_BINS)),
    effort=_BRIEF,
)
# The totals that clusters are made by hide all of the visits.
CELL_TOTALS = Case(
    "totals of cells: nine visits to one cell fit rho",
    "the noisy total of the first cell",
    stage=partial(_morning, most=9),
    look=_first_cell,
    one=tuple(Stay(site=0, bin=when) for when in range(9)),
    claim=Shifts(tight=True),
)

AUDITS = cases_of(globals())
