"""From a person's positions to trips with noisy ends.

The order is what makes the guarantee of `MetricEnds` true. Ids and times say what a trip is and
which positions are its ends; the ends then get their noise; and nothing after that asks where they
were.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, sqrt

import numpy as np
from scipy.spatial import cKDTree

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.errors import PrivacyError
from hushway.families.links.matching.matcher import RoadMatcher
from hushway.families.links.matching.traces import Traces
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.rows.bounding import FOR_TRIPS, chosen
from hushway.families.links.rows.rows import PeoplePositions
from hushway.families.links.rows.trips import Splitting, Trips, possible, timed_trips
from hushway.numerics.compiled import compiled_for_threads
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import BitSource

# What is done to the ends of trips before they are matched: nothing, or noise of their own.
#
# Noise on every count protects a whole person, and needs nothing of this. Metric privacy of the
# ends is an extra: it blurs the first and the last position of a trip, and says nothing about the
# others.

_FINENESS = 1 << 20
# Above the square root of 2, by less than one part in 2^40.
_ROOT_2 = Fraction(isqrt(2 << 80) + 1, 1 << 40)
# Two independent Laplace numbers of scale 1 are together no longer than this, 95 times in 100.
_MOSTLY = 3.9


@dataclass(frozen=True, kw_only=True)
class NoEnds:
    """Ends of trips are matched as they are."""


@dataclass(frozen=True, kw_only=True)
class MetricEnds:
    """Both ends of every trip are moved by noise, and what is near the noisy ends is left out.

    Each end goes to the nearest point of a public grid and moves from there by discrete Laplace
    noise along both axes. Positions of the trip within a disc around the noisy end are left out;
    the disc is as wide as the noise, and holds some streets of the public map besides, read at the
    noisy point. The noisy end is put onto the nearest road, and the trip is matched with it.

    Privacy:
        Guaranteed for one end, all else being equal: moving it by d metres within the surroundings
        of the network changes the probability of whatever is counted by a factor of at most
        exp(epsilon * d / radius), where d is measured between points of the grid. All else are the
        other positions, all times and all other trips; PRIVACY.md of the family has the proof. The
        rest of the trip is no part of this guarantee: positions beyond the disc are matched as they
        are, and they may lead to the true end. Noise is drawn afresh for each trip of each person,
        so trips from one home spend again: together the ends of one person lose `loss_per_metre`
        for every metre that all of them move. At most `max_trips` trips of a person count, so that
        this is finite. The bound on a person's counts, and with it the guarantee of the release,
        does not depend on any of this.

    Attributes:
        epsilon: What one end loses when it moves by `radius`.
        radius: Metres.
        step: Metres between the points of the grid.
        max_trips: Most trips of one person, a uniform choice.
    """

    epsilon: Fraction
    radius: int
    step: int = 10
    max_trips: int

    def __post_init__(self) -> None:
        lengths = (self.radius, self.step, self.max_trips)
        if not (
            isinstance(self.epsilon, Fraction)
            and self.epsilon > 0
            and all(type(n) is int and n >= 1 for n in lengths)
        ):
            raise PrivacyError(
                "Noise at the ends of trips needs an epsilon above 0, and a radius, a step and a "
                "number of trips of at least 1.",
                advice="Give epsilon as a fraction, and the others as whole numbers.",
            )
        # Refuses scales that cannot be drawn, before any trip is looked at.
        DiscreteLaplace(self.scale)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise in steps of the grid, rounded up.

        A move by d has at most sqrt(2) * d along both axes together, hence the square root.
        """
        exactly = _ROOT_2 * self.radius / (self.epsilon * self.step)
        return Fraction(ceil(exactly * _FINENESS), _FINENESS)

    @property
    def reach(self) -> float:
        """Metres: at least 95 times in 100 the noisy end is no further from the true one.

        With a = exp(-1 / scale), |Z| of the noise is k or more with probability 2 a^k / (1 + a),
        which is at most a^(k - 1/2): it is no larger than a continuous Laplace number and half a
        step. Half a step along both axes is sqrt(1/2) steps, and the way to the grid as much again.
        """
        return self.step * (_MOSTLY * float(self.scale) + sqrt(2.0))

    @property
    def loss_per_metre(self) -> Fraction:
        """What all ends of one person lose together for every metre that each of them moves."""
        return 2 * self.max_trips * self.epsilon / self.radius


EndTreatment = NoEnds | MetricEnds


# Metres. Most points have a road within the first; the lists of the last are long.
_SNAPPING_RADII = (100.0, 300.0, 1000.0)


