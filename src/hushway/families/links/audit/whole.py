"""What other questions about links must not give away, nor all together, nor traces in files."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from hushway.audit.agreement import AlwaysSame
from hushway.audit.harness import Examination, Sampler, Trial, World
from hushway.audit.product import Look, microseconds
from hushway.audit.shift import gaussian_shift, gaussian_trial, rho_of
from hushway.families.links.audit.looks import (
    ClassSums,
    Evidence,
    LeftOutTotal,
    Published,
    Refitted,
    SpeedTotal,
    Sums,
)
from hushway.families.links.audit.product import Drive, Drives, LinkProduct, LinkStage, Rings, rings
from hushway.families.links.mechanism.counts import LinkCounts, link_counts
from hushway.families.links.public.universe import MovementLimits
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.privacy.loss import Loss, PureLoss

# The least that the links may be left with where another question is audited.
_NEARLY_ALL = Fraction(99, 100)
_THIRD = Fraction(1, 3)
_HALF = Fraction(1, 2)
# A release a run is slow.
_RARELY = Fraction(1, 20)

_FEW = MovementLimits(max_items=4)
_ONE = MovementLimits(max_items=1)
# Far faster than usual on two links and far slower on two: many more steps than count.
_HECTIC: Drives = tuple(Drive(link=i, steps=90 if i % 2 else -90) for i in range(4))
_OTHERS: Drives = tuple(
    Drive(link=link, person=1 + person) for person in range(6) for link in range(6, 10)
) + tuple(Drive(begin=6, person=1 + person) for person in range(6))


def hundred_links(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A hundred links of one person, twenty of each class: four count, in the sums as well."""
    stage = _stage(
        product, PureLoss(epsilon), _FEW, where=rings(corners=200, links=100), classes=_NEARLY_ALL
    )
    scene = tuple(Drive(link=link) for link in range(100))
    return Trial(
        name="classes: a hundred links of one person or none",
        statistic="the noisy number of persons on links of one class",
        epsilon=epsilon * _NEARLY_ALL,
        worlds=stage.worlds(ClassSums(stage=stage).first_class, ("the person", scene)),
    )


def four_of_a_class(product: LinkProduct, epsilon: Fraction) -> Examination:
    """Four links of one class: the noise of the sum hides all of them."""
    stage = _stage(
        product, PureLoss(epsilon), _FEW, where=rings(corners=500, links=20), classes=_NEARLY_ALL
    )
    scene = tuple(Drive(link=5 * i) for i in range(4))
    return Trial(
        name="classes: four links of one person or none",
        statistic="the noisy number of persons on links of the class",
        epsilon=epsilon * _NEARLY_ALL,
        worlds=stage.worlds(ClassSums(stage=stage).first_class, ("the person", scene)),
        tight=True,
    )


