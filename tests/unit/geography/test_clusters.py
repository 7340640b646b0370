"""Groups of places that a map shows from afar."""

from itertools import pairwise

import numpy as np
import pytest

from hushway.geography.clusters import nested_clusters
from hushway.geography.locations import Location, Locations


def _city(places: int, zones: int) -> Locations:
    rng = np.random.default_rng(3)
    lon, lat = rng.normal(size=(2, places)) / 20
    return Locations(
        tuple(
            Location(
                id=str(i),
                name=f"Stop {i}",
                lon=lon[i],
                lat=41 + lat[i],
                zone="" if zones == 0 else f"zone {i % zones}",
            )
            for i in range(places)
        )
    )


@pytest.mark.parametrize(("places", "zones"), [(130, 0), (130, 4), (653, 40), (2500, 0)])
def test_every_step_joins_whole_groups_of_the_one_before(places: int, zones: int) -> None:
    steps = nested_clusters(_city(places, zones))
    assert len(steps) >= 2
    for finer, coarser in pairwise(steps):
        assert coarser.max() < finer.max()
        assert all(len(set(coarser[finer == group])) == 1 for group in range(finer.max() + 1))
    assert set(steps[-1]) == set(range(steps[-1].max() + 1))


def test_zones_are_one_of_the_steps() -> None:
    city = _city(130, 4)
    assert any(
        np.array_equal(step, [int(place.zone[-1]) for place in city.places])
        for step in nested_clusters(city)
    )


def test_few_places_are_not_grouped() -> None:
    assert nested_clusters(_city(30, 4)) == ()


def test_places_at_one_point_are_not_grouped() -> None:
    alike = tuple(Location(id=str(i), name="", lon=1, lat=2, zone="") for i in range(50))
    assert nested_clusters(Locations(alike)) == ()
