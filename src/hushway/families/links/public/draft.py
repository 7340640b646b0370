"""Roads as a source gives them, before anybody has cleaned them."""

from dataclasses import dataclass

from hushway.arrays import BoolArray, FloatArray, IntArray, TextArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RoadDraft:
    """Lines between nodes that may be driven along, back, or both.

    Attributes:
        node_id: What each node is called.
        node_lon: Longitude of each node, WGS84 degrees.
        node_lat: Latitude of each node.
        line_id: What each line is called.
        tail: Index of the node at the beginning of each line.
        head: Index of the node at its end.
        directions: Whether it may be driven along, and back; two columns.
        speed: Speed in km/h along and back; NaN where the source does not say.
        lanes: Lanes along and back; NaN likewise.
        usual_speed: What is assumed where the source does not say.
        usual_lanes: Likewise, in one direction.
        road_class: Functional class of each line.
        name: Name of the street, or "".
        start: Where the course of each line begins among the points; one entry more than lines.
        lon: Longitudes of the points of all courses in a row.
        lat: Latitudes likewise.
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
