import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.sequences.audit.stage import Walk, toy_universe
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Labels, Locations

TOY = toy_universe(corners=3, groups=2, places=2)


def test_a_scene_plays_at_every_corner_with_people_of_its_own() -> None:
    rows = TOY.play((Walk(stops=(0, 5), times=2), Walk(stops=(2,), person=1)))
    assert np.diff(rows["start"]).tolist() == [2] * 6 + [1] * 3
    assert rows["stops"][:4].tolist() == [0, 5, 0, 5]
    assert rows["stops"][-3:].tolist() == [2, 6, 10]
    assert rows["person"].tolist() == [0, 0, 2, 2, 4, 4, 1, 3, 5]


def test_later_stops_go_round_in_a_circle() -> None:
    assert TOY.place(5).tolist() == [5, 9, 1]


def test_stops_have_the_first_period_unless_they_have_another() -> None:
    rows = TOY.play((Walk(stops=(0, 5), periods=(1, 2)), Walk(stops=(2,), person=1)))
    assert rows["period"].tolist() == [1, 2] * 3 + [0] * 3


def test_with_times_the_candidates_of_all_hours_lie_below_their_corner() -> None:
    timed = toy_universe(corners=3, periods=2)
    hours = timed.universe.first_step()
    assert timed.corner_of(hours).tolist() == [0, 1, 2, 0, 1, 2]
    # Of the second hour, a record can only go on in the second hour.
    assert timed.corner_of(hours.below(np.array([1, 3]))).tolist() == [1] * 6 + [0] * 3


def test_nobody_makes_no_records() -> None:
    rows = TOY.play(())
    assert rows["start"].tolist() == [0]
    assert len(rows["stops"]) == len(rows["person"]) == 0


def test_with_one_place_a_group_there_are_locations_only() -> None:
    assert toy_universe(corners=3).universe.taxonomy.grains == 1
    assert TOY.universe.taxonomy.grains == 2


def test_candidates_of_every_step_lie_below_the_corner_of_their_first_stop() -> None:
    groups = TOY.universe.first_step()
    assert TOY.corner_of(groups).tolist() == [0, 0, 1, 1, 2, 2]
    places = groups.below(np.array([1, 4]))
    assert TOY.corner_of(places).tolist() == [0, 0, 2, 2]
    second = places.below(np.array([3]))
    assert TOY.corner_of(second).tolist() == [2] * 6


@pytest.fixture
def locations() -> Locations:
    return toy_universe(corners=4).universe.taxonomy.locations


def level(codes: list[int] | list[list[int]], groups: int, column: str = "line") -> Labels:
    return Labels(
        column=column,
        codes=np.array(codes, dtype=np.int32),
        names=tuple(f"line {number}" for number in range(groups)),
    )


def test_a_station_with_two_groups_is_refused() -> None:
    with pytest.raises(GeographyError, match="not one class for each"):
        level([[0, 1], [0, 0], [1, 1], [1, 1]], 2)


def test_a_station_that_is_listed_for_two_groups_is_refused(locations: Locations) -> None:
    with pytest.raises(GeographyError, match="does not give every place a group"):
        Taxonomy(locations=locations, levels=(level([0, 0, 1, 1, 1], 2),))


def test_a_station_that_is_given_twice_is_refused(locations: Locations) -> None:
    places = tuple(locations.places)
    with pytest.raises(GeographyError, match="more than once"):
        Locations((*places, places[0]))


def test_a_group_that_lies_in_two_larger_ones_is_refused(locations: Locations) -> None:
    with pytest.raises(GeographyError, match="lie in several groups"):
        Taxonomy(
            locations=locations, levels=(level([0, 0, 1, 1], 2), level([0, 1, 1, 2], 3, "branch"))
        )
