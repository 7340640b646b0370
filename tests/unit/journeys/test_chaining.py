"""Where people got off follows from their own next taps and from the timetable."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.geography.locations import NOT_KNOWN
from hushway.journeys import taps as taps_module
from hushway.journeys.chaining import ChainingRules, chained
from hushway.journeys.taps import TapColumns
from hushway.numerics.compiled import Rows
from unit.journeys.material import Tap, source_of, tap, trips_of

NEXT = "2026-03-03T08:00"


@pytest.mark.parametrize(
    ("taps", "ends"),
    [
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", "17:00", "W4")],
            [("E4", "next_tap"), ("W1", "first_stop")],
            id="there and back",
        ),
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", NEXT, "E3", "20")],
            [("E3", "next_day"), (NOT_KNOWN, "nothing_follows")],
            id="the next day begins elsewhere",
        ),
        pytest.param(
            [tap("a", "08:00", "E1")], [(NOT_KNOWN, "nothing_follows")], id="one tap alone"
        ),
        pytest.param(
            [tap("a", "08:00", "MA", ""), tap("a", "09:00", "MC", "", "off")],
            [("MC", "exit")],
            id="through gates",
        ),
        pytest.param(
            [tap("a", "08:00", "MC", ""), tap("a", "17:00", "E4")],
            [("MA", "next_tap"), (NOT_KNOWN, "not_on_line")],
            id="out of a gate that nobody saw",
        ),
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", "17:00", "FAR")],
            [(NOT_KNOWN, "too_far"), (NOT_KNOWN, "not_on_line")],
            id="nowhere near the next tap",
        ),
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", "08:00", "W4"), tap("a", "17:00", "E4")],
            [(NOT_KNOWN, why) for why in ("too_soon", "too_far", "not_on_line")],
            id="two taps in a second, far from each other",
        ),
        pytest.param(
            [tap("a", "08:00", "E1", "99"), tap("a", "17:00", "W4")],
            [(NOT_KNOWN, "unknown_line"), ("W1", "first_stop")],
            id="a line that the timetable does not have",
        ),
        pytest.param(
            [tap("a", "08:00", "X9"), tap("a", "17:00", "W4")],
            [(NOT_KNOWN, "unknown_stop"), (NOT_KNOWN, "unknown_next")],
            id="a stop that the timetable does not have",
        ),
        pytest.param(
            [tap("a", "08:00", "E1", ""), tap("a", "17:00", "W4", "")],
            [("E4", "next_tap"), ("W1", "first_stop")],
            id="no line is named",
        ),
        pytest.param(
            [tap("a", "18:00", "E1"), tap("a", "2026-03-03T00:30", "W4")],
            [("E4", "next_tap"), ("W1", "first_stop")],
            id="home after midnight",
        ),
        pytest.param(
            [tap("a", "08:00", "E1"), tap("a", "08:00", "E1"), tap("a", "17:00", "W4")],
            [("E4", "next_tap"), ("E4", "next_tap"), ("W1", "first_stop")],
            id="two who travel with one card",
        ),
        pytest.param(
            [tap("a", "08:00", "E4"), tap("a", "17:00", "W1")],
            [(NOT_KNOWN, "not_on_line"), (NOT_KNOWN, "not_on_line")],
            id="the line ends where they got on",
        ),
    ],
)
def test_ends(tmp_path: Path, taps: list[Tap], ends: list[tuple[str, str]]) -> None:
    found = trips_of(source_of(tmp_path, taps))
    by_time = sorted(taps, key=lambda row: row[1])
    order = {row[1][11:16]: number for number, row in enumerate(by_time)}
    assert [trip[3:] for trip in sorted(found, key=lambda trip: order[trip[1]])] == ends


def test_stop_of_a_tap_by_the_trip_of_its_vehicle(tmp_path: Path) -> None:
    columns = TapColumns(person="card", time="when", stop=None, trip="line")
    taps = [tap("a", "08:06", "", "east"), tap("a", "08:10", "", "west")]
    found = trips_of(source_of(tmp_path, taps, columns=columns, exits=()))
    # After six minutes the bus has left E2; the one back has come to W2 by then.
    assert [trip[2] for trip in found] == ["E2", "W2"]


def test_stop_of_a_tap_by_its_point(tmp_path: Path) -> None:
    columns = TapColumns(
        person="card", time="when", stop=None, lon="stop", lat="action", line="line"
    )
    taps = [tap("a", "08:00", "0.0101", "10", "0.0001"), tap("a", "17:00", "0.04", "10", "0.0006")]
    found = trips_of(source_of(tmp_path, taps, columns=columns, exits=()))
    assert [(trip[2], trip[3]) for trip in found] == [("E1", "E4"), ("W4", "W1")]


def test_taps_outside_the_window_tell_nothing(tmp_path: Path) -> None:
    taps = [tap("a", "2026-03-04T18:00", "E1"), tap("a", "2026-03-05T08:00", "W4")]
    (later, early) = trips_of(source_of(tmp_path, taps))
    assert early[3:] == (NOT_KNOWN, "nothing_follows")
    assert later[2:] == (NOT_KNOWN, NOT_KNOWN, None)


# Nobody's trips depend on anybody else's taps -----------------------------------------------------


def some_taps(seed: int, cards: int = 3) -> list[Tap]:
    """Returns taps of a few cards that get in each other's way in time and place."""
    random = np.random.default_rng(seed)
    stops = ["E1", "E2", "E3", "E4", "W4", "W1", "N1", "N2", "MA", "MC"]
    lines = ["10", "20", "", "99"]
    return [
        tap(
            f"c{random.integers(cards)}",
            f"2026-03-0{random.integers(2, 5)}T{random.integers(24):02}:{random.integers(60):02}",
            str(random.choice(stops)),
            str(random.choice(lines)),
            "off" if random.random() < 0.2 else "on",
        )
        for _ in range(60)
    ]


def leaks(folder: Path, seed: int, counted: str) -> bool:
    """Whether the trips of some card change when the taps of all others are taken away."""
    taps = some_taps(seed)
    together = trips_of(source_of(folder, taps, counted=counted))
    return any(
        [trip for trip in together if trip[0] == card]
        != trips_of(source_of(folder, [row for row in taps if row[0] == card], counted=counted))
        for card in {row[0] for row in taps}
    )


@pytest.mark.parametrize("counted", ["rides", "journeys", "both"])
@pytest.mark.parametrize("seed", range(2))
def test_trips_of_a_card_follow_from_its_own_taps(tmp_path: Path, seed: int, counted: str) -> None:
    assert not leaks(tmp_path, seed, counted)


def test_a_step_that_looks_at_others_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def learning(*facts: Any) -> Rows:
        """Fills in where most went, where nothing is known."""
        rides = chained(*facts)
        known = rides["alight"] >= 0
        rides["alight"][~known] = np.bincount(rides["alight"][known]).argmax()
        return rides

    monkeypatch.setattr(taps_module, "chained", learning)
    assert any(leaks(tmp_path, seed, "rides") for seed in range(3))


def test_rules_are_public_options(tmp_path: Path) -> None:
    rules = ChainingRules(day_begins_us=0)
    taps = [tap("a", "18:00", "E1"), tap("a", "2026-03-03T00:30", "W4")]
    source = replace(source_of(tmp_path, taps), rules=rules)
    assert {trip[4] for trip in trips_of(source)} == {"next_day", "nothing_follows"}
