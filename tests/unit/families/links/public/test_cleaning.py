"""From a draft to a network in which every link can be reached and left."""

from typing import Any

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.links.public.cleaning import RoadDraft, network_of
from hushway.families.links.public.roads import CLASSES
from hushway.families.links.public.words import HIGHWAYS, kind_of, kind_or_least

NODES = {"a": (0.0, 0.0), "b": (0.01, 0.0), "c": (0.01, 0.01), "d": (0.0, 0.01), "e": (0.02, 0.0)}
BOTH, ALONG, BACK = (True, True), (True, False), (False, True)

Line = tuple[str, tuple[bool, bool], list[tuple[float, float]] | None]


def draft(*lines: Line, **facts: Any) -> RoadDraft:
    """Lines such as ("ab", BOTH, None): from a to b, both ways, straight."""
    names = list(NODES)
    courses = [course or [NODES[ends[0]], NODES[ends[1]]] for ends, _, course in lines]
    points = np.array([point for course in courses for point in course])
    count = len(lines)
    usual: dict[str, Any] = {
        "node_id": np.array(names),
        "node_lon": np.array([NODES[name][0] for name in names]),
        "node_lat": np.array([NODES[name][1] for name in names]),
        "line_id": np.array([f"{at}{ends}" for at, (ends, _, _) in enumerate(lines)]),
        "tail": np.array([names.index(ends[0]) for ends, _, _ in lines]),
        "head": np.array([names.index(ends[1]) for ends, _, _ in lines]),
        "directions": np.array([directions for _, directions, _ in lines]),
        "speed": np.full((count, 2), np.nan),
        "lanes": np.full((count, 2), np.nan),
        "usual_speed": np.full(count, 30.0),
        "usual_lanes": np.ones(count),
        "road_class": np.full(count, 5),
        "name": np.array([""] * count),
        "start": np.concatenate([[0], np.cumsum([len(course) for course in courses])]),
        "lon": points[:, 0],
        "lat": points[:, 1],
    }
    return RoadDraft(**{**usual, **facts})


def test_a_two_way_line_is_two_links_of_one_street_with_reversed_courses() -> None:
    bent = [NODES["a"], (0.005, 0.002), NODES["b"]]
    roads, report = network_of(draft(("ab", BOTH, bent)), "x")
    assert roads.link_id.tolist() == ["0ab", "0ab:b"]
    assert roads.street.tolist() == [0, 0]
    assert roads.lon.tolist() == [0.0, 0.005, 0.01, 0.01, 0.005, 0.0]
    assert roads.lat.tolist() == [0.0, 0.002, 0.0, 0.0, 0.002, 0.0]
    assert (roads.tail.tolist(), roads.head.tolist()) == ([0, 1], [1, 0])
    assert roads.length[0] == pytest.approx(roads.length[1])
    assert (report.read, report.kept, report.assumed_speeds) == (2, 2, 2)


def test_two_directed_lines_are_one_street_only_if_their_courses_are_the_same() -> None:
    other = [NODES["b"], (0.005, 0.001), NODES["a"]]
    same, _ = network_of(draft(("ab", ALONG, None), ("ba", ALONG, None)), "x")
    apart, _ = network_of(draft(("ab", ALONG, None), ("ba", ALONG, other)), "x")
    assert same.street.tolist() == [0, 0]
    assert apart.street.tolist() == [0, 1]


def test_only_the_largest_part_that_leads_on_and_back_is_kept() -> None:
    ring = [("ab", ALONG, None), ("bc", ALONG, None), ("cd", ALONG, None), ("da", ALONG, None)]
    roads, report = network_of(draft(*ring, ("be", ALONG, None)), "x")
    assert roads.node_id.tolist() == ["a", "b", "c", "d"]
    assert roads.links == 4
    assert report.dropped == {"no_length": 0, "duplicate": 0, "not_connected": 1}


def test_a_line_may_be_driven_back_only() -> None:
    roads, _ = network_of(draft(("ab", BACK, None), ("ab", ALONG, None)), "x")
    assert roads.link_id.tolist() == ["0ab:b", "1ab"]
    assert roads.tail.tolist() == [1, 0]


