"""From a draft to a network in which every link can be reached and left."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray, WordArray
from hushway.errors import GeographyError
from hushway.families.links.public.courses import (
    DECIMALS,
    between,
    course_hashes,
    course_lengths,
    segment_lengths,
    starts_of,
    taken_points,
    without_repeats,
)
from hushway.families.links.public.draft import RoadDraft
from hushway.families.links.public.parts import numbered_by_appearance, strongly_connected
from hushway.families.links.public.report import RoadsReport
from hushway.families.links.public.roads import RoadNetwork


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

    Args:
        draft: Lines of a source.
        noun: Where they come from, for messages.

    Raises:
        GeographyError: Nothing is left.
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
