"""DP-ANI as published, for study only: noise at the ends of trips, exact counts of their links.

Its claim of differential privacy is false, whatever the budget. Links between the ends, and the
counts of all links, carry no noise: somebody alone on a road is seen there with certainty. The
ends themselves stay within a circle of their true place and on roads of the true class, the circle
is read from the map at the private point, and each trip of a person spends the budget again.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.settings import MatchSettings
from hushway.families.links.matching.traces import Traces, Ways
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.rows.trips import Trips
from hushway.families.links.study.paper_ends import MovedEnds, TripEnds, move_ends
from hushway.families.links.study.paper_range import FIRST_M, RangePlan, RangeRule, ranges
from hushway.privacy.internal import Internal

# Noise puts ends where no sensible route leads; the paper takes the long ways round as they are.
NOISY_MATCHING = MatchSettings(most_detour=5.0, slack=3000.0)
# A device often stands still for its first and last positions.
_POSITIONS_ALONG = 3


@dataclass(frozen=True, kw_only=True)
class FaithfulLinksPlan:
    """One of the paper's variants.

    Attributes:
        rule: How radii are chosen.
        epsilon: The budget of the planar noise, and as much again for each radius: the paper names
            two budgets, and shows one.
        first_m: The first radius that is tried.
    """

    rule: RangeRule
    epsilon: float
    first_m: float = FIRST_M

    @property
    def claimed(self) -> float:
        """What the paper says that one trajectory costs: radius and noise at both ends."""
        return 4 * self.epsilon

    @property
    def range_plan(self) -> RangePlan:
        """How radii are chosen."""
        return RangePlan(rule=self.rule, epsilon=self.epsilon, first_m=self.first_m)


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """Trips that were matched without noise: what everything is compared with.

    Attributes:
        roads: The road network.
        matcher: Finds links near points.
        noisy_matcher: Matches trips whose ends were moved.
        traces: The positions of trips.
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
class FaithfulRun:
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


def faithful_links(
    plan: FaithfulLinksPlan, study: Study, rng: np.random.Generator
) -> Internal[FaithfulRun]:
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
        FaithfulRun(
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


def without_rare_ends(ways: Ways, links: int, fewest: int = 2) -> FloatArray:
    """Returns counts of links after the paper's baseline, OD-successive removal.

    Going inwards from both ends of every trip, links with fewer than `fewest` trips are taken out
    of the network, up to the first link that has as many.

    Privacy:
        None: it hides what only one trip uses at its ends, and shows exact counts of all else.
    """
    counts = trip_counts(ways, links)
    rare = counts[ways.link] < fewest
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
