"""What the DP-ANI paper prints, the methods that its reproduction compares, and their errors."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.mechanism.counts import LinkCounts, link_counts, smaller_noise
from hushway.families.links.public.roads import CLASSES, RoadNetwork
from hushway.families.links.public.universe import MovementLimits
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.families.links.rows.noisy import EndNoise, MetricEnds, few_trips, noisy_ends
from hushway.families.links.rows.trips import Splitting, Trips
from hushway.families.links.study.paper import (
    PaperLinksPlan,
    Study,
    paper_links,
    study_of,
    trip_counts,
    without_rare_ends,
)
from hushway.families.links.study.paper_range import RangeRule
from hushway.families.links.study.scene import LinkScene, drives_of, one_period
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import SeededSource
from hushway.study.results import Figures, Interval

# What the paper prints.
# Section VI-D, figure 5, in miles.
ORIGINAL_MILES: Final = 194.6
DP_ANI_MILES: Final = 195.2
REMOVED_MILES: Final = 138.2
# The abstract: the network's length deviates by at most so much.
MOST_DEVIATION: Final = 0.09
# Section VI-E: share of end links that moved, at the smallest budget.
MOVED: Final = 0.76
MOVED_EPSILON: Final = "0.1"
TRAJECTORIES: Final = 1200
# From and to which the paper varies it.
EPSILONS: Final = ("0.1", "0.5", "1", "2", "5", "10")
METRES_OF_MILE: Final = 1609.344

PRINTED: Final[Mapping[str, RangeRule]] = {
    "DP-ANI": "adaptive",
    "DP-ANI-Fix": "fix",
    "DP-ANI-Max": "max",
}
REMOVAL: Final = "OD-successive"
SOUND: Final = "sound"
METRIC: Final = "sound, metric ends"
DAY: Final = "sound, whole day"
METHODS: Final = (*PRINTED, REMOVAL, SOUND, METRIC, DAY)

DELTA: Final = Fraction(1, 10**6)
HOUR_LIMITS: Final = MovementLimits(max_items=20)
DAY_LIMITS: Final = MovementLimits(max_items=40)
# Every end loses 1 when it moves by 200 metres, about the radius that holds 25 streets.
ENDS: Final = MetricEnds(epsilon=Fraction(1), radius=200, max_trips=3)


@dataclass(frozen=True, kw_only=True, eq=False)
class Hour:
    """The trips of an hour, matched without noise.

    Attributes:
        person: Index of each trip's person, ascending.
        truth: Trips on each link.
        scene: The same as persons on links.
    """

    study: Study
    person: IntArray
    truth: FloatArray
    scene: LinkScene


def hour_of(city: TraceCity) -> Hour:
    """Matches the trips of a city without noise."""
    study = study_of(city.roads, city.traces)
    _, person = np.unique(city.person[study.kept], return_inverse=True)
    return Hour(
        study=study,
        person=person,
        truth=trip_counts(study.ways, city.roads.links),
        scene=LinkScene(
            universe=one_period(city.roads, hours=(13, 14)),
            drives=drives_of(study.ways, person, city.roads),
        ),
    )


def day_of(city: TraceCity) -> LinkScene:
    """Returns the trips of a whole day by their true links, which saves the matching."""
    return LinkScene(
        universe=one_period(city.roads), drives=drives_of(city.truth, city.person, city.roads)
    )


def mechanism_of(epsilon: str, limits: MovementLimits) -> LinkCounts:
    """Returns the product's mechanism at a budget for each person."""
    return link_counts(limits, budget=smaller_noise(Fraction(epsilon), DELTA, limits))


def printed_run(
    method: str, hour: Hour, epsilon: str, run: int
) -> Internal[tuple[FloatArray, dict[str, float]]]:
    """Runs one of the paper's variants; returns counts and figures."""
    plan = PaperLinksPlan(rule=PRINTED[method], epsilon=float(epsilon))
    found = paper_links(plan, hour.study, np.random.default_rng(run)).value
    figures = _errors(hour.truth, found.counts, hour.scene)
    return Internal((found.counts, figures | {"moved": found.moved, "widened": found.widened}))


def removal_run(hour: Hour) -> Internal[tuple[FloatArray, dict[str, float]]]:
    """Runs the paper's baseline, which has no chance in it."""
    counts = without_rare_ends(hour.study.ways, hour.study.roads.links)
    return Internal((counts, _errors(hour.truth, counts, hour.scene)))


def sound_run(
    scene: LinkScene, counter: ArrayMovements, mechanism: LinkCounts, run: int, truth: FloatArray
) -> Internal[tuple[FloatArray, dict[str, float]]]:
    """Runs the product's mechanism; errors are against persons, none of them cut down."""
    counts = scene.published(counter, mechanism, run)
    return Internal((counts, _errors(truth, counts, scene)))


def with_metric_ends(hour: Hour, run: int) -> LinkScene:
    """Moves the ends of all trips by noise of their own, and matches again."""
    study, roads = hour.study, hour.study.roads
    bits = SeededSource(run)
    noise = EndNoise(
        ends=ENDS,
        splitting=Splitting(),
        roads=roads,
        matcher=study.matcher,
        key=BoundingKey.draw(bits),
        bits=bits,
    )
    trips = Trips(person=hour.person, traces=study.traces)
    salt = np.arange(int(hour.person.max()) + 1)
    noisy = noisy_ends(few_trips(trips, salt, ENDS.max_trips, noise.key), noise)
    ways = study.matcher.match(noisy.traces)
    return LinkScene(universe=hour.scene.universe, drives=drives_of(ways, noisy.person, roads))


