"""What counts of links must not give away: one question, all together, the table, files."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.cases import (
    ONE_OR_OTHER,
    OTHERS,
    Case,
    HasChance,
    HasVariance,
    Loses,
    Shifts,
    cases_of,
    never_differs,
    runs_for,
)
from hushway.auditing.harness import evidence, in_thousandths
from hushway.auditing.law import gaussian, gaussian_tail
from hushway.families.links.audit.stage import KINDS, Drive, Drives, LinkStage, staged
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import ClassZones, LeftOutCells, SpeedSums
from hushway.privacy.curator import Curator

# Fewer runs where universes are large or in files, and a mistake would show in nearly all of them;
# fewer still where a run is a release.
_BRIEF, _RARELY = Fraction(1, 4), Fraction(1, 20)
# The least that the links may be left with where another question is audited.
_NEARLY_ALL = Fraction(99, 100)
_TENTH, _THIRD, _HALF = Fraction(1, 10), Fraction(1, 3), Fraction(1, 2)
# A trip over seven links: with its beginning and its end, nine items.
_TRIP: Drives = (*(Drive(link=i) for i in range(7)), Drive(begin=0), Drive(end=7))

_laplace = partial(staged, laplace=True)
_hundreds = partial(staged, most=4, corners=50, links=25, periods=20)
# Every link is shown: what is left out tells less.
_shown = partial(staged, corners=500, publish_above_se=0.0)


@dataclass(frozen=True)
class Sum:
    """The noisy counts of some items at each corner, with weights."""

    items: Drives
    weights: tuple[int, ...] = ()

    def __call__(self, stage: LinkStage, curator: Curator) -> IntArray:
        """Returns one sum for each corner; all weights are 1 unless given."""
        answer = stage.measured(curator)[0]
        values = stage.rings.by_corner(answer.query.cells, answer.values)
        places = [stage.rings.place(drive) for drive in self.items]
        total: IntArray = values[:, places] @ np.array(self.weights or (1,) * len(places))
        return total


@dataclass(frozen=True)
class Evidence:
    """How much all answers of a release speak for a person, at each corner.

    Attributes:
        drives: What the person did; no more than the limits keep, so that none of it is chance.
        instead: What the person did in the other world.
    """

    drives: Drives
    instead: Drives = ()

    def __call__(self, stage: LinkStage, curator: Curator) -> IntArray:
        """Returns the weight of the evidence, in thousandths, up to a constant."""
        total = np.zeros(stage.rings.corners)
        for answer in stage.measured(curator):
            values, one, other = (
                stage.rings.by_corner(answer.query.cells, counts)
                for counts in (
                    answer.values,
                    stage.exact(self.drives, answer.query),
                    stage.exact(self.instead, answer.query),
                )
            )
            total += evidence(values, answer.event, one, other).sum(axis=1)
        return in_thousandths(total)


def _of_cells(stage: LinkStage, curator: Curator, kind: type) -> IntArray:
    """Returns the noisy counts of one question by corner."""
    (answer,) = (one for one in stage.measured(curator) if isinstance(one.query.cells, kind))
    return stage.rings.by_corner(answer.query.cells, answer.values)


def first_class(stage: LinkStage, curator: Curator) -> IntArray:
    """Returns the noisy number of persons on links of the first class, in the first period."""
    return _of_cells(stage, curator, ClassZones)[:, 0]


def _steps_of_speed(stage: LinkStage, curator: Curator) -> IntArray:
    return np.asarray(_of_cells(stage, curator, SpeedSums).sum(axis=1))


def _links_left_out(stage: LinkStage, curator: Curator) -> IntArray:
    counts = _of_cells(stage, curator, LeftOutCells)
    by_kind = counts.reshape(len(counts), -1, KINDS, stage.rings.links)
    return np.asarray(by_kind[:, :, 0].sum(axis=(1, 2)))


def _dense(stage: LinkStage, table: LinkTable) -> FloatArray:
    """Returns the published persons by (period, corner, link); 0 where none are shown."""
    counts = np.zeros(table.universe.size)
    counts[table.period * table.universe.roads.links + table.link] = table.counts
    return counts.reshape(-1, stage.rings.corners, stage.rings.links)


@dataclass(frozen=True)
class Published:
    """The published persons on one link of each corner in the first period, in hundredths."""

    link: int

    def __call__(self, stage: LinkStage, curator: Curator) -> IntArray:
        """Returns one number for each corner; 0 if the link is not shown."""
        counts = _dense(stage, stage.table(curator))[0, :, self.link]
        return np.rint(100 * counts).astype(np.int64)


def _changes(stage: LinkStage, curator: Curator) -> IntArray:
    """Returns how many links of each corner change if the table is fitted once more."""
    measured = stage.measured(curator)
    # The same mechanism, without anything that the first one may have kept.
    mechanisms = stage.mechanism, replace(stage.mechanism)
    one, other = (_dense(stage, made.fit(measured, stage.universe)) for made in mechanisms)
    return np.asarray((one != other).sum(axis=(0, 2)))


def _sigma_squared(stage: LinkStage) -> Fraction:
    """Returns the parameter of the noise for a person with one item."""
    return 1 / (2 * stage.spend.amount)


LONE_ROAD = Case(
    "links with Laplace noise: the only person on a road or nobody",
    "the noisy number of persons on the link",
    stage=partial(_laplace, most=1),
    look=Sum((Drive(link=3),)),
    one=(Drive(link=3),),
    claim=Loses(tight=True),
)
_SHORT: Drives = (Drive(link=3), Drive(begin=3), Drive(end=4))
# All of epsilon shows if all three counts are at least one: an eighth of the time.
LONE_TRIP = Case(
    "links with Laplace noise: a trip over one link or none",
    "the evidence of link, beginning and end, in thousandths,",
    stage=partial(_laplace, most=3),
    look=Evidence(_SHORT),
    one=_SHORT,
    claim=Loses(tight=True),
    effort=runs_for(1 / 8),
)
# A person with as many items as count.
NINE_ITEMS = Case(
    "links: a trip over seven links or none",
    "the noisy counts, added up over the trip,",
    stage=partial(staged, most=9),
    look=Sum(_TRIP),
    one=_TRIP,
)
# The same person moves the counts by sqrt(2 rho) standard deviations, no more, no less.
SHIFT_OF_NINE = replace(
    NINE_ITEMS, name="links: a trip over seven links fits rho", claim=Shifts(tight=True)
)
# Every link of the ring in every period, twice: four items count.
_EVERYWHERE: Drives = tuple(
    Drive(link=link, period=when, times=2) for link in range(25) for when in range(20)
)
LONG_DRIVE = Case(
    "links: 500 links of one person or none",
    "the sum over all links and periods",
    stage=_hundreds,
    look=Sum(_EVERYWHERE),
    one=_EVERYWHERE,
    effort=_BRIEF,
)
LONG_DRIVE_LAPLACE = replace(
    LONG_DRIVE,
    name="links with Laplace noise: 500 links of one person or none",
    stage=partial(_hundreds, laplace=True),
)
# Five trips from home in every period, each to another place: four items count, each once.
ONE_HOME = Case(
    "links: a hundred trips from one home or none",
    "the noisy number of trips that begin there, over all periods,",
    stage=_hundreds,
    look=Sum(tuple(Drive(begin=0, period=when) for when in range(20))),
    one=(
        *(Drive(begin=0, period=when, times=5) for when in range(20)),
        *(Drive(end=1 + trip, period=when) for trip in range(5) for when in range(20)),
    ),
    effort=_BRIEF,
)
_NEAR, _FAR = Drive(end=0), Drive(end=5)
# Two of the three counts of a trip differ, each by one, so the squares of the change sum to 2 where
# those of a person sum to 3.
TWO_ENDS = Case(
    "links: a trip to one place or to another, five kilometres away",
    "the noisy ends of trips at one node less those at the other",
    stage=partial(staged, most=3),
    look=Sum((_NEAR, _FAR), (1, -1)),
    one=(Drive(link=2), Drive(begin=2), _NEAR),
    other=(Drive(link=2), Drive(begin=2), _FAR),
    words=ONE_OR_OTHER,
    claim=Shifts(tight=True, rhos=Fraction(2, 3)),
)
_FIVE: Drives = tuple(Drive(link=3, person=i) for i in range(5))
# One more person on a link that a few use already.
AT_THRESHOLD = replace(
    LONE_ROAD,
    name="links with Laplace noise: five persons or four",
    one=_FIVE,
    other=_FIVE[:-1],
    words=("five", "four"),
)
# Ten people with two links each, of which one counts: nobody else may decide which.
_TEN: Drives = tuple(Drive(link=link, person=1 + i) for i in range(10) for link in (0, 1))
ONE_TIPS_THE_SCALE = Case(
    "links with Laplace noise: one more person on one of two links that ten use",
    "the noisy count of one link less that of the other",
    stage=partial(_laplace, most=1),
    look=Sum((Drive(link=1), Drive(link=0)), (1, -1)),
    one=(*_TEN, Drive(link=1)),
    other=_TEN,
    words=OTHERS,
)
# Exact if both links were given the same noise.
LINK_LESS_ANOTHER = Case(
    "links: one link less another",
    "the difference of two noisy counts",
    stage=partial(staged, most=1),
    look=Sum((Drive(link=3), Drive(link=4)), (1, -1)),
    one=(Drive(link=3),),
)
# The noise of a link and of a beginning differs as two independent draws do.
FRESH_LINKS = Case(
    "links: fresh noise for every link and node",
    "the difference of two empty counts",
    stage=partial(staged, most=1),
    look=Sum((Drive(link=3), Drive(begin=4)), (1, -1)),
    claim=HasVariance(lambda stage: gaussian(_sigma_squared(stage), terms=2)),
)
# If all links are published, it is shown as often as its noise is above 0.
UNUSED_ROAD = Case(
    "published: a road that nobody uses",
    "it is shown",
    stage=partial(staged, most=1, publish_above_se=0.0),
    look=Published(3),
    claim=HasChance(lambda stage: gaussian_tail(_sigma_squared(stage), 1)),
)
# Twenty links of each class: four count, in the sums as well.
HUNDRED_LINKS = Case(
    "classes: a hundred links of one person or none",
    "the noisy number of persons on links of one class",
    stage=partial(_shown, most=4, corners=200, links=100, laplace=True, classes=_NEARLY_ALL),
    look=first_class,
    one=tuple(Drive(link=link) for link in range(100)),
    claim=Loses(share=_NEARLY_ALL),
)
# Four links of one class: the noise of the sum hides all of them.
FOUR_OF_A_CLASS = Case(
    "classes: four links of one person or none",
    "the noisy number of persons on links of the class",
    stage=partial(_shown, most=4, links=20, laplace=True, classes=_NEARLY_ALL),
    look=first_class,
    one=tuple(Drive(link=5 * i) for i in range(4)),
    claim=Loses(share=_NEARLY_ALL, tight=True),
)
_TWO_CLASSES = tuple((Drive(link=link), Drive(link=link + 5)) for link in (0, 1))
# The squares of both changes are twice those of a person who comes or goes.
CLASS_SWAP = Case(
    "links and classes together: a person on roads of one class or of another",
    "the evidence of links and classes",
    stage=partial(_shown, most=2, classes=_HALF),
    look=Evidence(*_TWO_CLASSES),
    one=_TWO_CLASSES[0],
    other=_TWO_CLASSES[1],
    words=ONE_OR_OTHER,
    claim=Shifts(tight=True, rhos=Fraction(2)),
)
_SLOW: Drives = (Drive(link=3, steps=-90),)
# One person who stands still on a fast road: no more steps count than may.
SLOW_DRIVER = Case(
    "speeds with Laplace noise: a very slow person or nobody",
    "the evidence of links and speeds, in thousandths,",
    stage=partial(_shown, most=1, corners=1000, laplace=True, speeds=_NEARLY_ALL),
    look=Evidence(_SLOW),
    one=_SLOW,
)
# Far faster than usual on two links and far slower on two: many more steps than count.
_HECTIC: Drives = tuple(Drive(link=i, steps=90 if i % 2 else -90) for i in range(4))
FAST_AND_SLOW = Case(
    "links and speeds together: very fast and very slow fits rho",
    "the evidence of links and speeds",
    stage=partial(_shown, most=4, speeds=_HALF),
    look=Evidence(_HECTIC),
    one=_HECTIC,
    claim=Shifts(tight=True),
)
# Far too fast on all: four count, in the speeds as well.
HUNDRED_SPEEDS = Case(
    "speeds with Laplace noise: a hundred links of one person or none",
    "the noisy steps from the usual speed, added up over all links,",
    stage=partial(_shown, most=4, corners=200, links=100, laplace=True, speeds=_NEARLY_ALL),
    look=_steps_of_speed,
    one=tuple(Drive(link=link, steps=90) for link in range(100)),
    claim=Loses(share=_NEARLY_ALL),
)
# One counts, and one more stands for sixteen others.
TWENTY_LEFT_OUT = Case(
    "left out: twenty links of one person fit rho",
    "the noisy counts of what is left out, added up over links and weights,",
    stage=partial(_shown, most=1, links=20, left_out=_NEARLY_ALL),
    look=_links_left_out,
    one=tuple(Drive(link=link) for link in range(20)),
    claim=Shifts(),
)
_FAST: Drives = (Drive(link=0, steps=9), Drive(link=5, steps=9))
# Links, classes and speeds together move by sqrt(2 rho).
ALL_QUESTIONS = Case(
    "all questions together: one person fits rho",
    "the evidence of links, classes and speeds",
    stage=partial(_shown, most=2, classes=_THIRD, speeds=_THIRD),
    look=Evidence(_FAST),
    one=_FAST,
    claim=Shifts(tight=True),
)
_BUSY: Drives = (
    *(Drive(link=link, person=1 + person) for person in range(6) for link in range(6, 10)),
    *(Drive(begin=6, person=1 + person) for person in range(6)),
)
_fitted = partial(_shown, most=4, classes=_TENTH, left_out=_TENTH, fitted=True)
# The only person on a road, beside a busy one, in a published and fitted table.
PUBLISHED_LONE = Case(
    "published: the only person on a road or nobody",
    "its persons, in hundredths,",
    stage=partial(_fitted, corners=1),
    look=Published(2),
    one=(*_BUSY, Drive(link=2), Drive(begin=2), Drive(end=3)),
    other=_BUSY,
    words=OTHERS,
    effort=_RARELY,
)
# Chance or a look at the rows would make them differ.
SAME_TABLE = Case(
    "published: the same table from the same measurements",
    "tables fitted twice",
    stage=partial(_fitted, corners=100),
    look=_changes,
    one=_BUSY,
    claim=never_differs,
    effort=_RARELY,
)
# From positions that are read, split into trips and matched: each link, and both ends, count once.
SAME_WAY = Case(
    "files: six trips of one person along one way fit rho",
    "the noisy counts, added up over the way,",
    stage=partial(staged, most=6, corners=400, in_files=True),
    look=Sum((*(Drive(link=i) for i in range(4)), Drive(begin=0), Drive(end=4))),
    one=tuple(Drive(link=i, times=6) for i in range(4)),
    claim=Shifts(tight=True),
    effort=_BRIEF,
)

AUDITS = cases_of(globals())
