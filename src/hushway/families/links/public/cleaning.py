"""From a draft to a network in which every link can be reached and left."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hushway.arrays import BoolArray, FloatArray, IntArray, TextArray, WordArray
from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.families.links.public.roads import (
    DECIMALS,
    RoadNetwork,
    between,
    course_hashes,
    course_lengths,
    midpoints_in_degrees,
    segment_lengths,
    starts_of,
    taken_points,
    without_repeats,
)
from hushway.geography.areas import Areas


@dataclass(frozen=True, kw_only=True, eq=False)
class RoadDraft:
    """Lines between nodes that may be driven along, back, or both.

    Attributes:
        node_lon: Longitude of each node, WGS84 degrees.
        directions: Whether it may be driven along, and back; two columns.
        speed: Speed in km/h along and back; NaN where the source does not say.
        lanes: Lanes along and back; NaN likewise.
        usual_speed: What is assumed where the source does not say.
        usual_lanes: Likewise, in one direction.
        start: Where the course of each line begins among the points; one entry more than lines.
        lon: Longitudes of the points of all courses in a row.
        along: What the id of a link along its line has after the id of the line.
        cut_off: Ways that lead beyond the edge of the source, and were cut there.
        unknown_classes: Words for classes that are in no table.
    """

    node_id: TextArray
    node_lon: FloatArray
    node_lat: FloatArray
    line_id: TextArray
    tail: IntArray
    head: IntArray
    directions: BoolArray
    speed: FloatArray
    lanes: FloatArray
    usual_speed: FloatArray
    usual_lanes: FloatArray
    road_class: IntArray
    name: TextArray
    start: IntArray
    lon: FloatArray
    lat: FloatArray
    along: str = ""
    cut_off: int = 0
    unknown_classes: tuple[str, ...] = ()


# Why a link may be left out, and the words for it.
REASONS: Final[Mapping[str, str]] = {
    "no_length": "have no length",
    "duplicate": "repeat the course of another link between the same nodes",
    "not_connected": "cannot be reached from the rest of the network and left again",
}
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class RoadsReport:
    """Numbers of directed links.

    Attributes:
        read: Links in the file that cars may use.
        cut_off: Ways that lead beyond the edge of the file, and were cut there.
        turned: Links whose course was drawn against their direction, and was turned round.
        assumed_speeds: Links of the network whose speed is the usual one of their kind.
        unknown_classes: Words for classes that are in no table; such links have class 5.
    """

    read: int
    kept: int
    dropped: Mapping[str, int]
    cut_off: int
    turned: int
    assumed_speeds: int
    unknown_classes: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The numbers in words, for a screen."""
        parts = [f"{self.kept:,} of {self.read:,} directed links are used."]
        parts += [
            f"{count:,} {REASONS[reason]}." for reason, count in self.dropped.items() if count
        ]
        if self.cut_off:
            parts.append(f"{self.cut_off:,} ways lead beyond the edge of the file and end there.")
        if self.turned:
            parts.append(f"{self.turned:,} were drawn against their direction and turned round.")
        if self.assumed_speeds:
            parts.append(f"{self.assumed_speeds:,} have the usual speed of their kind of road.")
        if self.unknown_classes:
            kinds = some_of(self.unknown_classes, _SHOWN)
            parts.append(f"Unknown kinds of roads count as class 5: {kinds}.")
        return tuple(parts)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Courses:
    start: IntArray
    lon: FloatArray
    lat: FloatArray


