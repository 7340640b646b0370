"""Lines 5 to 8 of algorithm 2 of DP-ANI: planar Laplace noise at an end, and a link to go with it.

The link is one of those around the true end, of the class of the true link. Both are told to
whoever sees the result, whatever the noise: no link outside of the circle, and none of another
class, can come out.
"""

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.special import lambertw

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.public.roads import RoadNetwork

_AT_ONCE = 500
# Where a circle has no link of the class, it is widened by this factor until it has one.
_WIDER = 1.5


@dataclass(frozen=True, kw_only=True, eq=False)
class TripEnds:
    """Where some trips begin, or end.

    Attributes:
        x: Metres east.
        y: Metres north.
        along_x: Metres east that the trip goes here: from the first positions, or to the last.
        along_y: Metres north likewise.
        link: The link that each was matched to without noise.
    """

    x: FloatArray
    y: FloatArray
    along_x: FloatArray
    along_y: FloatArray
    link: IntArray

    def __len__(self) -> int:
        return len(self.x)


@dataclass(frozen=True, kw_only=True, eq=False)
class MovedEnds:
    """Ends after noise.

    Attributes:
        x: Metres east of the place on the chosen link that is nearest to the noisy point.
        y: Metres north likewise.
        link: The chosen link.
        widened: Whether there was no link of the class in the circle, on which the paper is silent.
    """

    x: FloatArray
    y: FloatArray
    link: IntArray
    widened: BoolArray


def planar_radius(p: FloatArray, epsilon: float) -> FloatArray:
    """Returns the inverse distribution function of the distance of planar Laplace noise.

    The paper prints (p - 1) / epsilon inside Lambert's function; that is a slip for Euler's number,
    without which there is no such distance for small budgets.
    """
    return np.asarray(-(lambertw((p - 1) / np.e, -1).real + 1) / epsilon)


def move_ends(  # noqa: PLR0917  one argument for each thing that is read
    ends: TripEnds,
    radius: FloatArray,
    epsilon: float,
    matcher: Matcher,
    roads: RoadNetwork,
    rng: np.random.Generator,
) -> MovedEnds:
    """Moves every end to the link of its class, in its circle, that is nearest to a noisy point.

    Of the two directions of a street, which are equally near, the one that goes the trip's way is
    taken; the paper says nothing about it.

    Privacy:
        None that is proven: see the module.
    """
    angle = rng.uniform(0.0, 2 * np.pi, len(ends))
    distance = planar_radius(rng.random(len(ends)), epsilon) * radius
    noisy_x, noisy_y = ends.x + distance * np.cos(angle), ends.y + distance * np.sin(angle)
    points = shapely.points(noisy_x, noisy_y)
    lines = _lines(roads)
    link = np.empty(len(ends), dtype=np.int64)
    widened = np.zeros(len(ends), dtype=np.bool_)
    # Ends with circles of about one size together, so that no small one is searched widely.
    order = np.argsort(radius, kind="stable")
    for begin in range(0, len(order), _AT_ONCE):
        part = order[begin : begin + _AT_ONCE]
        link[part], widened[part] = _chosen(ends, part, radius[part], matcher, roads, lines, points)
    places = shapely.line_interpolate_point(
        lines[link], shapely.line_locate_point(lines[link], points)
    )
    return MovedEnds(x=shapely.get_x(places), y=shapely.get_y(places), link=link, widened=widened)


def _chosen(  # noqa: PLR0917  one argument for each thing that is read
    ends: TripEnds,
    part: IntArray,
    radius: FloatArray,
    matcher: Matcher,
    roads: RoadNetwork,
    lines: NDArray[np.object_],
    points: NDArray[np.object_],
) -> tuple[IntArray, BoolArray]:
    """Returns the chosen links of some ends, and whether their circles had to be widened."""
    link = np.full(len(part), -1, dtype=np.int64)
    widened = np.zeros(len(part), dtype=np.bool_)
    reach = radius.copy()
    left = np.arange(len(part))
    while len(left):
        at = part[left]
        start, near, metres = matcher.nearest_links(ends.x[at], ends.y[at], reach[left].max())
        owner = np.repeat(np.arange(len(left)), np.diff(start))
        same = roads.road_class[near] == roads.road_class[ends.link[at[owner]]]
        inside = same & (metres <= reach[left[owner]])
        owner, near = owner[inside], near[inside]
        away = shapely.distance(lines[near], points[at[owner]])
        against = -_goes_along(ends, at[owner], roads, near)
        # To the millimetre: the two directions of a street must tie.
        best = np.lexsort((near, against, np.round(away, 3), owner))
        first = best[np.flatnonzero(np.diff(owner[best], prepend=-1))]
        link[left[owner[first]]] = near[first]
        left = np.flatnonzero(link < 0)
        reach[left] *= _WIDER
        widened[left] = True
    return link, widened


def _goes_along(ends: TripEnds, at: IntArray, roads: RoadNetwork, link: IntArray) -> FloatArray:
    step = roads.node_points[roads.head[link]] - roads.node_points[roads.tail[link]]
    return np.asarray(step[:, 0] * ends.along_x[at] + step[:, 1] * ends.along_y[at])


def _lines(roads: RoadNetwork) -> NDArray[np.object_]:
    owner = np.repeat(np.arange(roads.links), np.diff(roads.start))
    return np.asarray(shapely.linestrings(roads.points, indices=owner), dtype=np.object_)
