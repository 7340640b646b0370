"""Stands against the rule in plain words: what saves riders most, then seats by votes."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.geography.locations import Locations
from hushway.geography.transit import TransitNetwork, Travel
from hushway.transit.planned_legs import stand_order, stands

Place = Callable[..., Locations]


def random_town(placed: Place, seed: int) -> tuple[TransitNetwork, IntArray]:
    """Returns a town, some places of which share a spot, and where its riders ask."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 15))
    spots = rng.integers(-3, 4, (count, 2)) * 500.0
    network = TransitNetwork(
        locations=placed(*((*spot, "a") for spot in spots.tolist())),
        hubs=(),
        lines=(),
        travel=Travel(stop_s=int(rng.integers(0, 2)) * 20),
    )
    return network, rng.integers(0, count, int(rng.integers(1, 60)))


@pytest.mark.parametrize("seed", range(20))
def test_every_place_where_riders_ask_gets_a_stand_that_saves_most(
    placed: Place, seed: int
) -> None:
    network, pickups = random_town(placed, seed)
    asked = Counter(pickups.tolist())
    order = stand_order(network, 0, pickups).tolist()
    drive_s = network.shuttle_s

    def seconds(chosen: list[int]) -> int:
        """Adds up how far all riders are from their nearest stand."""
        near = (min(drive_s[stand, place] for stand in chosen) for place in asked)
        return int(sum(s * asked[place] for s, place in zip(near, asked, strict=True)))

    assert set(order[: len(asked)]) == set(asked)
    for at in range(len(asked)):
        left = set(asked) - set(order[:at])
        best = min(seconds([*order[:at], place]) for place in left)
        assert seconds(order[: at + 1]) == best


@pytest.mark.parametrize("seed", range(20))
def test_then_the_place_with_most_riders_to_a_stand_comes_next(placed: Place, seed: int) -> None:
    network, pickups = random_town(placed, seed)
    asked = Counter(pickups.tolist())
    order = stand_order(network, 0, pickups).tolist()
    assert Counter(order) == asked
    for at in range(len(asked), len(order)):
        has = Counter(order[:at])
        share = {place: asked[place] / (has[place] + 1) for place in asked}
        open_places = [place for place in asked if has[place] < asked[place]]
        assert share[order[at]] == max(share[place] for place in open_places)


def test_the_first_stand_is_nearest_to_all_riders(placed: Place) -> None:
    locations = placed(*((1000.0 * place, 0.0, "a") for place in range(5)))
    network = TransitNetwork(locations=locations, hubs=(), lines=())
    order = stand_order(network, 0, np.array([0, 0, 1, 4, 4, 4]))
    assert order.tolist() == [4, 0, 1, 4, 4, 0]


def test_without_riders_every_place_of_the_zone_is_a_stand(placed: Place) -> None:
    locations = placed((0.0, 0.0, "a"), (500.0, 0.0, "b"), (900.0, 0.0, "a"))
    network = TransitNetwork(locations=locations, hubs=(), lines=())
    assert stand_order(network, 0, np.zeros(0, dtype=np.int64)).tolist() == [0, 2]


def test_stands_that_ran_out_are_used_again() -> None:
    order = np.array([5, 3, 8])
    assert stands(order, 0).tolist() == []
    assert stands(order, 2).tolist() == [5, 3]
    assert stands(order, 7).tolist() == [5, 3, 8, 5, 3, 8, 5]