def _errors(truth: FloatArray, counts: FloatArray, scene: LinkScene) -> dict[str, float]:
    return asdict(link_errors(truth, counts, scene.universe.roads).value)


@dataclass(frozen=True, kw_only=True)
class Attacks:
    """How attacks went.

    Attributes:
        homes: By budget of DP-ANI and number of trips: mean metres from the home.
        sound_home: Mean metres from the home that noisy link counts at epsilon 1 lead to.
        guessed_home: Mean metres from the home to the middle of the map.
        faithful_presence: Advantage of who looks for a lone driver in DP-ANI.
        sound_presence: The same with noisy link counts at epsilon 1.
        most_presence: The most that their guarantee allows.
    """

    homes: dict[str, dict[str, float]]
    sound_home: float
    guessed_home: float
    faithful_presence: float
    sound_presence: float
    most_presence: float


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What the pictures of networks show.

    Attributes:
        segments: Of each link: x and y of its tail, x and y of its head, in metres.
    """

    segments: list[list[float]]
    counts: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Everything that was measured: internal, computed against the (synthetic) truth.

    Attributes:
        figures: The numbers by method and budget: those of `LinkErrors`, "moved" and "widened".
        gains: By number of trips and way to fit: the root mean square error of links.
    """

    runs: int
    trips: int
    people: int
    day_trips: int
    links: int
    miles: float
    figures: Figures
    attacks: Attacks
    gains: dict[str, dict[str, float]]
    drawn: Drawn

    def of(self, method: str, epsilon: str, figure: str) -> Interval:
        """Returns one number."""
        return self.figures.of(method, epsilon, figure)


# Of all links, the busiest ones: what a city calls its major routes.
BUSIEST = 0.05


def counts_distance(one: FloatArray, other: FloatArray) -> float:
    """Returns the Wasserstein distance of two heaps of equally many numbers."""
    return float(np.abs(np.sort(one) - np.sort(other)).mean())


def class_distance(one: FloatArray, other: FloatArray, roads: RoadNetwork) -> float:
    """Returns the Wasserstein distance of the classes of links with a count above 0.

    Classes are numbers, a step apart from the next one. A network without links is as far away as
    the classes reach.
    """
    shares = [_class_shares(counts, roads) for counts in (one, other)]
    if any(share.sum() == 0 for share in shares):
        return float(CLASSES[-1] - CLASSES[0])
    return float(np.abs(np.cumsum(shares[0] - shares[1])).sum())


@dataclass(frozen=True, kw_only=True)
class LinkErrors:
    """Errors of the counts of links.

    Attributes:
        length_ratio: Length of the links with a count above 0, over that of the truth.
        counts_distance: Wasserstein distance between the counts of all links of the map, taken as
            two heaps of numbers (which link has which count does not matter), over the mean of
            the truth.
        class_distance: Wasserstein distance between the classes of links with a count above 0.
        top_share: Share of the truly busiest links that are among the busiest published ones.
        major_share: Share of the kilometres driven on the truly busiest links that is published on
            these same links, at most 1.
        relative_error: Absolute errors of all links together, over the sum of the truth. It is 1 if
            nothing is published.
    """

    length_ratio: float
    counts_distance: float
    class_distance: float
    top_share: float
    major_share: float
    relative_error: float
    rmse: float


def link_errors(
    truth: FloatArray, published: FloatArray, roads: RoadNetwork
) -> Internal[LinkErrors]:
    """Compares published counts of links with true ones, one for each link of the map."""
    most = max(1, round(BUSIEST * len(truth)))
    truly, seemingly = busiest(truth, most), busiest(published, most)
    length = roads.length
    driven = truth[truly] @ length[truly]
    found = np.minimum(published[truly], truth[truly]) @ length[truly]
    apart = np.abs(published - truth)
    return Internal(
        LinkErrors(
            length_ratio=network_length(published, roads) / network_length(truth, roads),
            counts_distance=counts_distance(truth, published) / float(truth.mean()),
            class_distance=class_distance(truth, published, roads),
            top_share=len(np.intersect1d(truly, seemingly)) / len(truly),
            major_share=float(found / driven),
            relative_error=float(apart.sum() / truth.sum()),
            rmse=float(np.sqrt((apart**2).mean())),
        )
    )


def network_length(counts: FloatArray, roads: RoadNetwork) -> float:
    """Returns the metres of all links with a count above 0, each direction by itself."""
    return float(roads.length[counts > 0].sum())


def busiest(counts: FloatArray, most: int) -> IntArray:
    """Returns the links with the largest counts, the first ones of equals, none without a count."""
    order = np.argsort(-counts, kind="stable")[:most]
    return order[counts[order] > 0].astype(np.int64)


def _class_shares(counts: FloatArray, roads: RoadNetwork) -> FloatArray:
    numbers = np.bincount(roads.road_class[counts > 0], minlength=CLASSES[-1] + 1)
    return np.asarray(numbers / max(1, numbers.sum()))
