import io
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread

from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.geography.itineraries import DIRECT, NO_CHANGE, Access, Itineraries, itineraries
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork
from hushway.transit.fleet import FleetPlan, ZoneFleet, size_fleet
from hushway.transit.fleet_bounds import FleetBound
from hushway.transit.legs import RiderTrips, in_order
from hushway.transit.operations import ServiceRules
from hushway.transit.picture import picture as network_picture
from hushway.transit.picture.map import stretches_of
from hushway.transit.picture.picture import (
    bus_trips,
    draw_network,
    riders_by_stretch,
    shuttle_pickups,
    trips_by_mode,
)

WINDOW = (28_800, 36_000)


def _random_trips(places: int, count: int, seed: int = 1) -> RiderTrips:
    rng = np.random.default_rng(seed)
    origin = rng.integers(0, places, count)
    destination = (origin + rng.integers(1, places, count)) % places
    return in_order(rng.integers(*WINDOW, count), origin, destination)


def _city_of(places: int) -> tuple[Itineraries, RiderTrips]:
    routes = itineraries(ann_arbor(seed=1, places=places).network)
    return routes, _random_trips(places, 1_500)


def _plan(network: TransitNetwork, shuttles: int = 5) -> FleetPlan:
    """A plan that nobody sized."""
    bound = FleetBound(paths=2, apart=0, seats=0, load=0, least=1)
    return FleetPlan(
        zones=tuple(
            ZoneFleet(zone=zone, legs=100, shuttles=shuttles, bound=bound, mean_wait_s=60.0)
            for zone in network.locations.zones
        )
    )


def _shape(png: bytes) -> tuple[int, ...]:
    return np.asarray(imread(io.BytesIO(png), format="png")).shape


