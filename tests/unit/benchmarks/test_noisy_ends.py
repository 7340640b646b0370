"""What noise at the ends of trips leaves to see, on a small city and with fixed seeds."""

from fractions import Fraction

import pytest

from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import simulate_traces
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.rows.noisy import MetricEnds
from noisy_ends import ends_shown

# Reaches 152 metres.
ENDS = MetricEnds(epsilon=Fraction(4), radius=100, max_trips=1)
TINY = MetricEnds(epsilon=Fraction(20), radius=10, max_trips=1)


@pytest.fixture(scope="module")
def city() -> TraceCity:
    return simulate_traces(road_city(1, links=5_000), 1, people=150)


def test_positions_beyond_the_discs_seldom_lead_to_the_true_first_links(city: TraceCity) -> None:
    shown = ends_shown(city, ENDS, 1).value
    assert shown.led_to_first < 0.01
    assert shown.led_to_first_two < 0.02
    assert shown.first < shown.first_two < 0.65
    assert shown.found > 0.5
    assert shown.right > 0.5


def test_discs_that_are_smaller_than_the_noise_do_not_hide_them(
    city: TraceCity, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ends_shown(city, ENDS, 1).value
    monkeypatch.setattr(MetricEnds, "reach", 0.0)
    after = ends_shown(city, ENDS, 1).value
    assert after.led_to_first_two > 0.03 > before.led_to_first_two
    assert after.found > before.found
    assert after.swallowed < before.swallowed


def test_hardly_any_noise_changes_hardly_anything_beyond_the_discs(city: TraceCity) -> None:
    shown = ends_shown(city, TINY, 1).value
    assert shown.first > 0.6
    assert shown.found > 0.75
    assert shown.right > 0.75
