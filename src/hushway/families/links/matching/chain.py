"""The candidates of a trip: one layer for each position that says something."""

from typing import NamedTuple

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.near import (
    Courses,
    Found,
    Grid,
    find_near,
    place_on_link,
    turned_offset,
)
from hushway.families.links.matching.traces import Beliefs
from hushway.numerics.compiled import Rows, compiled_for_threads, rows


class Chain(NamedTuple):
    """The layers of one trip and their candidates; one for each thread, used for trip after trip.

    Attributes:
        layer: Rows of layers: the position of the trip that it is for, and where that is (x, y);
            where its candidates begin (first) and end (last); the bound up to which routes to it
            were looked for; the layer before it on the way (previous), -1 if a stretch begins, -2
            if it is left out; the layer after it (next), or -1; the candidate that is chosen, and
            where its link stands among the links of the stretch; 1 if the link is forced, else 0.
        candidate: Rows of candidates: the link; the offset along it of the nearest place; the
            misfit, what it costs by itself; the total that the cheapest way up to it costs; the
            candidate before it on that way (back), and the kind of step from there.
        thinned: 1 for each position that was left out because it says nothing new, else 0.
    """

    layer: Rows
    candidate: Rows
    thinned: IntArray


def empty_chain(positions: int, candidates: int) -> Chain:
    """Returns memory for trips of so many positions and candidates of each."""
    number, real = np.int64, np.float64
    return Chain(
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
            misfit=real,
            total=real,
            back=number,
            kind=number,
        ),
        thinned=np.zeros(positions, dtype=number),
    )


@compiled_for_threads
def thin(chain: Chain, x: FloatArray, y: FloatArray, spacing: float) -> None:
    """Marks positions that are too near to the last that is kept to say anything new.

    The first and the last position are kept: a trip begins and ends there.
    """
    last = len(x) - 1
    chain.thinned[: last + 1] = 1
    chain.thinned[0] = 0
    kept = 0
    for i in range(1, last + 1):
        if np.hypot(x[i] - x[kept], y[i] - y[kept]) >= spacing:
            chain.thinned[i] = 0
            kept = i
    if 0 < kept < last:
        # The last position is near the last that is kept, and takes its place.
        chain.thinned[kept] = 1
    chain.thinned[last] = 0


@compiled_for_threads
def add_layer(
    chain: Chain,
    layer: int,
    spot: tuple[int, float, float],
    ground: tuple[Courses, Grid, Found],
    beliefs: Beliefs,
) -> bool:
    """Adds the links near a position as a layer; says whether there are any."""
    courses, grid, found = ground
    count = find_near(courses, grid, found, (spot[1], spot[2]), beliefs.radius)
    begin = _begin(chain, layer, spot)
    at = begin
    for i in range(count):
        if at >= begin + beliefs.candidates:
            break
        near = found.near[found.order[i]]
        misfit = near.square / (2.0 * beliefs.sigma * beliefs.sigma)
        _put(chain.candidate, at, near.link, near.offset, misfit)
        at += 1
        if near.twin >= 0:
            offset = turned_offset(courses.length, near.link, near.twin, near.offset)
            _put(chain.candidate, at, near.twin, offset, misfit)
            at += 1
    chain.layer[layer].last = at
    chain.layer[layer].forced = 0
    return count > 0


@compiled_for_threads
def add_forced_layer(
    chain: Chain,
    layer: int,
    spot: tuple[int, float, float],
    on: tuple[Courses, IntArray, int],
) -> None:
    """Adds one link as a layer, however far away it is: as if the position were on it."""
    courses, first, link = on
    offset, x, y = place_on_link(courses, first, link, (spot[1], spot[2]))
    begin = _begin(chain, layer, (spot[0], x, y))
    _put(chain.candidate, begin, link, offset, 0.0)
    chain.layer[layer].last = begin + 1
    chain.layer[layer].forced = 1


@compiled_for_threads
def _begin(chain: Chain, layer: int, spot: tuple[int, float, float]) -> int:
    begin = 0 if layer == 0 else chain.layer[layer - 1].last
    chain.layer[layer].position = spot[0]
    chain.layer[layer].x = spot[1]
    chain.layer[layer].y = spot[2]
    chain.layer[layer].first = begin
    return begin


@compiled_for_threads
def _put(candidates: Rows, at: int, link: int, offset: float, misfit: float) -> None:
    candidates[at].link = link
    candidates[at].offset = offset
    candidates[at].misfit = misfit
