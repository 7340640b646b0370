"""What noise at the ends of trips costs, and what it leaves to see of the true ends.

A synthetic road city of 20,000 links and the trips of 1,000 people, whose true links are known.
Prints the table of docs/guides/links.md, and how wide discs might be for that of
docs/design/bounding.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import simulate_traces
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.traces import Traces, Ways
from hushway.families.links.rows.noisy import EndNoise, MetricEnds, noisy_ends
from hushway.families.links.rows.trips import Splitting, Trips
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import SeededSource

LINKS, PEOPLE, SEED = 20_000, 1_000, 1
NOISE = ((4, 200), (2, 200), (1, 200), (2, 500), (1, 500))
# How far two Laplace numbers of scale 1 reach together, by how often.
REACH = {0.0: 0.0, 0.5: 1.352, 0.8: 2.430, 0.9: 3.173, 0.95: 3.890}


@dataclass(frozen=True, kw_only=True)
class OtherDiscs(MetricEnds):
    """Noise whose discs are as wide as it gets in some share of draws."""

    share: float

    @property
    def reach(self) -> float:
        """Metres, instead of those of the product."""
        return REACH[self.share] * float(self.scale) * self.step


# What noise at the ends of trips leaves to see of the true ends, and what it costs.
#
# The guarantee speaks of the first and the last position of a trip. The positions between them are
# used as they are unless a disc around a noisy end takes them, so a trip may still pass by its true
# beginning: because noise and chance led it there, or because positions beyond the discs did.


@dataclass(frozen=True, kw_only=True)
class EndsShown:
    """Shares, over all trips of a city.

    Attributes:
        first: Trips whose counted way has the true first link.
        first_two: Trips whose counted way has the true first or second link.
        led_to_first: Trips that positions beyond the discs alone lead to their true first link.
        led_to_first_two: The same for the first or second link.
        swallowed: Trips of which nothing is left between their noisy ends.
        found: True links of trips that are on their counted ways.
        right: Links on counted ways that are true.
        error: Root mean square error of trips on links, over that of counting nothing.
        error_without_ends: The same if ways began and ended where the discs do.
    """

    first: float
    first_two: float
    led_to_first: float
    led_to_first_two: float
    swallowed: float
    found: float
    right: float
    error: float
    error_without_ends: float


def ends_shown(city: TraceCity, ends: MetricEnds, seed: int) -> Internal[EndsShown]:
    """Moves the ends of all trips by noise, and compares their ways with the true ones."""
    matcher, bits = Matcher(city.roads), SeededSource(seed)
    noise = EndNoise(
        ends=ends,
        splitting=Splitting(),
        roads=city.roads,
        matcher=matcher,
        key=BoundingKey.draw(bits),
        bits=bits,
    )
    trips = Trips(person=np.arange(len(city)), traces=city.traces)
    noisy = noisy_ends(trips, noise).traces
    true = _links(city.truth)
    counted, led = (_links(matcher.match(traces)) for traces in (noisy, _between(noisy)))
    hits = sum(len(set(own) & set(way)) for own, way in zip(true, counted, strict=True))
    return Internal(
        EndsShown(
            first=_share(true, counted, 1),
            first_two=_share(true, counted, 2),
            led_to_first=_share(true, led, 1),
            led_to_first_two=_share(true, led, 2),
            swallowed=float(np.mean(np.diff(noisy.start) == _BOTH_ENDS)),
            found=hits / sum(len(set(own)) for own in true),
            right=hits / sum(len(set(way)) for way in counted),
            error=_error(true, counted, city.roads.links),
            error_without_ends=_error(true, led, city.roads.links),
        )
    )


_BOTH_ENDS = 2


def _links(ways: Ways) -> list[list[int]]:
    bounds = zip(ways.start[:-1], ways.start[1:], strict=True)
    return [ways.link[low:high].tolist() for low, high in bounds]


def _between(traces: Traces) -> Traces:
    """Returns trips without their ends."""
    inner = np.ones(len(traces.x), dtype=np.bool_)
    inner[traces.start[:-1]] = inner[traces.start[1:] - 1] = False
    return Traces(
        start=traces.start - _BOTH_ENDS * np.arange(len(traces) + 1),
        x=traces.x[inner],
        y=traces.y[inner],
        seconds=traces.seconds[inner],
    )


def _share(true: Sequence[list[int]], ways: Sequence[list[int]], count: int) -> float:
    """Returns the share of trips with one of their first true links on their way."""
    hits = [bool(set(own[:count]) & set(way)) for own, way in zip(true, ways, strict=True)]
    return float(np.mean(hits))


def _error(true: Sequence[list[int]], ways: Sequence[list[int]], links: int) -> float:
    exact, counted = (
        np.bincount(
            np.concatenate([np.unique(np.array(way, np.int64)) for way in all_ways]),
            minlength=links,
        )
        for all_ways in (true, ways)
    )
    return float(np.linalg.norm(counted - exact) / np.linalg.norm(exact))


def main() -> dict[str, dict[str, float]]:
    """Measures, prints tables and returns the numbers."""
    city = simulate_traces(road_city(SEED, links=LINKS), SEED, people=PEOPLE)
    print(f"{len(city):,} trips, {city.roads.links:,} links")
    return costs(city) | discs(city)


def costs(city: TraceCity) -> dict[str, dict[str, float]]:
    """Measures the product at several scales of the noise."""
    print(
        "| `epsilon`, `radius` | reach of the noise | trips in their discs | true links counted | "
        "counted links that are true | first true link counted; first or second | "
        "led there by positions beyond the discs |\n|---|---|---|---|---|---|---|"
    )
    figures = {}
    for epsilon, radius in NOISE:
        ends = MetricEnds(epsilon=Fraction(epsilon), radius=radius, max_trips=1)
        shown = ends_shown(city, ends, SEED).value
        print(
            f"| {epsilon}, {radius} m | {ends.reach:,.0f} m | {shown.swallowed:.0%} | "
            f"{shown.found:.0%} | {shown.right:.0%} | {shown.first:.0%}; {shown.first_two:.0%} | "
            f"{shown.led_to_first:.1%}; {shown.led_to_first_two:.1%} |"
        )
        figures[f"{epsilon}, {radius}"] = vars(shown)
    return figures


def discs(city: TraceCity) -> dict[str, dict[str, float]]:
    """Measures discs of several sizes."""
    print(
        "| `epsilon`, `radius` | disc as wide as noise in | first true link counted; first or "
        "second | led there by positions | error | error without noisy ends |"
        "\n|---|---|---|---|---|---|"
    )
    figures = {}
    for epsilon, radius in NOISE[1:4]:
        for share in REACH:
            ends = OtherDiscs(epsilon=Fraction(epsilon), radius=radius, max_trips=1, share=share)
            shown = ends_shown(city, ends, SEED).value
            print(
                f"| {epsilon}, {radius} m | {share:.0%} | "
                f"{shown.first:.0%}; {shown.first_two:.0%} | "
                f"{shown.led_to_first:.1%}; {shown.led_to_first_two:.1%} | "
                f"{shown.error:.0%} | {shown.error_without_ends:.0%} |"
            )
            figures[f"{epsilon}, {radius}, {share}"] = vars(shown)
    return figures


if __name__ == "__main__":
    main()