def _written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keeps every word of the pictures that are drawn from now on."""
    words: list[str] = []

    def keep(figure: Figure) -> bytes:
        words.extend(text.get_text() for text in figure.texts)
        for axes in figure.axes:
            words.extend(text.get_text() for text in (*axes.texts, *axes.get_yticklabels()))
            legend = axes.get_legend()
            words.extend(text.get_text() for text in (legend.get_texts() if legend else ()))
        return b""

    monkeypatch.setattr(network_picture, "png_of", keep)
    return words


def _one_by_one(routes: Itineraries, trips: RiderTrips) -> list[list[int]]:
    """Riders on each stretch, by following every rider from stop to stop."""
    lines = routes.network.lines
    riders = [[0] * len(line.ride_s) for line in lines]
    for origin, destination in zip(trips.origin.tolist(), trips.destination.tolist(), strict=True):
        first, last = int(routes.first[origin, destination]), int(routes.last[origin, destination])
        if first in {DIRECT, last}:
            continue
        change = int(routes.rides.change[first, last])
        hubs = [first, last] if change == NO_CHANGE else [first, change, last]
        for start, end in pairwise(hubs):
            line = int(routes.rides.line[start, end])
            stops = lines[line].stops
            board = stops.index(routes.network.hubs[start])
            alight = stops.index(routes.network.hubs[end])
            assert board < alight
            for stretch in range(board, alight):
                riders[line][stretch] += 1
    return riders


def test_riders_of_a_stretch_are_those_who_pass_it_one_by_one() -> None:
    routes, trips = _city_of(60)
    found = riders_by_stretch(routes, trips)
    expected = _one_by_one(routes, trips)
    assert [each.tolist() for each in found] == expected
    assert min(map(max, expected)) > 0
    mode = routes.mode[trips.origin, trips.destination]
    assert (mode >= 8).any(), "somebody changes buses"


def test_pickups_modes_and_bus_trips_are_those_of_every_trip() -> None:
    routes, trips = _city_of(60)
    pickups = np.zeros(60, dtype=int)
    for origin, destination in zip(trips.origin, trips.destination, strict=True):
        pair = origin, destination
        if routes.first[pair] == DIRECT or routes.access[pair] == Access.SHUTTLE:
            pickups[origin] += 1
        if routes.egress[pair] == Access.SHUTTLE:
            pickups[routes.network.hubs[routes.last[pair]]] += 1
    assert shuttle_pickups(routes, trips).tolist() == pickups.tolist()
    modes = trips_by_mode(routes, trips)
    assert modes.sum() == len(trips)
    assert bus_trips(routes, trips) == modes[4:].sum()


def test_both_ways_of_a_line_are_one_stretch_and_a_single_way_knows_its_head() -> None:
    there = BusLine(name="A", stops=(0, 1, 2), ride_s=(60, 60), headway_s=300)
    back = BusLine(name="A", stops=(2, 1), ride_s=(60,), headway_s=300)
    other = BusLine(name="B", stops=(1, 0), ride_s=(60,), headway_s=300)
    network = TransitNetwork(
        locations=ann_arbor(seed=1, places=40).network.locations,
        hubs=(0, 1, 2),
        lines=(there, back, other),
    )
    riders = [np.array([5, 7]), np.array([4]), np.array([9])]
    found = {
        (s.line, s.start, s.end): (s.riders, s.heads_for) for s in stretches_of(network, riders)
    }
    assert found == {("A", 0, 1): (5, 1), ("A", 1, 2): (11, None), ("B", 0, 1): (9, 0)}


@pytest.mark.long
def test_the_picture_has_its_size_and_is_the_same_twice() -> None:
    routes, trips = _city_of(60)
    plan = size_fleet(routes, trips, rules=ServiceRules(), window_s=WINDOW)
    pictures = [
        draw_network(plan, routes.network, title="A city", routes=routes, trips=trips)
        for _ in range(2)
    ]
    assert _shape(pictures[0])[:2] == (1000, 1600)
    assert pictures[0] == pictures[1]


def test_zones_hubs_lines_and_numbers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    words = _written(monkeypatch)
    routes, trips = _city_of(60)
    network = routes.network
    plan = size_fleet(routes, trips, rules=ServiceRules(), window_s=WINDOW)
    draw_network(plan, network, title="Costs $5 [or] $6", routes=routes, trips=trips)
    assert "Costs $5 [or] $6" in words
    for zone in plan.zones:
        assert zone.zone in words
        assert f"{zone.shuttles} shuttles" in words
        assert f"{zone.legs:,} legs" in words
        assert f"  {zone.shuttles}, at least {zone.bound.shuttles}" in words
    said = " ".join(words)
    assert all(word in said for hub in network.hubs for word in _name(network, hub).split())
    assert "Crosstown, every 5 min" in words
    assert "2 km" in words
    for stretch in stretches_of(network, riders_by_stretch(routes, trips)):
        assert f"{stretch.riders:,}" in words


def _name(network: TransitNetwork, place: int) -> str:
    return network.locations.places[place].name


def test_shuttles_alone_in_one_zone_are_drawn_without_a_word_of_buses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = _written(monkeypatch)
    places = tuple(
        Location(id=f"p{i}", name=f"Place {i}", lon=0.01 * i, lat=50.0, zone="") for i in range(9)
    )
    network = TransitNetwork(locations=Locations(places), hubs=(), lines=())
    trips = _random_trips(9, 40)
    draw_network(_plan(network, 1), network, title="One", routes=itineraries(network), trips=trips)
    assert "1 shuttle" in words
    assert "(no zone)" in words
    assert not any("bus" in each.lower() for each in words)


@pytest.mark.parametrize(("count", "apart"), [(2, 0.0), (2, 1e-4), (3, 20.0)])
def test_any_extent_can_be_drawn(count: int, apart: float) -> None:
    places = tuple(
        Location(id=f"p{i}", name="", lon=apart * i, lat=0.0, zone="z") for i in range(count)
    )
    line = BusLine(name="x", stops=(0, 1), ride_s=(60,), headway_s=90)
    network = TransitNetwork(locations=Locations(places), hubs=(0, 1), lines=(line,))
    routes = itineraries(network)
    trips = in_order(*(np.zeros(0, dtype=np.int64) for _ in range(3)))
    png = draw_network(_plan(network), network, title="", routes=routes, trips=trips)
    assert _shape(png)[:2] == (1000, 1600)


def test_many_zones_hubs_and_lines_are_drawn_but_not_all_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = _written(monkeypatch)
    rng = np.random.default_rng(3)
    places = tuple(
        Location(id=f"p{i}", name=f"Stop{i}", lon=lon, lat=lat, zone=f"zone {i % 60:02d}")
        for i, (lon, lat) in enumerate(rng.uniform(0, 0.1, (400, 2)).tolist())
    )
    hubs = tuple(range(50))
    lines = tuple(
        BusLine(name=f"L{i}", stops=(i, i + 1, i + 2), ride_s=(60, 60), headway_s=600)
        for i in range(0, 48, 2)
    )
    network = TransitNetwork(locations=Locations(places), hubs=hubs, lines=lines)
    routes, trips = itineraries(network), _random_trips(400, 3_000)
    draw_network(_plan(network), network, title="Many", routes=routes, trips=trips)
    assert "lines not named: 16" in words
    # Two dozen names at the most, and those without room are left out.
    assert 12 <= sum(word.startswith("Stop") for word in words) <= 24
    assert words.count("5 shuttles") == 40


@pytest.mark.long
def test_two_thousand_places_are_drawn() -> None:
    routes, trips = _city_of(2_000)
    network = routes.network
    png = draw_network(_plan(network), network, title="Large", routes=routes, trips=trips)
    assert _shape(png)[:2] == (1000, 1600)