def class_swap(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A person on two links of one class, or on two of another, in counts and sums together.

    The squares of both changes are twice those of a person who comes or goes.
    """
    stage = _stage(product, rho_of(epsilon), MovementLimits(max_items=2), classes=_HALF)
    one, other = (tuple(Drive(link=link) for link in links) for links in ((0, 5), (1, 6)))
    look = Evidence(stage=stage, drives=one, instead=other).seen
    return gaussian_shift(
        name="links and classes together: a person on roads of one class or of another",
        statistic="the evidence of links and classes",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the one", one), ("the other", other)),
        tight=True,
        rhos=Fraction(2),
    )


def slow_driver(product: LinkProduct, epsilon: Fraction) -> Examination:
    """One person who stands still on a fast road: no more steps count than may."""
    stage = _stage(product, PureLoss(epsilon), _ONE, where=rings(corners=1000), speeds=_NEARLY_ALL)
    scene = (Drive(link=3, steps=-90),)
    return Trial(
        name="speeds with Laplace noise: a very slow person or nobody",
        statistic="the evidence of links and speeds, in thousandths,",
        epsilon=epsilon,
        worlds=stage.worlds(Evidence(stage=stage, drives=scene).seen, ("the person", scene)),
    )


def fast_and_slow(product: LinkProduct, epsilon: Fraction) -> Examination:
    """One person who is far too fast on two links and far too slow on two."""
    stage = _stage(product, rho_of(epsilon), _FEW, speeds=_HALF)
    return gaussian_shift(
        name="links and speeds together: very fast and very slow fits rho",
        statistic="the evidence of links and speeds",
        epsilon=epsilon,
        worlds=stage.worlds(Evidence(stage=stage, drives=_HECTIC).seen, ("the person", _HECTIC)),
        tight=True,
    )


def hundred_speeds(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A hundred links of one person, far too fast: four count, in the speeds as well."""
    stage = _stage(
        product, PureLoss(epsilon), _FEW, where=rings(corners=200, links=100), speeds=_NEARLY_ALL
    )
    scene = tuple(Drive(link=link, steps=90) for link in range(100))
    return Trial(
        name="speeds with Laplace noise: a hundred links of one person or none",
        statistic="the noisy steps from the usual speed, added up over all links,",
        epsilon=epsilon * _NEARLY_ALL,
        worlds=stage.worlds(SpeedTotal(stage=stage).seen, ("the person", scene)),
    )


def twenty_left_out(product: LinkProduct, epsilon: Fraction) -> Examination:
    """Twenty links of one person: one counts, and one more stands for sixteen others."""
    stage = _stage(
        product, rho_of(epsilon), _ONE, where=rings(corners=500, links=20), left_out=_NEARLY_ALL
    )
    scene = tuple(Drive(link=link) for link in range(20))
    return gaussian_shift(
        name="left out: twenty links of one person fit rho",
        statistic="the noisy counts of what is left out, added up over links and weights,",
        epsilon=epsilon,
        worlds=stage.worlds(LeftOutTotal(stage=stage).seen, ("the person", scene)),
    )


def all_questions(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A person in links, classes and speeds: together they move by sqrt(2 rho)."""
    stage = _stage(
        product, rho_of(epsilon), MovementLimits(max_items=2), classes=_THIRD, speeds=_THIRD
    )
    scene = (Drive(link=0, steps=9), Drive(link=5, steps=9))
    return gaussian_shift(
        name="all questions together: one person fits rho",
        statistic="the evidence of links, classes and speeds",
        epsilon=epsilon,
        worlds=stage.worlds(Evidence(stage=stage, drives=scene).seen, ("the person", scene)),
        tight=True,
    )


def published_lone(product: LinkProduct, epsilon: Fraction) -> Examination:
    """The only person on a road, beside a busy one, in a published and fitted table."""
    stage = _stage(
        product,
        rho_of(epsilon),
        _FEW,
        where=rings(corners=1),
        classes=Fraction(1, 10),
        left_out=Fraction(1, 10),
        fitted=True,
    )
    look = Published(stage=stage, link=2).count
    lone = (Drive(link=2), Drive(begin=2), Drive(end=3))
    return gaussian_trial(
        name="published: the only person on a road or nobody",
        statistic="its persons, in hundredths,",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the person", _OTHERS + lone), ("the others", _OTHERS)),
        effort=_RARELY,
    )


def same_table(product: LinkProduct, epsilon: Fraction) -> Examination:
    """The same measurements fitted twice: chance or a look at the rows would make them differ."""
    stage = _stage(
        product,
        rho_of(epsilon),
        _FEW,
        where=rings(corners=100),
        classes=Fraction(1, 10),
        left_out=Fraction(1, 10),
        fitted=True,
    )
    return AlwaysSame(
        name="published: the same table from the same measurements",
        statistic="tables fitted twice",
        epsilon=epsilon,
        sample=stage.sampler(_OTHERS, Refitted(stage=stage).changes),
        effort=_RARELY,
    )


def _asked(
    limits: MovementLimits,
    spend: Loss,
    classes: Fraction = Fraction(0),
    speeds: Fraction = Fraction(0),
    left_out: Fraction = Fraction(0),
    *,
    fitted: bool = False,
) -> LinkCounts:
    # Every link is shown: what is left out tells less.
    return link_counts(
        limits,
        budget=spend,
        classes=classes,
        left_out=left_out,
        speeds=speeds,
        publish_above_se=0.0,
        shrink_to_class=fitted,
        conserve=fitted,
    )


def _stage(  # noqa: PLR0913  one argument for each question
    product: LinkProduct,
    spend: Loss,
    limits: MovementLimits,
    *,
    where: Rings | None = None,
    classes: Fraction = Fraction(0),
    speeds: Fraction = Fraction(0),
    left_out: Fraction = Fraction(0),
    fitted: bool = False,
) -> LinkStage:
    return LinkStage(
        product=product,
        rings=where or rings(corners=500),
        limits=limits,
        spend=spend,
        make=partial(_asked, classes=classes, speeds=speeds, left_out=left_out, fitted=fitted),
    )


# What a release of traces in files must not give away, counted by the engine that plans use.
#
# A corner is a ring road that people drive on, not items that somebody has counted already:
# positions are read, split into trips and matched to the roads.

_CORNERS = 400
_TRIPS = 6
# From the middle of the first link to the middle of the fourth, three positions a link.
_LINKS, _A_LINK = 4, 3
_SECONDS_OF_A_LINK = 120
_SECONDS_BETWEEN = 3600
_SECOND_US = 1_000_000
# Reading files, and matching, is slow.
_BRIEF = Fraction(1, 4)
# What the trips of one person come to, however many there are.
_ITEMS: Drives = (*(Drive(link=i) for i in range(_LINKS)), Drive(begin=0), Drive(end=_LINKS))


def same_way(product: LinkProduct, epsilon: Fraction) -> Examination:
    """Six trips of one person along one way: each link, and both ends, count once."""
    stage = LinkStage(
        product=product,
        rings=rings(corners=_CORNERS),
        limits=MovementLimits(max_items=len(_ITEMS)),
        spend=rho_of(epsilon),
    )
    look = Sums(stage=stage, weights=dict.fromkeys(_ITEMS, 1)).seen
    drivers = Drivers(stage=stage, look=look)
    return gaussian_shift(
        name="files: six trips of one person along one way fit rho",
        statistic="the noisy counts, added up over the way,",
        epsilon=epsilon,
        worlds=(
            World(words="the person", sample=drivers.sampler(_TRIPS)),
            World(words="nobody", sample=drivers.sampler(0)),
        ),
        tight=True,
        effort=_BRIEF,
    )


@dataclass(frozen=True, kw_only=True)
class Drivers:
    """One person on each ring, as positions in files."""

    stage: LinkStage
    look: Look

    def sampler(self, trips: int) -> Sampler:
        """Returns a way to run: positions are written once, and read again for each release."""
        return self.stage.sampler_of_files(
            positions(self.stage.rings, trips),
            lambda folder: TracesSource(folder, TraceColumns()),
            self.look,
        )


def positions(where: Rings, trips: int) -> dict[str, Any]:
    """Returns the positions of one person on each ring, with so many trips along the same way."""
    roads = where.universe.roads
    along = np.arange(_A_LINK * (_LINKS - 1) + 1) / _A_LINK + 0.5
    link = np.floor(along).astype(np.int64)
    corner, trip, step = (
        grid.ravel()
        for grid in np.meshgrid(
            np.arange(where.corners), np.arange(trips), np.arange(len(along)), indexing="ij"
        )
    )
    at, share = corner * where.links + link[step], (along - link)[step]
    tail, head = roads.tail[at], roads.head[at]
    seconds = trip * _SECONDS_BETWEEN + np.rint(along[step] * _SECONDS_OF_A_LINK).astype(np.int64)
    return {
        "person": corner,
        "time": microseconds(where.universe.periods.first_day, seconds * _SECOND_US),
        "lon": roads.node_lon[tail] * (1 - share) + roads.node_lon[head] * share,
        "lat": roads.node_lat[tail] * (1 - share) + roads.node_lat[head] * share,
    }
