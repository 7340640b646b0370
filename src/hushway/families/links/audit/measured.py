"""What noisy counts of links and of ends of trips must not give away."""

from dataclasses import replace
from fractions import Fraction

from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Examination, Trial
from hushway.audit.law import ChanceCheck, VarianceCheck, gaussian, gaussian_tail
from hushway.audit.product import Look
from hushway.audit.shift import DELTA, gaussian_shift, gaussian_trial, rho_of
from hushway.families.links.audit.looks import Evidence, Published, Sums
from hushway.families.links.audit.product import (
    NO_DRIVES,
    Drive,
    Drives,
    LinkProduct,
    LinkStage,
    plain,
    rings,
)
from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.public.universe import MovementLimits
from hushway.privacy.loss import Loss, PureLoss

# Corners, links of each and periods. Rings are made when they are needed, which takes a while.
_RINGS = 1000, 10, 1
_HUNDREDS = 50, 25, 20

# A trip over seven links: with its beginning and its end, nine items.
_TRIP: Drives = (*(Drive(link=i) for i in range(7)), Drive(begin=0), Drive(end=7))
# Every link of the ring in every period, twice: 500 items.
_EVERYWHERE: Drives = tuple(
    Drive(link=link, period=when, times=2) for link in range(25) for when in range(20)
)
# Five trips from home in every period, a hundred in all, each to another place.
_FROM_HOME: Drives = tuple(Drive(begin=0, period=when, times=5) for when in range(20)) + tuple(
    Drive(end=1 + trip, period=when) for trip in range(5) for when in range(20)
)
_CROWD = 5
_BOTH_LINKS = 10
# Fewer runs where universes are large, and a mistake would show in nearly all of them.
_BRIEF = Fraction(1, 4)
_ITEM = "the noisy number of persons on the link"


def lone_road(product: LinkProduct, epsilon: Fraction) -> Examination:
    """The only person on a road that nobody else uses, or nobody: Laplace noise."""
    stage = _laplace(product, epsilon, most=1)
    look = Sums(stage=stage, weights={Drive(link=3): 1})
    return Trial(
        name="links with Laplace noise: the only person on a road or nobody",
        statistic=_ITEM,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Drive(link=3),))),
        tight=True,
    )