def test_links_without_length_and_repeated_links_are_dropped() -> None:
    still = [NODES["a"], NODES["a"]]
    lines = [("ab", BOTH, None), ("ab", ALONG, None), ("aa", ALONG, still)]
    roads, report = network_of(draft(*lines), "x")
    assert roads.link_id.tolist() == ["0ab", "0ab:b"]
    assert report.dropped == {"no_length": 1, "duplicate": 1, "not_connected": 0}


def test_another_way_between_the_same_nodes_is_no_repetition() -> None:
    round_about = [NODES["a"], (0.005, 0.004), NODES["b"]]
    roads, report = network_of(draft(("ab", BOTH, None), ("ab", BOTH, round_about)), "x")
    assert roads.links == 4
    assert roads.street.tolist() == [0, 0, 1, 1]
    assert report.dropped["duplicate"] == 0


def test_a_road_round_a_block_is_kept_in_both_directions() -> None:
    block = [NODES["a"], (-0.001, 0.0), (-0.001, 0.001), NODES["a"]]
    roads, _ = network_of(draft(("ab", BOTH, None), ("aa", BOTH, block)), "x")
    assert roads.links == 4
    assert roads.street.tolist() == [0, 0, 1, 1]


def test_a_course_drawn_against_its_direction_is_turned_round() -> None:
    backwards = [NODES["b"], (0.004, 0.001), NODES["a"]]
    roads, report = network_of(draft(("ab", BOTH, backwards)), "x")
    assert report.turned == 2
    assert (roads.lon[0], roads.lon[2]) == (0.0, 0.01)
    assert any("turned round" in sentence for sentence in report.sentences)


def test_points_that_repeat_are_left_out_of_courses() -> None:
    stuttering = [NODES["a"], NODES["a"], (0.005, 0.0), (0.005, 0.0), NODES["b"]]
    roads, _ = network_of(draft(("ab", BOTH, stuttering)), "x")
    assert np.diff(roads.start).tolist() == [3, 3]


def test_what_is_said_about_a_direction_goes_before_what_is_usual() -> None:
    said = np.array([[80.0, np.nan]])
    roads, report = network_of(draft(("ab", BOTH, None), speed=said, lanes=said / 40), "x")
    assert roads.speed.tolist() == [80.0, 30.0]
    assert roads.lanes.tolist() == [2.0, 1.0]
    assert report.assumed_speeds == 1


@pytest.mark.parametrize("course", [None, [(0.0, 0.0), (0.0, 0.0)]])
def test_a_draft_of_which_nothing_is_left_is_refused_by_name(course: Any) -> None:
    with pytest.raises(GeographyError, match=r"Nothing is left of city\.osm") as caught:
        network_of(draft(("ab", ALONG, course)), "city.osm")
    assert caught.value.advice


def test_the_report_says_everything_that_happened() -> None:
    lines = draft(
        ("ab", BOTH, None), ("ae", ALONG, None), cut_off=3, unknown_classes=tuple("abcdefg")
    )
    _, report = network_of(lines, "x")
    assert report.sentences == (
        "2 of 3 directed links are used.",
        "1 cannot be reached from the rest of the network and left again.",
        "3 ways lead beyond the edge of the file and end there.",
        "2 have the usual speed of their kind of road.",
        "Unknown kinds of roads count as class 5: a, b, c, d, e and 2 more.",
    )


def test_kinds_of_roads_are_words_or_numbers() -> None:
    assert {kind.road_class for kind in HIGHWAYS.values()} == set(CLASSES)
    assert kind_of("Motorway_Link") == HIGHWAYS["motorway_link"]
    classes = [kind_or_least(word)[0].road_class for word in ("On-Ramp", "minor arterial", "2")]
    assert classes == [1, 3, 2]
    assert kind_of("6") is None
    assert kind_or_least("cow path")[0].road_class == 5
    assert not kind_or_least("cow path")[1]
