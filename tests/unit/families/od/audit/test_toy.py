from fractions import Fraction

import numpy as np

from hushway.auditing.product import Rows
from hushway.families.od.audit.stage import (
    ODProduct,
    Part,
    Scene,
    Stray,
    ToyUniverse,
    staged,
    toy_universe,
)


def played(place: ToyUniverse, scene: Scene) -> Rows:
    return staged(ODProduct(), Fraction(1), toy=place).play(scene)


def test_every_pair_of_places_is_a_corner_unless_fewer_are_asked_for() -> None:
    assert toy_universe(places=4, periods=2).corners == 12
    assert toy_universe(places=4, periods=2, corners=1).corners == 1


def test_a_scene_plays_at_every_corner_with_people_of_its_own() -> None:
    place = toy_universe(places=3, periods=2)
    trips = played(place, (Part(times=2), Part(person=1, period=1)))
    assert len(trips["person"]) == 3 * 6
    assert len(np.unique(trips["person"])) == 2 * 6
    cells = place.cells.encode(trips["period"], trips["origin"], trips["destination"])
    counts = place.by_corner(np.bincount(cells, minlength=place.cells.size))
    assert counts.tolist() == [[2] * 6, [1] * 6]


def test_no_person_is_at_two_corners() -> None:
    place = toy_universe(places=3, periods=1)
    trips = played(place, (Part(times=4),))
    cells = place.cells.encode(trips["period"], trips["origin"], trips["destination"])
    assert all(len(np.unique(cells[trips["person"] == p])) == 1 for p in np.unique(trips["person"]))


def test_a_twin_has_the_same_low_bits_and_is_somebody_else() -> None:
    trips = played(toy_universe(places=3, periods=1), (Part(), Part(twin=True)))
    person, twin = trips["person"][:6], trips["person"][6:]
    assert (twin > person).all()
    assert (twin & 0xFFFFFFFF).tolist() == person.tolist()


def test_strays_have_no_cell() -> None:
    place = toy_universe(places=3, periods=1)
    assert set(played(place, (Part(stray=Stray.UNKNOWN_DESTINATION),))["destination"].tolist()) == {
        3
    }
    assert set(played(place, (Part(stray=Stray.UNKNOWN_ORIGIN),))["origin"].tolist()) == {-1}
    assert set(played(place, (Part(stray=Stray.OUTSIDE_HOURS),))["period"].tolist()) == {-1}
    still = played(place, (Part(stray=Stray.SAME_PLACE),))
    assert still["origin"].tolist() == still["destination"].tolist()


def test_nobody_makes_no_trips() -> None:
    trips = played(toy_universe(places=2, periods=1), ())
    assert len(trips["person"]) == len(trips["destination"]) == 0
    assert trips["origin"].dtype == np.int64