def network_of(draft: RoadDraft, noun: str) -> tuple[RoadNetwork, RoadsReport]:
    """Returns the largest part of a draft in which every link leads to every other one.

    Links without length are dropped, and so are links that repeat the course of another one in the
    same direction; of those the first stays. Links that end where they begin are kept: a road round
    a block is a road.
    """
    line, side = np.nonzero(draft.directions)
    back = side == 1
    tail, head = draft.tail[line], draft.head[line]
    tail, head = np.where(back, head, tail), np.where(back, tail, head)
    turned = _drawn_backwards(draft)
    courses = _directed(draft, line, back ^ turned[line])
    length = course_lengths(courses.start, courses.lon, courses.lat)
    ordered, unordered = course_hashes(courses.start, courses.lon, courses.lat)
    long_enough = length > 0
    fresh = long_enough & _firsts(tail, head, ordered, long_enough)
    connected = strongly_connected(tail, head, len(draft.node_id), among=fresh)
    if not connected.any():
        raise GeographyError(
            f"Nothing is left of {noun} after cleaning.",
            advice="It needs roads that lead on and back again; check which of them are one-way.",
        )
    report = RoadsReport(
        read=len(line),
        kept=int(connected.sum()),
        dropped={
            "no_length": int((~long_enough).sum()),
            "duplicate": int((long_enough & ~fresh).sum()),
            "not_connected": int((fresh & ~connected).sum()),
        },
        cut_off=draft.cut_off,
        turned=int(turned[line].sum()),
        assumed_speeds=int(np.isnan(draft.speed[line, side][connected]).sum()),
        unknown_classes=draft.unknown_classes,
    )
    rows = np.flatnonzero(connected)
    points = taken_points(courses.start, rows, np.zeros(len(rows), dtype=np.bool_))
    nodes = np.union1d(tail[rows], head[rows])
    line, side = line[rows], side[rows]
    roads = RoadNetwork(
        node_id=draft.node_id[nodes],
        node_lon=np.round(draft.node_lon[nodes], DECIMALS),
        node_lat=np.round(draft.node_lat[nodes], DECIMALS),
        link_id=np.strings.add(draft.line_id[line], np.where(side == 1, ":b", draft.along)),
        tail=np.searchsorted(nodes, tail[rows]).astype(np.int64),
        head=np.searchsorted(nodes, head[rows]).astype(np.int64),
        length=length[rows],
        speed=_said_or_usual(draft.speed[line, side], draft.usual_speed[line]),
        lanes=_said_or_usual(draft.lanes[line, side], draft.usual_lanes[line]),
        road_class=draft.road_class[line],
        street=_streets(tail[rows], head[rows], unordered[rows]),
        name=draft.name[line],
        start=starts_of(np.diff(courses.start)[rows]),
        lon=courses.lon[points],
        lat=courses.lat[points],
    )
    return roads, report


def _said_or_usual(said: FloatArray, usual: FloatArray) -> FloatArray:
    return np.where(np.isnan(said), usual, said)


def _drawn_backwards(draft: RoadDraft) -> BoolArray:
    """Marks lines whose course begins nearer to their head and ends nearer to their tail."""
    first, last = draft.start[:-1], draft.start[1:] - 1

    def apart(point: IntArray, node: IntArray) -> FloatArray:
        lon = np.column_stack([draft.lon[point], draft.node_lon[node]]).ravel()
        lat = np.column_stack([draft.lat[point], draft.node_lat[node]]).ravel()
        return segment_lengths(lon, lat)[::2]

    as_drawn = apart(first, draft.tail) + apart(last, draft.head)
    return apart(first, draft.head) + apart(last, draft.tail) < as_drawn


def _directed(draft: RoadDraft, line: IntArray, turned: BoolArray) -> _Courses:
    """Returns the courses of links, rounded, without points that stand still."""
    points = taken_points(draft.start, line, turned)
    start = starts_of(np.diff(draft.start)[line])
    lon, lat = np.round(draft.lon[points], DECIMALS), np.round(draft.lat[points], DECIMALS)
    keep = without_repeats(start, lon, lat)
    # A course that stands still altogether keeps both ends, until it is dropped.
    alone = np.add.reduceat(keep, start[:-1], dtype=np.int64) == 1
    keep[start[1:][alone] - 1] = True
    return _Courses(
        start=starts_of(np.add.reduceat(keep, start[:-1], dtype=np.int64)),
        lon=lon[keep],
        lat=lat[keep],
    )


