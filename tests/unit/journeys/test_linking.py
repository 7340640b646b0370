"""Rides are joined into journeys by public rules of transfers."""

from pathlib import Path

import pytest

from hushway.geography.locations import NOT_KNOWN
from unit.journeys.material import Tap, source_of, tap, trips_of

# The bus 10 takes ten minutes from E1 to E3, next to N2 of the bus 20.
THERE = [tap("a", "08:00", "E1"), tap("a", "08:20", "N2", "20")]
BACK = tap("a", "17:00", "W4")


@pytest.mark.parametrize(
    ("taps", "journeys"),
    [
        pytest.param(
            [*THERE, tap("a", "17:00", "N3", "99")],
            [("E1", "N3"), ("N3", NOT_KNOWN)],
            id="a transfer",
        ),
        pytest.param(
            [THERE[0], tap("a", "09:00", "N2", "20"), tap("a", "17:00", "N3", "99")],
            [("E1", "E3"), ("N2", "N3"), ("N3", NOT_KNOWN)],
            id="too late for a transfer",
        ),
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", "08:10", "E2"), BACK],
            [("E1", "E2"), ("E2", "E4"), ("W4", "W1")],
            id="the same line again",
        ),
        pytest.param(
            [
                tap("a", "08:00", "MC", ""),
                tap("a", "08:20", "MA", "", "off"),
                tap("a", "08:25", "W4"),
                tap("a", "17:00", "E1"),
            ],
            [("MC", "W1"), ("E1", NOT_KNOWN)],
            id="from a gate to a bus",
        ),
        pytest.param(
            # Nearly nine kilometres by metro take twenty-four minutes.
            [tap("a", "08:00", "MC", ""), tap("a", "08:50", "W4"), tap("a", "17:00", "E1")],
            [("MC", "W1"), ("E1", NOT_KNOWN)],
            id="from a gate that nobody left to a bus",
        ),
        pytest.param(
            [tap("a", "08:00", "MC", ""), tap("a", "08:56", "W4"), tap("a", "17:00", "E1")],
            [("MC", "MA"), ("W4", "W1"), ("E1", NOT_KNOWN)],
            id="too long after a gate that nobody left",
        ),
    ],
)
def test_journeys(tmp_path: Path, taps: list[Tap], journeys: list[tuple[str, str]]) -> None:
    found = trips_of(source_of(tmp_path, taps, counted="journeys"))
    assert [(trip[2], trip[3]) for trip in found] == journeys