def nearest_places(
    matcher: RoadMatcher, roads: RoadNetwork, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns the nearest place on a road of each point; far from all roads, the nearest node.

    The place and not the link alone: a two-way street is two links at one distance, and which of
    them a trip takes is for the matcher to find.
    """
    link = np.full(len(x), -1, dtype=np.int64)
    for radius in _SNAPPING_RADII:
        lost = np.flatnonzero(link < 0)
        link[lost] = _nearest(*matcher.nearest_links(x[lost], y[lost], radius))
    place_x, place_y = _places(link, roads.start, roads.points, x, y)
    lost = np.flatnonzero(link < 0)
    if len(lost):
        _, node = cKDTree(roads.node_points).query(np.column_stack([x[lost], y[lost]]))
        place_x[lost], place_y[lost] = roads.node_points[node].T
    return place_x, place_y


@compiled_for_threads
def _nearest(start: IntArray, link: IntArray, distance: FloatArray) -> IntArray:
    """Returns the nearest link of each point, the lowest of those; -1 if there is none."""
    nearest = np.full(len(start) - 1, -1, dtype=np.int64)
    for point in range(len(nearest)):
        best = np.inf
        for i in range(start[point], start[point + 1]):
            if distance[i] < best or (distance[i] == best and link[i] < nearest[point]):
                best, nearest[point] = distance[i], link[i]
    return nearest


@compiled_for_threads
def _places(
    link: IntArray, start: IntArray, course: FloatArray, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns the place on a link's course that is nearest to each point; the point for link -1."""
    place_x, place_y = x.copy(), y.copy()
    for point in range(len(link)):
        if link[point] < 0:
            continue
        best = np.inf
        for i in range(start[link[point]], start[link[point] + 1] - 1):
            from_x, from_y = course[i, 0], course[i, 1]
            along_x, along_y = course[i + 1, 0] - from_x, course[i + 1, 1] - from_y
            square = along_x * along_x + along_y * along_y
            share = 0.0
            if square > 0:
                share = ((x[point] - from_x) * along_x + (y[point] - from_y) * along_y) / square
            share = min(max(share, 0.0), 1.0)
            at_x, at_y = from_x + share * along_x, from_y + share * along_y
            apart = np.hypot(x[point] - at_x, y[point] - at_y)
            if apart < best:
                best, place_x[point], place_y[point] = apart, at_x, at_y
    return place_x, place_y


Points = tuple[FloatArray, FloatArray]
"""Both ends of trips on the plane: first all beginnings, then all ends."""

_STREETS = 25
_RADII = np.arange(50.0, 1001.0, 50.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class EndNoise:
    """All that noise at the ends of trips takes, but for the positions."""

    ends: MetricEnds
    splitting: Splitting
    roads: RoadNetwork
    matcher: RoadMatcher
    key: BoundingKey
    bits: BitSource


def noisy_trips(people: PeoplePositions, noise: EndNoise) -> Trips:
    """Returns trips of people with noisy ends.

    Privacy:
        Spends as `MetricEnds` says, once for each end of each trip that stays.
    """
    whole = timed_trips(people, noise.roads.plane, noise.splitting)
    return noisy_ends(few_trips(whole, people.salt, noise.ends.max_trips, noise.key), noise)


NoisyTrips = Callable[[PeoplePositions, EndNoise], Trips]


def few_trips(trips: Trips, salt: IntArray, most: int, key: BoundingKey) -> Trips:
    """Returns at most `most` trips of each person, a uniform choice.

    Privacy:
        Which trips stay depends on how many trips the person has, the person's salt and the key.
    """
    start = np.searchsorted(trips.person, np.arange(len(salt) + 1))
    coefficients = np.array(key.coefficients, dtype=np.int64)
    return trips.only(_kept(start, salt, min(most, len(trips.person)), coefficients))


def noisy_ends(trips: Trips, noise: EndNoise) -> Trips:
    """Returns trips with noisy ends, and without what is near those.

    A trip of which nothing is left between its noisy ends goes from the one to the other.

    Privacy:
        Spends as `MetricEnds` says, once for each end of each trip. All that follows the noise
        reads the noisy ends, the positions between the ends, times and the public map.

    Args:
        trips: Trips as `timed_trips` has them. The positions at a trip's first time are its one
            end, those at its last time the other.
    """
    ends_x, ends_y, inner = parted(trips.traces, noise.ends.step)
    x, y = moved(ends_x, ends_y, noise.ends, noise.bits)
    likely = _part(inner, possible(inner, noise.splitting.most_speed))
    return joined(trips, (x, y), beyond_discs(likely, (x, y), noise), noise)


def parted(traces: Traces, step: int) -> tuple[FloatArray, FloatArray, Traces]:
    """Returns both ends of trips in steps of the grid, and the positions between them.

    First come all beginnings, then all ends. Of several positions at the time of an end the least
    counts along each axis: if one of them moves by some steps, that moves by no more. Whichever
    comes first in some order could be another one then, far away.
    """
    length = np.diff(traces.start)
    first, last = (
        traces.seconds == np.repeat(traces.seconds[at], length)
        for at in (traces.start[:-1], traces.start[1:] - 1)
    )
    x, y = (np.rint(column / step) for column in (traces.x, traces.y))
    ends_x, ends_y = (
        np.concatenate([_least(column, own, traces.start) for own in (first, last)])
        for column in (x, y)
    )
    return ends_x, ends_y, _part(traces, ~(first | last))


def _least(column: FloatArray, own: BoolArray, start: IntArray) -> FloatArray:
    """Returns the least of some of each trip's values; every trip has one."""
    if len(start) == 1:
        return np.empty(0)
    least: FloatArray = np.minimum.reduceat(np.where(own, column, np.inf), start[:-1])
    return least


def moved(x: FloatArray, y: FloatArray, ends: MetricEnds, bits: BitSource) -> Points:
    """Returns points of the grid, given in steps, moved by noise, in metres.

    Points and noise are whole numbers far below 2^53, so nothing is rounded.
    """
    noise = DiscreteLaplace(ends.scale).draw(bits, 2 * len(x)).astype(np.float64)
    return (x + noise[: len(x)]) * ends.step, (y + noise[len(x) :]) * ends.step


def beyond_discs(inner: Traces, ends: Points, noise: EndNoise) -> Traces:
    """Returns the positions that are in neither of the discs around the ends of their trip.

    Privacy:
        A disc around a true end would tell where it is. These are to be read at the noisy ends.
    """
    count, length = len(inner), np.diff(inner.start)
    radius = _disc_radius(noise, *ends)
    beyond = np.ones(len(inner.x), dtype=np.bool_)
    for side in (slice(None, count), slice(count, None)):
        x, y, own = (np.repeat(column[side], length) for column in (*ends, radius))
        beyond &= np.hypot(inner.x - x, inner.y - y) > own
    return _part(inner, beyond)


def _disc_radius(noise: EndNoise, x: FloatArray, y: FloatArray) -> FloatArray:
    """Returns metres: as far as the noise reaches, and what it takes to hold some streets."""
    enough = noise.matcher.links_within(x, y, _RADII) >= _STREETS
    enough[:, -1] = True
    radius: FloatArray = noise.ends.reach + _RADII[np.argmax(enough, axis=1)]
    return radius


def joined(trips: Trips, ends: Points, inner: Traces, noise: EndNoise) -> Trips:
    """Returns trips from new beginnings on roads over inner positions to new ends on roads."""
    whole, count = trips.traces, len(trips.traces)
    start = inner.start + 2 * np.arange(count + 1)
    first, last = start[:-1], start[1:] - 1
    between = np.ones(start[-1], dtype=np.bool_)
    between[first] = between[last] = False
    times = np.concatenate([whole.seconds[whole.start[:-1]], whole.seconds[whole.start[1:] - 1]])
    places = (*nearest_places(noise.matcher, noise.roads, *ends), times)
    columns = []
    for at_ends, own in zip(places, (inner.x, inner.y, inner.seconds), strict=True):
        column = np.empty(start[-1])
        column[between], column[first], column[last] = own, at_ends[:count], at_ends[count:]
        columns.append(column)
    x, y, seconds = columns
    return Trips(person=trips.person, traces=Traces(start=start, x=x, y=y, seconds=seconds))


def _part(traces: Traces, kept: BoolArray) -> Traces:
    """Returns some positions of all trips; a trip may have none of them."""
    before = np.concatenate([[0], np.cumsum(kept)])
    return Traces(
        start=before[traces.start], x=traces.x[kept], y=traces.y[kept], seconds=traces.seconds[kept]
    )


@compiled_for_threads
def _kept(start: IntArray, salt: IntArray, most: int, key: IntArray) -> IntArray:
    kept = np.empty(start[-1], dtype=np.int64)
    count = 0
    for person in range(len(salt)):
        own = chosen(salt[person], start[person + 1] - start[person], most, FOR_TRIPS, key)
        for trip in own:
            kept[count] = start[person] + trip
            count += 1
    return kept[:count].copy()
