"""What the noise at the ends of trips must not give away: where a trip began or ended.

The guarantee compares two places of one end, all else being equal, and speaks of everything that is
counted. So these audits begin with positions and look at exact counts, before any noise is added to
those. Places differ along the road, where the guarantee has room to spare: it allows for moves
along both axes.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import FloatArray, IntArray
from hushway.audit.harness import Examination, Trial, World
from hushway.engine.key import BoundingKey
from hushway.families.links.audit.product import LinkProduct
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse, MovementCells, MovementLimits
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.noisy import MetricEnds, NoisyTrips
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.geography.periods import Periods
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

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


# A straight road, and people who all drive along it alike: a run for each of them.
#
# The rows are written to a file, read, matched and counted by the engine that plans use. So an
# audit begins with positions, as a release does, and sees all that may become of them on the way to
# counts.
#
# The road runs north along the middle of the plane. A point beside it is put onto it straight
# across, so the node at which a trip begins or ends tells the place of its noisy end along the
# road.

LINKS = 400
METRES = 50.0
NOTHING = -1
"""What is seen of somebody of whom nothing is counted."""

_NORTH_M_OF_A_DEGREE = 110_574.3
_EAST_M_OF_A_DEGREE = 111_319.5
_DAY = date(2024, 1, 1)
_NOON = datetime(2024, 1, 1, 12)  # noqa: DTZ001  on the wall clock of the street
# Nobody has more items, so that all of them count.
_ALL_ITEMS = 3 * LINKS + 2


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A position.

    Attributes:
        second: When, after noon.
        north: Metres along the road, from its middle.
        east: Metres beside it.
    """

    second: int
    north: float
    east: float = 0.0


@dataclass(frozen=True, kw_only=True)
class StreetDrives:
    """Drives that all have the same positions, each with noise of its own at its ends.

    Attributes:
        noisy: Makes trips with noisy ends.
        ends: The noise.
        spots: The positions, in any order.
    """

    noisy: NoisyTrips
    ends: MetricEnds
    spots: tuple[Spot, ...]

    def beginnings(self, runs: int) -> IntArray:
        """Returns the node at which each of so many drives begins, or `NOTHING`."""
        return self._nodes(runs)[0]

    def endings(self, runs: int) -> IntArray:
        """Returns the node at which each of so many drives ends, or `NOTHING`."""
        return self._nodes(runs)[1]

    def _nodes(self, runs: int) -> tuple[IntArray, IntArray]:
        universe, cells = street(), MovementCells(universe=street())
        with TemporaryDirectory(prefix="hushway-audit-") as name:
            source = TracesSource(Path(name) / "traces.parquet", TraceColumns())
            pq.write_table(self._rows(runs), source.path)
            counter = TraceMovements(
                source=source,
                universe=universe,
                limits=MovementLimits(max_items=_ALL_ITEMS),
                key=BoundingKey.draw(os_source()),
                ends=self.ends,
                bits=os_source(),
                matcher=_matcher(),
                noisy=self.noisy,
            )
            exact = counter.count(Query(name=cells.name, cells=cells))
        counts = np.zeros(cells.size, dtype=np.int64)
        counts[exact.cells] = exact.values
        _, begun, ended = np.split(counts, [LINKS, LINKS + universe.roads.nodes])
        return _each(begun, runs), _each(ended, runs)

    def _rows(self, runs: int) -> pa.Table:
        times = [_NOON + timedelta(seconds=spot.second) for spot in self.spots]
        north, east = (np.array([getattr(s, axis) for s in self.spots]) for axis in _AXES)
        return pa.table(
            {
                "person": np.repeat(np.arange(runs), len(self.spots)),
                "time": pa.array(times * runs, pa.timestamp("us")),
                "lon": np.tile(east / _EAST_M_OF_A_DEGREE, runs),
                "lat": np.tile(north / _NORTH_M_OF_A_DEGREE, runs),
            }
        )


_AXES = ("north", "east")


def _each(counts: IntArray, runs: int) -> IntArray:
    """Returns one node for each drive that has one, and nothing for the others, in any order.

    Counts do not tell whose node is whose; an audit looks at one half of the drives and then at the
    other, which must be alike.
    """
    nodes = np.repeat(np.arange(len(counts)), counts)
    drives = np.concatenate([nodes, np.full(runs - len(nodes), NOTHING)])
    return drives[np.argsort(os_source().words(runs))]


@cache
def street() -> LinkUniverse:
    """Returns the road, one way north, with a link every fifty metres, on one day."""
    node = np.arange(LINKS + 1, dtype=np.int64)
    north: FloatArray = (node.astype(np.float64) - LINKS / 2) * METRES
    lat, link = north / _NORTH_M_OF_A_DEGREE, node[:-1]
    roads = RoadNetwork(
        node_id=node.astype(str),
        node_lon=np.zeros(len(node)),
        node_lat=lat,
        link_id=link.astype(str),
        tail=link,
        head=link + 1,
        length=np.full(LINKS, METRES),
        speed=np.full(LINKS, 50.0),
        lanes=np.ones(LINKS),
        road_class=np.ones(LINKS, dtype=np.int64),
        street=link.copy(),
        name=np.full(LINKS, ""),
        start=2 * node,
        lon=np.zeros(2 * LINKS),
        lat=np.column_stack([lat[:-1], lat[1:]]).ravel(),
    )
    day = Periods(zone="UTC", first_day=_DAY, last_day=_DAY, opens=0, closes=1440, minutes=1440)
    return LinkUniverse(
        roads=roads, periods=day, zone=np.zeros(LINKS, dtype=np.int64), zones=("street",)
    )


@cache
def _matcher() -> Matcher:
    return Matcher(street().roads)
