"""A network file is read into a network and back; everything wrong in one is said at once."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushway.errors import GeographyError
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork, Travel, network_toml
from hushway.transit.network.file import read_network

# A hundredth of a degree at the equator: 1,113 metres.
PLACES = Locations(
    tuple(
        Location(id=key, name="", lon=index / 100, lat=0.0, zone="")
        for index, key in enumerate(["A", "B", 'C "quoted"', "D\\\x7f", "É"])
    )
)
LINE = 'name = "Crosstown"\nstops = ["B", "A", "É"]\n'


def read(folder: Path, text: str) -> TransitNetwork:
    (folder / "network.toml").write_text(text, encoding="utf-8")
    return read_network(folder / "network.toml", PLACES)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(GeographyError) as caught:
        read(folder, text)
    assert caught.value.advice
    return str(caught.value)


def test_a_line_runs_both_ways_and_its_stops_are_hubs(tmp_path: Path) -> None:
    made = read(tmp_path, f"[[lines]]\n{LINE}headway_min = 7.5\nride_s = [400, 150]\n")
    there = BusLine(name="Crosstown", stops=(1, 0, 4), ride_s=(400, 150), headway_s=450)
    assert made.lines == (there, there.back())
    assert made.hubs == (0, 1, 4)
    assert made.travel == Travel()
    assert made.locations is PLACES


def test_a_line_may_run_one_way_and_hubs_may_have_no_line(tmp_path: Path) -> None:
    made = read(
        tmp_path,
        'hubs = ["D\\\\\\u007f", "B"]\n[travel]\nshuttle_m_per_s = 6\nstop_s = 5\n'
        f"[[lines]]\n{LINE}headway_s = 90\nride_s = [400, 150]\nboth_ways = false\n",
    )
    assert [line.headway_s for line in made.lines] == [90]
    assert made.hubs == (0, 1, 3, 4)
    assert made.travel == Travel(shuttle_m_per_s=6.0, stop_s=5)


def test_rides_that_are_not_given_follow_from_the_streets(tmp_path: Path) -> None:
    made = read(
        tmp_path,
        '[travel]\ndetour = 2.0\n[[lines]]\nname = ""\nstops = ["A", "B", "É"]\nheadway_s = 60\n',
    )
    # 2 * 1,113.2 m and 2 * 3,339.6 m at 7 m a second, rounded up, and 30 s at the stop.
    assert made.lines[0].ride_s == (319 + 30, 955 + 30)
    assert made.lines[1].ride_s == (955 + 30, 319 + 30)


def test_an_express_is_faster(tmp_path: Path) -> None:
    made = read(
        tmp_path, '[[lines]]\nname = "X"\nstops = ["A", "B"]\nheadway_s = 60\nbus_m_per_s = 14\n'
    )
    # 1.3 * 1,113.2 m.
    assert made.lines[0].ride_s == (104 + 30,)


def test_an_empty_file_means_shuttles_only(tmp_path: Path) -> None:
    assert read(tmp_path, "") == TransitNetwork(locations=PLACES, hubs=(), lines=())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hubs = [", "is not TOML"),
        ('hubs = ["A", "Z"]', "hubs.1: 'Z' is not the id of a place"),
        ("hubs = [1]", "hubs.0: must be the id of a place, in quotes"),
        ('hubs = ["A", "A"]', "hubs: must not name a place twice"),
        ('hubs = "A"', "hubs: Input should be a valid list"),
        ("buses = 1", "buses: is not an option (is it misspelt?)"),
        ("[travel]\nspeed = 3", "travel.speed: is not an option"),
        ("[travel]\nwalk_m_per_s = 0", "travel.walk_m_per_s: Input should be greater than 0"),
        ("[travel]\nshuttle_m_per_s = inf", "travel.shuttle_m_per_s: Input should be a finite"),
        ("[travel]\ndetour = 0.9", "travel.detour: Input should be greater than or equal to 1"),
        ("[travel]\nstop_s = -1", "travel.stop_s: Input should be greater than or equal to 0"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('stops = ["A", "B"]\nheadway_s = 9', "lines.0.name: is missing"),
        ('name = "1"\nheadway_s = 9', "lines.0.stops: is missing"),
        ('name = "1"\nstops = ["A"]\nheadway_s = 9', "lines.0.stops: must be two places or more"),
        ('name = "1"\nstops = ["A", "B", "A"]\nheadway_s = 9', "must not name a place twice"),
        ('name = "1"\nstops = ["A", "Z"]\nheadway_s = 9', "lines.0.stops.1: 'Z' is not the id"),
        (LINE, "lines.0: must have either headway_min or headway_s"),
        (LINE + "headway_s = 9\nheadway_min = 1", "must have either headway_min or headway_s"),
        (LINE + "headway_s = 0", "lines.0.headway_s: Input should be greater than 0"),
        (LINE + "headway_min = -1", "lines.0.headway_min: Input should be greater than 0"),
        (LINE + "headway_min = 0.001", "lines.0: headway_min must be a second or more"),
        (LINE + "headway_min = true", "lines.0.headway_min: Input should be a valid number"),
        (LINE + "headway_s = 9.5", "lines.0.headway_s: Input should be a valid integer"),
        (LINE + 'headway_s = "9"', "lines.0.headway_s: Input should be a valid integer"),
        (LINE + "headway_s = 9\nride_s = [5]", "one ride from each stop to the next: 2, not 1"),
        (LINE + "headway_s = 9\nride_s = [5, 0]", "lines.0.ride_s.1: Input should be greater"),
        (LINE + "headway_s = 9\nride_s = [5, 5]\nbus_m_per_s = 7", "ride_s or bus_m_per_s"),
        (LINE + "headway_s = 9\nboth_ways = 1", "lines.0.both_ways: Input should be a valid bool"),
        (LINE + "headway_s = 9\nheadway = 1", "lines.0.headway: is not an option"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(tmp_path: Path, text: str, words: str) -> None:
    message = refusal(tmp_path, "[[lines]]\n" + text)
    assert words in message
    assert len(message.splitlines()) == 2


def test_every_problem_is_said_at_once(tmp_path: Path) -> None:
    message = refusal(
        tmp_path, 'hubs = ["Y"]\n[travel]\nstop_s = -1\n[[lines]]\nstops = ["A", "Z"]\n'
    )
    assert re.findall(r"^  (\S+):", message, flags=re.MULTILINE) == [
        "hubs.0",
        "travel.stop_s",
        "lines.0.name",
        "lines.0.stops.1",
    ]


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GeographyError, match="There is no network file"):
        read_network(tmp_path / "gone.toml", PLACES)
    with pytest.raises(GeographyError, match="cannot be read"):
        read_network(tmp_path, PLACES)
    (tmp_path / "latin.toml").write_bytes(b'hubs = ["\xe9"]')
    with pytest.raises(GeographyError, match="cannot be read"):
        read_network(tmp_path / "latin.toml", PLACES)


def test_a_line_and_its_way_back_are_written_once() -> None:
    line = BusLine(name="1", stops=(0, 2), ride_s=(60,), headway_s=300)
    written = network_toml(
        TransitNetwork(locations=PLACES, hubs=(0, 2, 4), lines=(line, line.back(), line))
    )
    assert written == (
        'hubs = ["A", "C \\"quoted\\"", "É"]\n\n'
        "[travel]\nshuttle_m_per_s = 8.0\ndetour = 1.3\nstop_s = 20\nwalk_m_per_s = 1.3\n\n"
        '[[lines]]\nname = "1"\nstops = ["A", "C \\"quoted\\""]\nheadway_s = 300\nride_s = [60]\n'
        "both_ways = true\n\n"
        '[[lines]]\nname = "1"\nstops = ["A", "C \\"quoted\\""]\nheadway_s = 300\nride_s = [60]\n'
        "both_ways = false\n"
    )


@st.composite
def networks(draw: st.DrawFn) -> TransitNetwork:
    lines: list[BusLine] = []
    for _ in range(draw(st.integers(0, 4))):
        stops = draw(st.permutations(range(len(PLACES))))[: draw(st.integers(2, len(PLACES)))]
        rides = st.lists(st.integers(1, 5_000), min_size=len(stops) - 1, max_size=len(stops) - 1)
        line = BusLine(
            name=draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=5)),
            stops=tuple(stops),
            ride_s=tuple(draw(rides)),
            headway_s=draw(st.integers(1, 10_000)),
        )
        lines += draw(st.sampled_from([[line], [line, line.back()], [line, line]]))
    speed = st.floats(min_value=1e-3, max_value=100.0)
    return TransitNetwork(
        locations=PLACES,
        hubs=tuple(
            sorted(
                draw(st.sets(st.sampled_from(range(len(PLACES)))))
                | {stop for line in lines for stop in line.stops}
            )
        ),
        lines=tuple(draw(st.permutations(lines))),
        travel=Travel(
            shuttle_m_per_s=draw(speed),
            detour=draw(st.floats(min_value=1.0, max_value=3.0)),
            stop_s=draw(st.integers(0, 100)),
            walk_m_per_s=draw(speed),
        ),
    )


@settings(derandomize=True, max_examples=150, deadline=None)
@given(network=networks())
def test_reading_what_was_written_gives_the_same_network(
    tmp_path_factory: pytest.TempPathFactory, network: TransitNetwork
) -> None:
    folder = tmp_path_factory.mktemp("network")
    written = network_toml(network)
    again = read(folder, written)
    assert again == network
    assert network_toml(again) == written
