"""What the noise at the ends of trips must not give away: where a trip began.

A straight road along which a trip begins at one place or at another, as far away as the radius of
the promise. A point near the road is put onto it straight across, so what is seen of the noisy end
is its place along the road.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from hushway.audit.bounds import FloatArray, IntArray
from hushway.audit.harness import Examination, Trial, World
from hushway.audit.links_product import LinkProduct
from hushway.engine.movements_ends import MetricEnds
from hushway.engine.movements_trips import Trips
from hushway.geography.roads import RoadNetwork
from hushway.matching.matcher import Matcher
from hushway.matching.traces import Traces
from hushway.privacy.randomness import os_source

RADIUS = 100
_STEP = 10
_LINKS = 40
_METRES = 500.0
_METRES_OF_A_DEGREE = 111_319.0


def moved_home(product: LinkProduct, epsilon: Fraction) -> Examination:
    """A trip that begins at one place, or at another one as far away as the radius.

    The places differ along one axis only, where the promise has room to spare.
    """
    ends = MetricEnds(epsilon=epsilon, radius=RADIUS, step=_STEP, max_trips=1)
    return Trial(
        name="ends: a trip from one place or from another, a radius away",
        statistic="where the noisy trip begins, in steps along the road,",
        epsilon=epsilon,
        worlds=(
            World(words="the one", sample=NoisyStart(product=product, ends=ends, x=0).sample),
            World(
                words="the other", sample=NoisyStart(product=product, ends=ends, x=RADIUS).sample
            ),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class NoisyStart:
    """The noisy beginnings of trips from one place.

    Attributes:
        product: What is audited.
        ends: The noise.
        x: Where the trips begin, in metres along the road.
    """

    product: LinkProduct
    ends: MetricEnds
    x: int

    def sample(self, runs: int) -> IntArray:
        """Returns where so many trips begin, each with noise of its own."""
        roads = straight_road()
        far = _METRES * _LINKS / 4
        trips = Trips(
            person=np.arange(runs, dtype=np.int64),
            traces=Traces(
                start=2 * np.arange(runs + 1, dtype=np.int64),
                x=np.tile([float(self.x), far], runs),
                y=np.zeros(2 * runs),
                seconds=np.tile([0.0, 600.0], runs),
            ),
        )
        noisy = self.product.ends(trips, self.ends, os_source(), Matcher(roads), roads).traces
        return np.rint(noisy.x[noisy.start[:-1]] / _STEP).astype(np.int64)


@cache
def straight_road() -> RoadNetwork:
    """Returns a road along the equator, around the middle of the plane."""
    node = np.arange(_LINKS + 1, dtype=np.int64)
    lon: FloatArray = (node.astype(np.float64) - _LINKS / 2) * (_METRES / _METRES_OF_A_DEGREE)
    link = node[:-1]
    return RoadNetwork(
        node_id=node.astype(str),
        node_lon=lon,
        node_lat=np.zeros(len(node)),
        link_id=link.astype(str),
        tail=link,
        head=link + 1,
        length=np.full(_LINKS, _METRES),
        speed=np.full(_LINKS, 50.0),
        lanes=np.ones(_LINKS),
        road_class=np.ones(_LINKS, dtype=np.int64),
        street=link.copy(),
        name=np.full(_LINKS, ""),
        start=2 * node,
        lon=np.column_stack([lon[:-1], lon[1:]]).ravel(),
        lat=np.zeros(2 * _LINKS),
    )
