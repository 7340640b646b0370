"""What the noise at the ends of trips must not give away: where a trip began or ended.

The guarantee compares two places of one end, all else being equal, and speaks of everything that is
counted. So these audits begin with positions and look at exact counts, before any noise is added to
those. Places differ along the road, where the guarantee has room to spare: it allows for moves
along both axes.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.cases import ONE_OR_OTHER, Case, Loses, Staged, cases_of
from hushway.auditing.harness import Sampler, Trial
from hushway.auditing.product import dense
from hushway.engine.key import BoundingKey
from hushway.families.links.audit.stage import LinkProduct
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse, MovementCells, MovementLimits
from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.noisy import MetricEnds, NoisyTrips
from hushway.families.links.rows.rows import TraceColumns, TracesSource
from hushway.geography.periods import Periods
from hushway.privacy.loss import PureLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

RADIUS = 100
_STEP = 10
# Around a place on the road the disc takes so many metres, besides the reach of the noise, to hold
# enough streets.
_STREETS_M = 650.0
# The matcher connects no positions that are 5,000 metres apart.
_STRIDE_M = 4600.0


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


Spots = tuple[Spot, ...]


@dataclass(frozen=True, kw_only=True)
class StreetStage:
    """The road. A scene is the positions of one drive; each run has noise of its own at its ends.

    Attributes:
        product: Whose `ends` makes trips with noisy ends.
        spend: The price of one end, moved by the radius.
    """

    product: LinkProduct
    spend: PureLoss

    @property
    def ends(self) -> MetricEnds:
        """The noise."""
        return MetricEnds(epsilon=self.spend.epsilon, radius=RADIUS, step=_STEP, max_trips=1)

    def sampler(self, scene: Spots, look: int) -> Sampler:
        """Returns the nodes at which so many drives begin or end, or `NOTHING`."""
        return partial(nodes, self.product.ends, self.ends, scene, look)


BEGIN, END = 1, 2
"""Which nodes of a trip are looked at."""


def nodes(noisy: NoisyTrips, ends: MetricEnds, spots: Spots, look: int, runs: int) -> IntArray:
    """Returns the node at which each of so many drives begins or ends, or `NOTHING`."""
    universe, cells = street(), MovementCells(universe=street())
    query = Query(name=cells.name, cells=cells)
    with TemporaryDirectory(prefix="hushway-audit-") as name:
        source = TracesSource(Path(name) / "traces.parquet", TraceColumns())
        pq.write_table(_rows(spots, runs), source.path)
        counter = TraceMovements(
            source=source,
            universe=universe,
            limits=MovementLimits(max_items=_ALL_ITEMS),
            key=BoundingKey.draw(os_source()),
            ends=ends,
            bits=os_source(),
            matcher=_matcher(),
            noisy=noisy,
        )
        counts = dense(counter.count(query), query)
    return _each(np.split(counts, [LINKS, LINKS + universe.roads.nodes])[look], runs)


def _rows(spots: Spots, runs: int) -> pa.Table:
    times = [_NOON + timedelta(seconds=spot.second) for spot in spots]
    return pa.table(
        {
            "person": np.repeat(np.arange(runs), len(spots)),
            "time": pa.array(times * runs, pa.timestamp("us")),
            "lon": np.tile([spot.east / _EAST_M_OF_A_DEGREE for spot in spots], runs),
            "lat": np.tile([spot.north / _NORTH_M_OF_A_DEGREE for spot in spots], runs),
        }
    )


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


def _staged(product: LinkProduct, epsilon: Fraction) -> StreetStage:
    return StreetStage(product=product, spend=PureLoss(epsilon))


def _cannot_tell_homes_apart(on: Staged) -> Trial:
    """Claims epsilon for two homes, with a single position on the way to the end.

    A disc around the one place would leave it, a disc around the other one would take it, and the
    trip with it.
    """
    on_the_way = on.stage.ends.reach + _STREETS_M + RADIUS / 2
    rest = (Spot(second=200, north=on_the_way), Spot(second=450, north=on_the_way + _STRIDE_M))
    case = replace(on.case, one=(*on.case.one, *rest), other=(*on.case.other, *rest))
    return Loses()(replace(on, case=case))


MOVED_HOME = Case(
    "ends: a trip from one place or from another, a radius away",
    "the node at which the counted trip begins",
    stage=_staged,
    look=BEGIN,
    one=(Spot(second=0, north=0.0),),
    other=(Spot(second=0, north=float(RADIUS)),),
    words=ONE_OR_OTHER,
    claim=_cannot_tell_homes_apart,
)
# An end that somebody could just have got to in time, or just not, two metres further on. Both are
# nearest to the same point of the grid, so nothing at all may tell them apart.
JUST_IN_REACH = Case(
    "ends: a trip to the same point of the grid, at 70 metres a second or faster",
    "the node at which the counted trip ends",
    stage=_staged,
    look=END,
    one=(Spot(second=0, north=0.0), Spot(second=10, north=699.0)),
    other=(Spot(second=0, north=0.0), Spot(second=10, north=701.0)),
    words=("70", "faster"),
    claim=Loses(share=Fraction(0)),
)
_UP_THE_ROAD = (Spot(second=0, north=-1500.0), Spot(second=100, north=700.0))
# The other one is far up the road. Which of them is first from west to east is not the same.
TWO_AT_ONCE = Case(
    "ends: two positions at the last time of a trip, one of them 20 metres further east",
    "the node at which the counted trip ends",
    stage=_staged,
    look=END,
    one=(*_UP_THE_ROAD, Spot(second=100, north=0.0, east=-10.0)),
    other=(*_UP_THE_ROAD, Spot(second=100, north=0.0, east=10.0)),
    words=("the west", "the east"),
    claim=Loses(share=Fraction(20, RADIUS)),
)

AUDITS = cases_of(globals())
