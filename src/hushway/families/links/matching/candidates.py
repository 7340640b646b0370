"""The candidates of a trip (HMM states): the links near each position, with emission costs."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.grid_index import (
    Grid,
    LinkSegments,
    Nearby,
    find_near,
    project_onto_link,
    turned_offset,
)
from hushway.families.links.matching.traces import HMMParameters
from hushway.numerics.compiled import Rows, compiled_for_threads, rows


class Trellis(NamedTuple):
    """The layers of one trip and their candidates; one for each thread, used for trip after trip.

    Attributes:
        layer: Rows of layers: the position of the trip that it is for, and where that is (x, y);
            where its candidates begin (first) and end (last); the bound up to which routes to it
            were searched; the layer before it (previous), -1 if a stretch begins, -2 if it is left
            out; the layer after it (next), or -1; the chosen candidate, and where its link is among
            the links of the stretch; 1 if the link is forced, else 0.
        candidate: Rows of candidates: the link; the offset along it of the nearest place; the
            emission cost (negative log-likelihood of the position); the total cost of the cheapest
            way up to it; the candidate before it on that way (back), and the kind of step from
            there.
        thinned: 1 for each position that was left out because it says nothing new, else 0.
    """

    layer: Rows
    candidate: Rows
    thinned: IntArray


def empty_trellis(positions: int, candidates: int) -> Trellis:
    """Returns memory for trips of so many positions and candidates of each."""
    number, real = np.int64, np.float64
    return Trellis(
        layer=rows(
            positions,
            position=number,
            x=real,
            y=real,
            first=number,
            last=number,
            bound=real,
            previous=number,
            next=number,
            chosen=number,
            where=number,
            forced=number,
        ),
        # The two directions of a street stay together, so there may be one more.
        candidate=rows(
            positions * (candidates + 1),
            link=number,
            offset=real,
            emission=real,
            total=real,
            back=number,
            kind=number,
        ),
        thinned=np.zeros(positions, dtype=number),
    )


@compiled_for_threads
def thin(trellis: Trellis, x: FloatArray, y: FloatArray, spacing: float) -> None:
    """Marks positions that are too near to the last that is kept to say anything new.

    The first and the last position are kept: a trip begins and ends there.
    """
    last = len(x) - 1
    trellis.thinned[: last + 1] = 1
    trellis.thinned[0] = 0
    kept = 0
    for i in range(1, last + 1):
        if np.hypot(x[i] - x[kept], y[i] - y[kept]) >= spacing:
            trellis.thinned[i] = 0
            kept = i
    if 0 < kept < last:
        # The last position is near the last that is kept, and takes its place.
        trellis.thinned[kept] = 1
    trellis.thinned[last] = 0


@compiled_for_threads
def add_layer(
    trellis: Trellis,
    layer: int,
    spot: tuple[int, float, float],
    ground: tuple[LinkSegments, Grid, Nearby],
    hmm: HMMParameters,
) -> bool:
    """Adds the links near a position as a layer; says whether there are any."""
    courses, grid, found = ground
    count = find_near(courses, grid, found, (spot[1], spot[2]), hmm.radius)
    begin = _begin(trellis, layer, spot)
    at = begin
    for i in range(count):
        if at >= begin + hmm.candidates:
            break
        near = found.near[found.order[i]]
        emission = near.square / (2.0 * hmm.sigma * hmm.sigma)
        _put(trellis.candidate, at, near.link, near.offset, emission)
        at += 1
        if near.twin >= 0:
            offset = turned_offset(courses.length, near.link, near.twin, near.offset)
            _put(trellis.candidate, at, near.twin, offset, emission)
            at += 1
    trellis.layer[layer].last = at
    trellis.layer[layer].forced = 0
    return count > 0


@compiled_for_threads
def add_forced_layer(
    trellis: Trellis,
    layer: int,
    spot: tuple[int, float, float],
    on: tuple[LinkSegments, IntArray, int],
) -> None:
    """Adds one link as a layer, however far away it is: as if the position were on it."""
    courses, first, link = on
    offset, x, y = project_onto_link(courses, first, link, (spot[1], spot[2]))
    begin = _begin(trellis, layer, (spot[0], x, y))
    _put(trellis.candidate, begin, link, offset, 0.0)
    trellis.layer[layer].last = begin + 1
    trellis.layer[layer].forced = 1


@compiled_for_threads
def _begin(trellis: Trellis, layer: int, spot: tuple[int, float, float]) -> int:
    begin = 0 if layer == 0 else trellis.layer[layer - 1].last
    trellis.layer[layer].position = spot[0]
    trellis.layer[layer].x = spot[1]
    trellis.layer[layer].y = spot[2]
    trellis.layer[layer].first = begin
    return begin


@compiled_for_threads
def _put(candidates: Rows, at: int, link: int, offset: float, emission: float) -> None:
    candidates[at].link = link
    candidates[at].offset = offset
    candidates[at].emission = emission
