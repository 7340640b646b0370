"""Ring roads and radial motorways, laid over the grid and tied to it by ramps."""

import math

import numpy as np
from scipy.spatial import KDTree

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.city.streets import Streets

# Radius as a share of the smaller half of the city, class and name.
_RINGS = ((0.45, 2, "Inner Ring"), (0.82, 1, "Outer Ring"))
_RADIALS = 6
_RADIALS_END = 1.1
_BETWEEN_JUNCTIONS_M = 500.0
_RAMP_CLASS = 3
_FEWEST_JUNCTIONS = 8


def with_rings(streets: Streets) -> Streets:
    """Returns the streets with two ring roads, radial motorways from ring to edge, and ramps."""
    half = min(float(np.abs(streets.x).max()), float(np.abs(streets.y).max()))
    wide = np.unique(np.concatenate([streets.tail, streets.head]))
    laid = streets
    rings: list[IntArray] = []
    for share, road_class, name in _RINGS:
        radius = share * half
        count = max(_FEWEST_JUNCTIONS, round(2 * math.pi * radius / _BETWEEN_JUNCTIONS_M))
        angle = 2 * math.pi * np.arange(count) / count
        node = len(laid.x) + np.arange(count, dtype=np.int64)
        # An arc bulges out by so much of its chord.
        bulge = -math.tan(math.pi / count / 2) / 2
        laid = _laid(
            laid,
            (radius * np.cos(angle), radius * np.sin(angle)),
            (node, np.roll(node, -1)),
            road_class=road_class,
            bend=bulge,
            name=name,
        )
        rings.append(node)
    for number in range(_RADIALS):
        laid = _with_radial(laid, rings, number, half)
    return _with_ramps(laid, wide, len(streets.x))


def _with_radial(laid: Streets, rings: list[IntArray], number: int, half: float) -> Streets:
    """Adds a motorway from the inner ring through the outer one and past the edge."""
    angle = 2 * math.pi * (number + 0.25) / _RADIALS
    ends = [ring[round(angle / 2 / math.pi * len(ring)) % len(ring)] for ring in rings]
    edge = _RADIALS_END * half
    gates = [(laid.x[node], laid.y[node]) for node in ends]
    gates.append((edge * math.cos(angle), edge * math.sin(angle)))
    stops = [*ends, None]
    for leg in range(2):
        (x0, y0), (x1, y1) = gates[leg], gates[leg + 1]
        pieces = max(1, round(math.hypot(x1 - x0, y1 - y0) / _BETWEEN_JUNCTIONS_M))
        last = stops[leg + 1]
        fresh = pieces if last is None else pieces - 1
        way = np.arange(1, fresh + 1) / pieces
        node = len(laid.x) + np.arange(fresh, dtype=np.int64)
        chain = np.concatenate([[ends[leg]], node, [] if last is None else [last]])
        chain = chain.astype(np.int64)
        laid = _laid(
            laid,
            (x0 + way * (x1 - x0), y0 + way * (y1 - y0)),
            (chain[:-1], chain[1:]),
            road_class=1,
            bend=0.02,
            name=f"Radial {number + 1}",
        )
    return laid


def _with_ramps(laid: Streets, grid_nodes: IntArray, first: int) -> Streets:
    """Ties every node of the rings and radials to the nearest corner of the grid."""
    node = np.arange(first, len(laid.x), dtype=np.int64)
    tree = KDTree(np.column_stack([laid.x[grid_nodes], laid.y[grid_nodes]]))
    nearest = grid_nodes[tree.query(np.column_stack([laid.x[node], laid.y[node]]))[1]]
    nothing = np.empty(0)
    return _laid(
        laid,
        (nothing, nothing),
        (node, nearest.astype(np.int64)),
        road_class=_RAMP_CLASS,
        bend=0.15,
        name="",
    )


def _laid(
    laid: Streets,
    position: tuple[FloatArray, FloatArray],
    ends: tuple[IntArray, IntArray],
    *,
    road_class: int,
    bend: float,
    name: str,
) -> Streets:
    count = len(ends[0])
    return laid.and_more(
        Streets(
            x=position[0],
            y=position[1],
            tail=ends[0],
            head=ends[1],
            road_class=np.full(count, road_class, dtype=np.int64),
            one_way=np.zeros(count, dtype=np.bool_),
            bend=np.full(count, bend),
            name=np.full(count, name, dtype=np.str_),
        )
    )
