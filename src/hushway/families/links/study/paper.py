"""DP-ANI as published, for study only: noise at the ends of trips, exact counts of their links.

Its claim of differential privacy is false, whatever the budget. Links between the ends, and the
counts of all links, carry no noise: somebody alone on a road is seen there with certainty. The
ends themselves stay within a circle of their true place and on roads of the true class, the circle
is read from the map at the private point, and each trip of a person spends the budget again.
"""

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.special import lambertw

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.traces import MatchSettings, Traces, Ways
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.rows.trips import Trips
from hushway.families.links.study.paper_range import RangePlan, RangeRule, ranges
from hushway.privacy.measured import Internal

# Lines 5 to 8 of algorithm 2 of DP-ANI: planar Laplace noise at an end, and a link to go with it.
#
# The link is one of those around the true end, of the class of the true link. Both are told to
# whoever sees the result, whatever the noise: no link outside of the circle, and none of another
# class, can come out.

_AT_ONCE = 500
# Where a circle has no link of the class, it is widened by this factor until it has one.
_WIDER = 1.5


@dataclass(frozen=True, kw_only=True, eq=False)
class TripEnds:
    """Where some trips begin, or end.

    Attributes:
        x: Metres east.
        along_x: Metres east that the trip goes here: from the first positions, or to the last.
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


# Noise puts ends where no sensible route leads; the paper takes the long ways round as they are.
NOISY_MATCHING = MatchSettings(most_detour=5.0, slack=3000.0)
# A device often stands still for its first and last positions.
_POSITIONS_ALONG = 3


@dataclass(frozen=True, kw_only=True)
class PaperLinksPlan:
    """One of the paper's variants.

    Attributes:
        epsilon: The budget of the planar noise, and as much again for each radius: the paper names
            two budgets, and shows one.
    """

    rule: RangeRule
    epsilon: float

    @property
    def claimed(self) -> float:
        """What the paper says that one trajectory costs: radius and noise at both ends."""
        return 4 * self.epsilon

    @property
    def range_plan(self) -> RangePlan:
        """How radii are chosen."""
        return RangePlan(rule=self.rule, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Trips that were matched without noise: what everything is compared with.

    Attributes:
        ways: The same trips without noise, as links.
        kept: Which of the given trips these are: those that are on a road.
    """

    roads: RoadNetwork
    matcher: Matcher
    noisy_matcher: Matcher
    traces: Traces
    ways: Ways
    kept: IntArray

    @property
    def ends(self) -> tuple[TripEnds, TripEnds]:
        """Where trips begin, and where they end."""
        return _ends(self.traces, self.ways)


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperRun:
    """What came out.

    Attributes:
        ways: The trips as links, with noisy ends.
        counts: Trips that use each link, exact.
        first: Where trips begin now.
        last: Where they end now.
        moved: Share of ends that are on another link than without noise.
        widened: Share of ends without a link of their class in their circle.
    """

    ways: Ways
    counts: FloatArray
    first: MovedEnds
    last: MovedEnds
    moved: float
    widened: float


def study_of(roads: RoadNetwork, traces: Traces) -> Study:
    """Matches trips without noise, and leaves out those that are on no road."""
    matcher = Matcher(roads)
    ways = matcher.match(traces)
    kept = np.flatnonzero(np.diff(ways.start) > 0)
    if len(kept) < len(traces):
        traces = Trips(person=np.arange(len(traces)), traces=traces).only(kept).traces
        ways = matcher.match(traces)
    return Study(
        roads=roads,
        matcher=matcher,
        noisy_matcher=Matcher(roads, NOISY_MATCHING),
        traces=traces,
        ways=ways,
        kept=kept,
    )


def paper_links(plan: PaperLinksPlan, study: Study, rng: np.random.Generator) -> Internal[PaperRun]:
    """Runs algorithms 1 and 2 once, in floating point, and counts links.

    Privacy:
        None that is proven, and none at all for what lies between the ends: see the module.
    """
    first, last = study.ends
    radius = ranges(
        plan.range_plan,
        study.matcher,
        (np.concatenate([first.x, last.x]), np.concatenate([first.y, last.y])),
        rng,
    )
    begin_radius, end_radius = radius[: len(first)], radius[len(first) :]
    begin = move_ends(first, begin_radius, plan.epsilon, study.matcher, study.roads, rng)
    end = move_ends(last, end_radius, plan.epsilon, study.matcher, study.roads, rng)
    ways = study.noisy_matcher.match(
        _with_ends(study.traces, begin, end), first_link=begin.link, last_link=end.link
    )
    elsewhere = np.concatenate([begin.link != first.link, end.link != last.link])
    return Internal(
        PaperRun(
            ways=ways,
            counts=trip_counts(ways, study.roads.links),
            first=begin,
            last=end,
            moved=float(elsewhere.mean()),
            widened=float(np.concatenate([begin.widened, end.widened]).mean()),
        )
    )


def trip_counts(ways: Ways, links: int) -> FloatArray:
    """Returns how many trips use each link; a trip that uses it twice counts once."""
    trip = np.repeat(np.arange(len(ways)), np.diff(ways.start))
    used = np.unique(trip * links + ways.link) % links
    return np.bincount(used, minlength=links).astype(np.float64)


def without_rare_ends(ways: Ways, links: int) -> FloatArray:
    """Returns counts of links after the paper's baseline, OD-successive removal.

    Going inwards from both ends of every trip, links that one trip alone uses are taken out
    of the network, up to the first link that has more.

    Privacy:
        None: it hides what only one trip uses at its ends, and shows exact counts of all else.
    """
    counts = trip_counts(ways, links)
    rare = counts[ways.link] <= 1
    removed = np.zeros(links, dtype=np.bool_)
    for begin, end in zip(ways.start[:-1], ways.start[1:], strict=True):
        common = np.flatnonzero(~rare[begin:end])
        inner = (end, end) if len(common) == 0 else (begin + common[0], begin + common[-1] + 1)
        removed[ways.link[begin : inner[0]]] = True
        removed[ways.link[inner[1] : end]] = True
    return np.where(removed, 0.0, counts)


def _ends(traces: Traces, ways: Ways) -> tuple[TripEnds, TripEnds]:
    first, last = traces.start[:-1], traces.start[1:] - 1
    onward, before = (
        np.minimum(first + _POSITIONS_ALONG, last),
        np.maximum(last - _POSITIONS_ALONG, first),
    )
    return (
        _side(traces, first, (first, onward), ways.link[ways.start[:-1]]),
        _side(traces, last, (before, last), ways.link[ways.start[1:] - 1]),
    )


def _side(
    traces: Traces, at: IntArray, along: tuple[IntArray, IntArray], link: IntArray
) -> TripEnds:
    since, until = along
    return TripEnds(
        x=traces.x[at],
        y=traces.y[at],
        along_x=traces.x[until] - traces.x[since],
        along_y=traces.y[until] - traces.y[since],
        link=link,
    )


def _with_ends(traces: Traces, begin: MovedEnds, end: MovedEnds) -> Traces:
    x, y = traces.x.copy(), traces.y.copy()
    first, last = traces.start[:-1], traces.start[1:] - 1
    x[first], y[first] = begin.x, begin.y
    x[last], y[last] = end.x, end.y
    return Traces(start=traces.start, x=x, y=y, seconds=traces.seconds)
