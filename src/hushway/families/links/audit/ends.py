"""What the noise at the ends of trips must not give away: where a trip began or ended.

The promise compares two places of one end, all else being equal, and speaks of everything that is
counted. So these audits begin with positions and look at exact counts, before any noise is added to
those. Places differ along the road, where the promise has room to spare: it allows for moves along
both axes.
"""

from fractions import Fraction

from hushway.audit.harness import Examination, Trial, World
from hushway.families.links.audit.product import LinkProduct
from hushway.families.links.audit.street import Spot, StreetDrives
from hushway.families.links.rows.ends import MetricEnds

RADIUS = 100
_STEP = 10
# Around a place on the road the disc takes so many metres, besides the reach of the noise, to hold
# enough streets.
_STREETS_M = 650.0
# The matcher connects no positions that are 5,000 metres apart.
_STRIDE_M = 4600.0


def moved_home(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A trip that begins at one place, or at another one as far away as the radius.

    A single position connects the beginning with the end. A disc around the one place would leave
    it, a disc around the other one would take it, and the trip with it.
    """
    ends = _ends(epsilon)
    on_the_way = ends.reach + _STREETS_M + RADIUS / 2
    rest = (
        Spot(second=200, north=on_the_way),
        Spot(second=450, north=on_the_way + _STRIDE_M),
    )
    one, other = (
        StreetDrives(
            noisy=product.ends, ends=ends, spots=(Spot(second=0, north=north), *rest)
        ).beginnings
        for north in (0.0, float(RADIUS))
    )
    return Trial(
        name="ends: a trip from one place or from another, a radius away",
        statistic="the node at which the counted trip begins",
        epsilon=epsilon,
        worlds=(World(words="the one", sample=one), World(words="the other", sample=other)),
    )


def just_in_reach(product: LinkProduct, epsilon: Fraction) -> Examination:
    """An end that somebody could just have got to in time, or just not, two metres further on.

    Both are nearest to the same point of the grid, so nothing at all may tell them apart.
    """
    one, other = (
        StreetDrives(
            noisy=product.ends,
            ends=_ends(epsilon),
            spots=(Spot(second=0, north=0.0), Spot(second=10, north=north)),
        ).endings
        for north in (699.0, 701.0)
    )
    return Trial(
        name="ends: a trip to the same point of the grid, at 70 metres a second or faster",
        statistic="the node at which the counted trip ends",
        epsilon=Fraction(0),
        worlds=(World(words="70", sample=one), World(words="faster", sample=other)),
    )


def two_at_once(product: LinkProduct, epsilon: Fraction) -> Examination:
    """Two positions at the last time of a trip, one of which is here or twenty metres to the east.

    The other one is far up the road. Which of them is first from west to east is not the same.
    """
    start = Spot(second=0, north=-1500.0)
    far = Spot(second=100, north=700.0)
    one, other = (
        StreetDrives(
            noisy=product.ends,
            ends=_ends(epsilon),
            spots=(start, far, Spot(second=100, north=0.0, east=east)),
        ).endings
        for east in (-10.0, 10.0)
    )
    return Trial(
        name="ends: two positions at the last time of a trip, one of them 20 metres further east",
        statistic="the node at which the counted trip ends",
        epsilon=epsilon * Fraction(20, RADIUS),
        worlds=(World(words="the west", sample=one), World(words="the east", sample=other)),
    )


def _ends(epsilon: Fraction) -> MetricEnds:
    return MetricEnds(epsilon=epsilon, radius=RADIUS, step=_STEP, max_trips=1)
