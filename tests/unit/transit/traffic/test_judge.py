"""The traffic of a table: two towns and a street between them, where every number can be told."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from hushway.errors import GeographyError, PlanError
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.transit.day_demand import DayDemand
from hushway.transit.traffic.day import PlacesOnRoads, day_traffic
from hushway.transit.traffic.judge import TrafficVerdict, judge_traffic, spread

# A street of a class that takes 1,200 vehicles an hour, driven in 90 seconds while it is empty.
FREE_S, CAPACITY = 90.0, 1200.0
STREET = RoadNetwork(
    node_id=np.array(["a", "b"]),
    node_lon=np.array([0.0, 0.01]),
    node_lat=np.array([0.0, 0.0]),
    link_id=np.array(["there", "back"]),
    tail=np.array([0, 1]),
    head=np.array([1, 0]),
    length=np.array([1500.0, 1500.0]),
    speed=np.array([60.0, 60.0]),
    lanes=np.array([1.0, 1.0]),
    road_class=np.array([2, 2]),
    street=np.array([0, 0]),
    name=np.array(["", ""]),
    start=np.array([0, 2, 4]),
    lon=np.array([0.0, 0.01, 0.01, 0.0]),
    lat=np.zeros(4),
)
# The third stands beside the first, the fourth far from any road.
PLACES = Locations(
    tuple(
        Location(id=name, name=name, lon=lon, lat=lat, zone="z")
        for name, lon, lat in (("A", 0, 0), ("B", 0.01, 0), ("beside A", 0, 0.001), ("far", 1, 1))
    )
)
CELLS = ODCells(
    locations=PLACES,
    periods=Periods(
        zone="UTC",
        first_day=date(2026, 3, 3),
        last_day=date(2026, 3, 3),
        opens=480,
        closes=570,
        minutes=30,
    ),
)
ON_ROADS = PlacesOnRoads.of(STREET, PLACES)


def demand(*trips: tuple[int, int, int, int], days: int = 1) -> DayDemand:
    """Trips as (period, origin, destination, how many over all days)."""
    period, origin, destination, counts = np.array(trips).T
    cells = CELLS.encode(period, origin, destination)
    order = np.argsort(cells)
    return DayDemand(universe=CELLS, cells=cells[order], sums=counts[order], days=days)


def seconds(an_hour: float) -> float:
    return FREE_S * (1 + 0.15 * (an_hour / CAPACITY) ** 4)


def judged(*there: int, truth: DayDemand | None = None, draws: int = 3) -> TrafficVerdict:
    """Judges a table whose draws put so many trips on the way there in the first half-hour."""
    another: Callable[[int], DayDemand] = lambda seed: demand((0, 0, 1, there[seed]))  # noqa: E731
    table = replace(demand((0, 0, 1, there[0])), another=another if len(there) > 1 else None)
    return judge_traffic(table, ON_ROADS, truth=truth, draws=draws, progress=lambda *_: None).value


def test_volumes_are_of_an_average_day_and_times_those_of_each_period() -> None:
    found = day_traffic(ON_ROADS, demand((0, 0, 1, 1200), (1, 0, 1, 400), (2, 1, 0, 8), days=2))
    assert found.volumes == pytest.approx([800, 4])
    # 600 vehicles in a half-hour are 1,200 an hour: the road is full, and then it is a third full.
    each_s = (600 * seconds(1200) + 200 * seconds(400)) / 800
    assert found.seconds == pytest.approx([each_s, seconds(8)])
    assert found.speeds == pytest.approx(1500 / found.seconds * 3.6)
    assert found.vehicle_hours == pytest.approx((800 * each_s + 4 * seconds(8)) / 3600)
    assert found.vehicle_km == pytest.approx(804 * 1.5)


def test_trips_that_need_no_road_or_find_none_are_told_apart() -> None:
    trips = demand((0, 0, 1, 60), (0, 0, 2, 20), (0, 3, 1, 20), (0, 1, 3, 100))
    found = judge_traffic(trips, ON_ROADS, truth=None, draws=3, progress=lambda *_: None).value
    assert found.off_roads == pytest.approx(0.7)
    assert found.volumes.mean.tolist() == [60, 0]


def test_a_trip_may_put_less_than_a_vehicle_on_the_road() -> None:
    half = replace(ON_ROADS, vehicles_per_trip=0.5)
    assert day_traffic(half, demand((0, 0, 1, 60))).volumes.tolist() == [30, 0]
    with pytest.raises(PlanError, match="more than 0 vehicles"):
        replace(ON_ROADS, vehicles_per_trip=0.0)


def test_draws_give_intervals_that_another_draw_would_lie_in() -> None:
    found = judged(90, 100, 110)
    # Student's law of two degrees: 4.3027 times 10, and more as the mean itself is uncertain.
    off = 4.30265 * 10 * np.sqrt(4 / 3)
    assert found.volumes.mean.tolist() == [100, 0]
    assert found.volumes.low == pytest.approx([100 - off, 0])
    assert found.volumes.high == pytest.approx([100 + off, 0])
    rng = np.random.default_rng(5)
    held = [spread(list(draws[:-1])).holds(draws[-1]) for draws in rng.normal(50, 9, (4000, 9, 1))]
    # 3,800 are expected, and five standard deviations are 69.
    assert abs(np.sum(held) - 3800) < 69


def test_a_table_that_states_no_errors_has_no_intervals() -> None:
    found = judged(90)
    assert len(found.days) == 1
    assert np.isnan([found.volumes.low, found.volumes.high]).all()
    assert found.sentence == "2 vehicle hours"


def test_the_truth_says_how_far_off_links_of_each_size_are() -> None:
    truth = demand((0, 0, 1, 130), (0, 1, 0, 30))
    found = judged(90, 100, 110, truth=truth)
    assert found.truth is not None
    assert found.truth.day.volumes.tolist() == [130, 30]
    small, larger, everything = found.truth.sizes
    assert (small.name, small.links, small.held) == ("0 to 50 an hour", 1, 0.0)
    assert (larger.name, larger.links, larger.held) == ("50 to 200 an hour", 1, 1.0)
    assert larger.rmse_percent == pytest.approx(100 * 30 / 130)
    assert everything.rmse_percent == pytest.approx(100 * 30 / 80)
    assert everything.held == 0.5
    off = found.speeds.mean - found.truth.day.speeds
    assert found.truth.speed_rmse_kmh == pytest.approx(np.sqrt(np.mean(off**2)))
    assert found.sentence.endswith("by 3 draws; truth 4")


def test_roads_of_another_region_and_no_draws_are_refused() -> None:
    with pytest.raises(PlanError, match="No day is to be drawn"):
        judged(90, 100, draws=0)
    elsewhere = Locations((PLACES.places[3],))
    with pytest.raises(GeographyError, match="within 2,000 metres of a road"):
        PlacesOnRoads.of(STREET, elsewhere)
