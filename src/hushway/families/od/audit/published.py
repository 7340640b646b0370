"""What the published table of a fitted OD mechanism must not give away.

A table is made from noisy counts and public labels alone, so it gives away no more than these. If
it does, the fit has seen something else.
"""

from dataclasses import dataclass
from fractions import Fraction

from hushway.arrays import IntArray
from hushway.audit.agreement import AlwaysSame, SameLaw
from hushway.audit.harness import Examination, Trial, World
from hushway.families.od.audit.dense import MAX_TRIPS
from hushway.families.od.audit.fitted_looks import FITTED_TOWN, FLAT, LAZY, PLANNED, Form, Published
from hushway.families.od.audit.product import Product, Spend, Stage
from hushway.families.od.audit.toy import NOBODY, Part, Scene, town
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss

_SUMS = "the published count of its cell plus the published sums that hold it"
_MANY = 50
_TWO_PLACES = town(places=2, periods=2, corners=1)
# A release a run, and a fit in each.
_SLOW = Fraction(1, 50)
# A fit that draws, or looks at anything else, changes more than one corner in a thousand.
_BRIEF = Fraction(1, 10)


def one_trip(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """A trip to an unvisited cell against none: whatever shows with it must show without it."""
    look = _look(form, product, epsilon)
    return Trial(
        name=f"{form.words}, published: a trip to an unvisited cell or none",
        statistic=_SUMS,
        epsilon=epsilon,
        worlds=_worlds(look, (Part(),), "the trip"),
    )


def many_trips(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """Fifty identical trips of one person against none."""
    look = _look(form, product, epsilon, max_trips=MAX_TRIPS)
    return Trial(
        name=f"{form.words}, published: fifty trips of one person or none",
        statistic=_SUMS,
        epsilon=epsilon,
        worlds=_worlds(look, (Part(times=_MANY),), "the person"),
    )


def one_by_one(product: Product, epsilon: Fraction) -> Examination:
    """One trip against none with total and period as features, one release a run."""
    look = WholeTable(
        stage=Stage(product=product, town=_TWO_PLACES, spend=PureLoss(epsilon)), form=PLANNED
    )
    return Trial(
        name=f"{PLANNED.words}, published: one trip or none, a release a run",
        statistic=_SUMS,
        epsilon=epsilon,
        worlds=look.stage.worlds(look.sums, ("the trip", (Part(),)), ("no trip", NOBODY)),
        effort=_SLOW,
    )


def same_table(form: Form, product: Product, epsilon: Fraction) -> Examination:
    """The same measurements fitted twice: chance or a look at the rows would make them differ."""
    look = _look(form, product, epsilon)
    return AlwaysSame(
        name=f"{form.words}, published: the same table from the same measurements",
        statistic="tables fitted twice",
        epsilon=epsilon,
        sample=look.stage.sampler((Part(),), look.changes),
        effort=_BRIEF,
    )


def lazy_or_dense(product: Product, epsilon: Fraction) -> Examination:
    """Tables from cells drawn as far as a fit looks at them, and from all cells: the same law."""
    lazy, dense = _look(LAZY, product, epsilon), _look(FLAT, product, epsilon)
    scene = (Part(), Part(person=1), Part(person=2, period=1))
    return SameLaw(
        name="cbdp, published: lazy or dense",
        statistic="the published count of a cell together with the sum of its corner",
        worlds=(
            World(words="lazy noise", sample=lazy.stage.sampler(scene, lazy.first_and_all)),
            World(words="dense noise", sample=dense.stage.sampler(scene, dense.first_and_all)),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class WholeTable(Published[Spend]):
    """The published table of a town that is a single corner."""

    def sums(self, curator: Curator) -> IntArray:
        """Returns the count of the first cell plus the sums of its period and of everything."""
        counts = self.counts(curator).reshape(-1, self.stage.town.cells.pairs)
        total: IntArray = counts[:1, 0] + counts[0].sum() + counts.sum()
        return total


def _look(
    form: Form, product: Product, epsilon: Fraction, max_trips: int = 1
) -> Published[PureLoss]:
    stage = Stage(product=product, town=FITTED_TOWN, spend=PureLoss(epsilon), max_trips=max_trips)
    return Published(stage=stage, form=form)


def _worlds(look: Published[PureLoss], scene: Scene, words: str) -> tuple[World, World]:
    return look.stage.worlds(look.around_first, (words, scene), ("nothing of it", NOBODY))
