"""What is done to the ends of trips before they are matched: nothing, or noise of their own.

Noise on every count protects a whole person, and needs nothing of this. Metric privacy of the ends
is an extra: where a trip began or ended then stays unsure even to somebody who knows all the rest.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.engine.movements_kernel import FOR_TRIPS, chosen
from hushway.engine.movements_matching import RoadMatcher
from hushway.engine.movements_snapping import nearest_places
from hushway.engine.movements_trips import Trips
from hushway.errors import PrivacyError
from hushway.geography.od import IntArray
from hushway.geography.plane import FloatArray
from hushway.geography.roads import RoadNetwork
from hushway.matching.traces import Traces
from hushway.numerics.compiled import compiled_for_threads
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import BitSource

_FINENESS = 1 << 20
# Above the square root of 2, by less than one part in 2^40.
_ROOT_2 = Fraction(isqrt(2 << 80) + 1, 1 << 40)
_STREETS = 25
_RADII = np.arange(50.0, 1001.0, 50.0)


@dataclass(frozen=True, kw_only=True)
class NoEnds:
    """Ends of trips are matched as they are."""


@dataclass(frozen=True, kw_only=True)
class MetricEnds:
    """Both ends of every trip are moved by noise, and what is near the noisy ends is left out.

    Each end goes to the nearest point of a public grid and moves from there by discrete Laplace
    noise along both axes. Positions of the trip within a disc around the noisy end are left out;
    the disc holds some streets of the public map, read at the noisy point. The noisy end is put
    onto the nearest road, and the trip is matched with it.

    Privacy:
        Promised for one end, all else being equal: moving it by d metres changes the probability of
        whatever is counted by a factor of at most exp(epsilon * d / radius), where d is measured
        between points of the grid. The rest of the trip is no part of this promise: positions
        beyond the disc are matched as they are, and they may lead to the true end. Noise is drawn
        afresh for each trip of each person, so trips from one home spend again: together the ends
        of one person lose `loss_per_metre` for every metre that all of them move. At most
        `max_trips` trips of a person count, so that this is finite.
        The bound on a person's counts, and with it the guarantee of the release, does not depend on
        any of this.

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
    def loss_per_metre(self) -> Fraction:
        """What all ends of one person lose together for every metre that each of them moves."""
        return 2 * self.max_trips * self.epsilon / self.radius


EndTreatment = NoEnds | MetricEnds


def few_trips(trips: Trips, salt: IntArray, most: int, key: BoundingKey) -> Trips:
    """Returns at most `most` trips of each person, a uniform choice.

    Privacy:
        Which trips stay depends on how many trips the person has, the person's salt and the key.
    """
    start = np.searchsorted(trips.person, np.arange(len(salt) + 1))
    coefficients = np.array(key.coefficients, dtype=np.int64)
    return trips.only(_kept(start, salt, min(most, len(trips.person)), coefficients))


def noisy_ends(
    trips: Trips, ends: MetricEnds, bits: BitSource, matcher: RoadMatcher, roads: RoadNetwork
) -> Trips:
    """Returns trips with noisy ends.

    Privacy:
        Spends as `MetricEnds` says, once for each end of each trip. All that follows the noise
        reads the noisy ends, the other positions and the public map.
    """
    traces = trips.traces
    first, last = traces.start[:-1], traces.start[1:] - 1
    x, y = _moved(traces, np.concatenate([first, last]), ends, bits)
    radius = _radius_with_streets(matcher, x, y)
    length, count = np.diff(traces.start), len(first)
    kept = np.ones(len(traces.x), dtype=np.bool_)
    for side in (slice(None, count), slice(count, None)):
        own_x, own_y, own = (np.repeat(column[side], length) for column in (x, y, radius))
        kept &= np.hypot(traces.x - own_x, traces.y - own_y) > own
    kept[first] = kept[last] = True
    new_x, new_y = traces.x.copy(), traces.y.copy()
    place_x, place_y = nearest_places(matcher, roads, x, y)
    for column, place in ((new_x, place_x), (new_y, place_y)):
        column[first], column[last] = place[:count], place[count:]
    left = np.add.reduceat(kept.astype(np.int64), first) if count else np.empty(0, np.int64)
    return Trips(
        person=trips.person,
        traces=Traces(
            start=np.concatenate([[0], np.cumsum(left)]),
            x=new_x[kept],
            y=new_y[kept],
            seconds=traces.seconds[kept],
        ),
    )


def _moved(
    traces: Traces, at: IntArray, ends: MetricEnds, bits: BitSource
) -> tuple[FloatArray, FloatArray]:
    """Returns some positions on the grid, moved by noise."""
    noise = DiscreteLaplace(ends.scale).draw(bits, 2 * len(at)).astype(np.float64)
    x: FloatArray = (np.rint(traces.x[at] / ends.step) + noise[: len(at)]) * ends.step
    y: FloatArray = (np.rint(traces.y[at] / ends.step) + noise[len(at) :]) * ends.step
    return x, y


def _radius_with_streets(matcher: RoadMatcher, x: FloatArray, y: FloatArray) -> FloatArray:
    """Returns the smallest radius around each point that holds enough streets, or the largest."""
    enough = matcher.links_within(x, y, _RADII) >= _STREETS
    enough[:, -1] = True
    radius: FloatArray = _RADII[np.argmax(enough, axis=1)]
    return radius


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
