"""What noise at the ends of trips costs, and what it leaves to see of the true ends.

A synthetic road city of 20,000 links and the trips of 1,000 people, whose true links are known.
Prints the table of docs/guides/links.md, and how wide discs might be for that of
docs/design/bounding.md.
"""

from dataclasses import dataclass
from fractions import Fraction

from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import simulate_traces
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.rows.noisy import MetricEnds
from hushway.families.links.study.attacks import ends_shown

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