def _firsts(tail: IntArray, head: IntArray, course: WordArray, among: BoolArray) -> BoolArray:
    """Marks the first link of every course between two nodes."""
    rows = np.flatnonzero(among)
    _, first = np.unique(between(tail[rows], head[rows], course[rows]), return_index=True)
    marks = np.zeros(len(tail), dtype=np.bool_)
    marks[rows[first]] = True
    return marks


def _streets(tail: IntArray, head: IntArray, points: WordArray) -> IntArray:
    """Returns one number for links between the same nodes through the same points."""
    keys = between(np.minimum(tail, head), np.maximum(tail, head), points)
    _, street = np.unique(keys, return_inverse=True)
    return numbered_by_appearance(street.astype(np.int64))


# West, south, east, north in WGS84 degrees.
Box = tuple[float, float, float, float]


def strongly_connected(
    tail: IntArray, head: IntArray, nodes: int, *, among: BoolArray
) -> BoolArray:
    """Marks the links of the largest part in which every link leads to every other one."""
    if not among.any():
        return among
    ones = np.ones(int(among.sum()), dtype=np.int8)
    graph = coo_array((ones, (tail[among], head[among])), shape=(nodes, nodes)).tocsr()
    _, part = connected_components(graph, directed=True, connection="strong")
    inside: BoolArray = among & (part[tail] == part[head])
    if not inside.any():
        return inside
    # Parts are compared by links: a part of one node may have none. Of equals, the first node's.
    largest = part[tail[inside]][_first_largest(part[tail[inside]])]
    marked: BoolArray = inside & (part[tail] == largest)
    return marked


def links_kept(roads: RoadNetwork, keep: BoolArray) -> RoadNetwork:
    """Returns a network of some links and the nodes at their ends, in the same order."""
    rows = np.flatnonzero(keep)
    nodes = np.union1d(roads.tail[rows], roads.head[rows])
    points = taken_points(roads.start, rows, np.zeros(len(rows), dtype=np.bool_))
    of_nodes = ("node_id", "node_lon", "node_lat")
    of_links = ("link_id", "length", "speed", "lanes", "road_class", "name")
    return RoadNetwork(
        **{column: getattr(roads, column)[nodes] for column in of_nodes},
        **{column: getattr(roads, column)[rows] for column in of_links},
        tail=np.searchsorted(nodes, roads.tail[rows]).astype(np.int64),
        head=np.searchsorted(nodes, roads.head[rows]).astype(np.int64),
        street=numbered_by_appearance(roads.street[rows]),
        start=starts_of(np.diff(roads.start)[rows]),
        lon=roads.lon[points],
        lat=roads.lat[points],
    )


def roads_within(roads: RoadNetwork, where: Areas | Box) -> RoadNetwork:
    """Returns the largest connected part of the links whose midpoints lie inside."""
    lon, lat = midpoints_in_degrees(roads)
    if isinstance(where, Areas):
        ground = shapely.union_all(where.shapes)
        shapely.prepare(ground)
        inside = np.asarray(shapely.intersects_xy(ground, lon, lat))
    else:
        west, south, east, north = where
        inside = (lon >= west) & (lon <= east) & (lat >= south) & (lat <= north)
    keep = strongly_connected(roads.tail, roads.head, roads.nodes, among=inside)
    if not keep.any():
        raise GeographyError(
            "No roads that lead on and back again lie inside.",
            advice="Give larger areas, or a box as west, south, east, north in degrees.",
        )
    return links_kept(roads, keep)


def _first_largest(part: IntArray) -> int:
    """Returns the first place at which the part with the most links stands."""
    counts = np.bincount(part)
    return int(np.argmax(counts[part]))


def numbered_by_appearance(street: IntArray) -> IntArray:
    """Returns numbers of streets from 0 without gaps, in the order in which streets appear."""
    _, first, number = np.unique(street, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[number.ravel()]
