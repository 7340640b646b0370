"""Speeds, lanes and directions as sources write them."""

import math
from typing import Any

import pytest

from hushway.families.links.public.words import directions_of, lanes_of, per_direction, speed_of


@pytest.mark.parametrize(
    ("text", "kmh"),
    [
        ("50", 50),
        (50, 50),
        ("50 km/h", 50),
        ("30 mph", 48.28032),
        ("30mph", 48.28032),
        ("50;70", 50),
        ("7,5", 7.5),
        ("none", 130),
        ("walk", 7),
        ("DE:urban", 50),
        ("DE:zone30", 30),
        ("FR:motorway", 120),
    ],
)
def test_speeds_are_kilometres_an_hour(text: Any, kmh: float) -> None:
    assert speed_of(text) == pytest.approx(kmh)


@pytest.mark.parametrize("text", [None, "", "signals", "0", 0, -5.0, math.nan, math.inf])
def test_what_is_no_speed_is_not_said(text: Any) -> None:
    assert math.isnan(speed_of(text))


def test_numbers_without_a_unit_have_that_of_the_file() -> None:
    assert speed_of("25", "mph") == speed_of(25, "mph") == pytest.approx(40.2336)
    assert speed_of("25 km/h", "mph") == 25


def test_lanes_are_numbers_above_0() -> None:
    assert [lanes_of(text) for text in ("2", 3, "1.5", "2;3")] == [2, 3, 1.5, 2]
    assert all(math.isnan(lanes_of(text)) for text in (None, "", "many", 0, "0"))


def test_two_way_streets_share_their_lanes_and_have_at_least_one_each() -> None:
    assert per_direction(4, (True, True)) == 2
    assert per_direction(1, (True, True)) == 1
    assert per_direction(3, (True, False)) == 3
    assert math.isnan(per_direction(math.nan, (True, True)))


@pytest.mark.parametrize(
    ("text", "directions"),
    [
        ("yes", (True, False)),
        (True, (True, False)),
        (1, (True, False)),
        ("forward", (True, False)),
        ("-1", (False, True)),
        (-1, (False, True)),
        ("backward", (False, True)),
        ("no", (True, True)),
        (False, (True, True)),
        (0, (True, True)),
        ("both", (True, True)),
    ],
)
def test_directions_are_understood(text: Any, directions: tuple[bool, bool]) -> None:
    assert directions_of(text, (False, False)) == directions


@pytest.mark.parametrize("text", [None, "", math.nan])
def test_where_nothing_is_said_the_usual_holds(text: Any) -> None:
    assert directions_of(text, (True, False)) == (True, False)
