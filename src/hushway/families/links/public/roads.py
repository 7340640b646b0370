"""The public road network: directed links between nodes, with their course on the ground."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import FloatArray, IntArray, TextArray
from hushway.errors import GeographyError
from hushway.geography.plane import Plane
from hushway.privacy.digest import digest_of
from hushway.privacy.public_facts import public_facts

# From motorways (1) to residential streets (5).
CLASSES: Final = (1, 2, 3, 4, 5)


@public_facts
@dataclass(frozen=True, kw_only=True, eq=False)
class RoadNetwork:
    """A directed road network. The arrays cannot be written to.

    Attributes:
        node_id: What each node is called.
        node_lon: Longitude of each node, WGS84 degrees.
        node_lat: Latitude of each node.
        link_id: What each link is called: stable ids of the source, with the direction.
        tail: Index of the node that each link leaves.
        head: Index of the node that it leads to.
        length: Length in metres.
        speed: Usual speed in km/h.
        lanes: Number of lanes.
        road_class: Functional class, from 1 (motorways) to 5 (residential streets).
        street: The two directions of a street have the same number, from 0 without gaps.
        name: Name of the street, or "".
        start: Where the course of each link begins among the points; one entry more than links.
        lon: Longitudes of the points of all courses in a row, ends included.
        lat: Latitudes likewise.
    """

    node_id: TextArray
    node_lon: FloatArray
    node_lat: FloatArray
    link_id: TextArray
    tail: IntArray
    head: IntArray
    length: FloatArray
    speed: FloatArray
    lanes: FloatArray
    road_class: IntArray
    street: IntArray
    name: TextArray
    start: IntArray
    lon: FloatArray
    lat: FloatArray

    def __post_init__(self) -> None:
        _check(self)
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_id)

    @property
    def links(self) -> int:
        """Number of links."""
        return len(self.link_id)

    @cached_property
    def plane(self) -> Plane:
        """A map in metres around the middle of the network."""
        return Plane(
            lon=float(self.node_lon.min() + self.node_lon.max()) / 2,
            lat=float(self.node_lat.min() + self.node_lat.max()) / 2,
        )

    @cached_property
    def points(self) -> FloatArray:
        """The points of all courses (x, y) in metres."""
        return self.plane.to_metres(self.lon, self.lat)

    @cached_property
    def node_points(self) -> FloatArray:
        """The nodes (x, y) in metres."""
        return self.plane.to_metres(self.node_lon, self.node_lat)

    @cached_property
    def leaving(self) -> tuple[IntArray, IntArray]:
        """Links by the node that they leave: where each node begins, and the links in order."""
        order = np.argsort(self.tail, kind="stable").astype(np.int64)
        counts = np.bincount(self.tail, minlength=self.nodes)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order

    @cached_property
    def digest(self) -> str:
        """A digest of every public fact of the network."""
        return digest_of({name: _digest(column) for name, column in self._columns.items()})

    @property
    def _columns(self) -> dict[str, NDArray[np.generic]]:
        # Not vars(self): what was computed and kept along the way stands there too.
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def _digest(column: NDArray[np.generic]) -> str:
    if column.dtype.kind == "U":
        data = "\x1f".join(column.tolist()).encode()
    else:
        data = column.astype("<f8" if column.dtype.kind == "f" else "<i8").tobytes()
    return sha256(data).hexdigest()


def _check(roads: RoadNetwork) -> None:
    if roads.links == 0:
        raise GeographyError(
            "The road network has no links.", advice="Give a file with at least one road."
        )
    of_links = ("tail", "head", "length", "speed", "lanes", "road_class", "street", "name")
    uneven = [column for column in of_links if len(getattr(roads, column)) != roads.links]
    inside = (
        not uneven
        and len(roads.node_lon) == len(roads.node_lat) == roads.nodes
        and len(roads.start) == roads.links + 1
        and roads.start[-1] == len(roads.lon) == len(roads.lat)
        and bool((np.diff(roads.start) >= 2).all())  # noqa: PLR2004  a course has two ends
        and bool(((roads.tail >= 0) & (roads.tail < roads.nodes)).all())
        and bool(((roads.head >= 0) & (roads.head < roads.nodes)).all())
        and bool(np.isin(roads.road_class, CLASSES).all())
        and bool((roads.length > 0).all() and (roads.speed > 0).all())
    )
    if not inside:
        raise GeographyError(
            "The columns of a road network do not fit each other.",
            advice="Every link needs two nodes, a course of at least two points, a length and a "
            "speed above 0, and a class from 1 to 5.",
        )
    for kind, ids in (("node", roads.node_id), ("link", roads.link_id)):
        if len(np.unique(ids)) != len(ids):
            raise GeographyError(
                f"A {kind} id appears more than once in the road network.",
                advice=f"Every {kind} needs an id of its own.",
            )