def lone_trip(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A link, the beginning and the end of one trip, in all noisy counts: Laplace noise."""
    stage = _laplace(product, epsilon, most=3)
    trip = (Drive(link=3), Drive(begin=3), Drive(end=4))
    # All of epsilon shows if all three counts are at least one: an eighth of the time.
    effort = Fraction(runs_needed(epsilon, 1 / 8), runs_needed(epsilon))
    return Trial(
        name="links with Laplace noise: a trip over one link or none",
        statistic="the evidence of link, beginning and end, in thousandths,",
        epsilon=epsilon,
        worlds=stage.worlds(Evidence(stage=stage, drives=trip).seen, ("the person", trip)),
        tight=True,
        effort=effort,
    )


def nine_items(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A person with as many items as count, or nobody."""
    stage = _gaussian(product, epsilon, most=9)
    return gaussian_trial(
        name="links: a trip over seven links or none",
        statistic="the noisy counts, added up over the trip,",
        epsilon=epsilon,
        worlds=stage.worlds(_sum_over(stage, _TRIP), ("the person", _TRIP)),
    )


def shift_of_nine(product: LinkProduct, epsilon: Fraction) -> Examination:
    """The same person moves the counts by sqrt(2 rho) standard deviations, no more, no less."""
    stage = _gaussian(product, epsilon, most=9)
    return gaussian_shift(
        name="links: a trip over seven links fits rho",
        statistic="the noisy counts, added up over the trip,",
        epsilon=epsilon,
        worlds=stage.worlds(_sum_over(stage, _TRIP), ("the person", _TRIP)),
        tight=True,
    )


def long_drive(product: LinkProduct, epsilon: Fraction) -> Examination:
    """Five hundred links of one person, four of which count."""
    stage = _gaussian(product, epsilon, most=4, where=_HUNDREDS)
    return gaussian_trial(
        name="links: 500 links of one person or none",
        statistic="the sum over all links and periods",
        epsilon=epsilon,
        worlds=stage.worlds(_sum_over(stage, _EVERYWHERE), ("the person", _EVERYWHERE)),
        effort=_BRIEF,
    )


def long_drive_laplace(product: LinkProduct, epsilon: Fraction) -> Examination:
    """The same with Laplace noise."""
    stage = _laplace(product, epsilon, most=4, where=_HUNDREDS)
    return Trial(
        name="links with Laplace noise: 500 links of one person or none",
        statistic="the sum over all links and periods",
        epsilon=epsilon,
        worlds=stage.worlds(_sum_over(stage, _EVERYWHERE), ("the person", _EVERYWHERE)),
        effort=_BRIEF,
    )


def one_home(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A hundred trips from one home in twenty periods: four items count, each once."""
    stage = _gaussian(product, epsilon, most=4, where=_HUNDREDS)
    homes = tuple(Drive(begin=0, period=when) for when in range(20))
    return gaussian_trial(
        name="links: a hundred trips from one home or none",
        statistic="the noisy number of trips that begin there, over all periods,",
        epsilon=epsilon,
        worlds=stage.worlds(_sum_over(stage, homes), ("the person", _FROM_HOME)),
        effort=_BRIEF,
    )


def two_ends(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A trip that ends at one node, or at another one five kilometres away.

    Two of the three counts of a trip differ, each by one, so the squares of the change sum to 2
    where those of a person sum to 3.
    """
    stage = _gaussian(product, epsilon, most=3)
    begun = (Drive(link=2), Drive(begin=2))
    near, far = Drive(end=0), Drive(end=5)
    look = Sums(stage=stage, weights={near: 1, far: -1}).seen
    return gaussian_shift(
        name="links: a trip to one place or to another, five kilometres away",
        statistic="the noisy ends of trips at one node less those at the other",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the one", (*begun, near)), ("the other", (*begun, far))),
        tight=True,
        rhos=Fraction(2, 3),
    )


def at_threshold(product: LinkProduct, epsilon: Fraction) -> Examination:
    """One more person on a link that a few use already."""
    stage = _laplace(product, epsilon, most=1)
    crowd = tuple(Drive(link=3, person=i) for i in range(_CROWD))
    look = Sums(stage=stage, weights={Drive(link=3): 1})
    return Trial(
        name="links with Laplace noise: five persons or four",
        statistic=_ITEM,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("five", crowd), ("four", crowd[:-1])),
        tight=True,
    )


def one_tips_the_scale(product: LinkProduct, epsilon: Fraction) -> Examination:
    """Ten people with two links each, of which one counts: nobody else may decide which."""
    stage = _laplace(product, epsilon, most=1)
    others = tuple(Drive(link=link, person=1 + i) for i in range(_BOTH_LINKS) for link in (0, 1))
    look = Sums(stage=stage, weights={Drive(link=1): 1, Drive(link=0): -1}).seen
    return Trial(
        name="links with Laplace noise: one more person on one of two links that ten use",
        statistic="the noisy count of one link less that of the other",
        epsilon=epsilon,
        worlds=stage.worlds(look, ("the person", (*others, Drive(link=1))), ("the others", others)),
    )


def link_less_another(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A link less another one: exact if both were given the same noise."""
    stage = _gaussian(product, epsilon, most=1)
    look = Sums(stage=stage, weights={Drive(link=3): 1, Drive(link=4): -1})
    return gaussian_trial(
        name="links: one link less another",
        statistic="the difference of two noisy counts",
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Drive(link=3),))),
    )


def fresh_links(product: LinkProduct, epsilon: Fraction) -> Examination:
    """The noise of a link and of a beginning differs as two independent draws do."""
    stage = _gaussian(product, epsilon, most=1)
    look = Sums(stage=stage, weights={Drive(link=3): 1, Drive(begin=4): -1})
    return VarianceCheck(
        name="links: fresh noise for every link and node",
        statistic="the difference of two empty counts",
        epsilon=epsilon,
        delta=DELTA,
        law=gaussian(_sigma_squared(epsilon), terms=2),
        sample=stage.sampler(NO_DRIVES, look.seen),
    )


def unused_road(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A road that nobody uses is published as often as its noise is above 0, if all links are."""
    stage = replace(_gaussian(product, epsilon, most=1), make=_every_link)
    return ChanceCheck(
        name="published: a road that nobody uses",
        statistic="it is shown",
        epsilon=epsilon,
        delta=DELTA,
        chance=gaussian_tail(_sigma_squared(epsilon), 1),
        sample=stage.sampler(NO_DRIVES, Published(stage=stage, link=3).shown),
    )


def _sigma_squared(epsilon: Fraction) -> Fraction:
    """Returns the parameter of the noise for a person with one item."""
    return 1 / (2 * rho_of(epsilon).rho)


def _laplace(
    product: LinkProduct, epsilon: Fraction, most: int, where: tuple[int, int, int] = _RINGS
) -> LinkStage:
    return replace(_gaussian(product, epsilon, most, where), spend=PureLoss(epsilon))


def _gaussian(
    product: LinkProduct, epsilon: Fraction, most: int, where: tuple[int, int, int] = _RINGS
) -> LinkStage:
    corners, links, periods = where
    return LinkStage(
        product=product,
        rings=rings(corners=corners, links=links, periods=periods),
        limits=MovementLimits(max_items=most),
        spend=rho_of(epsilon),
    )


def _every_link(limits: MovementLimits, spend: Loss) -> LinkCounts:
    return replace(plain(limits, spend), publish_above_se=0.0)


def _sum_over(stage: LinkStage, drives: Drives) -> Look:
    return Sums(stage=stage, weights=dict.fromkeys(drives, 1)).seen
