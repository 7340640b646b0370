"""Lines of stations come from a timetable; what it lacks is named."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from hushway.errors import GeographyError
from hushway.families.sequences.public import gtfs_lines as gtfs
from hushway.families.sequences.public.gtfs_lines import LineTaxonomy, line_taxonomy
from hushway.geography.locations import Location, Locations

FEED = {
    "stops.txt": "stop_id,stop_name,parent_station\n"
    "A,Ash,\nB1,Birch platform 1,B\nB2,Birch platform 2,B\nB,Birch,\nC,Cedar,\nD,Depot,\n",
    "routes.txt": "route_id,route_short_name,route_long_name\n"
    "r2,Blue,\nr1,Red,Red line\nr3,,Green line\n",
    "trips.txt": "route_id,service_id,trip_id\nr1,wd,t1\nr2,wd,t2\nr2,wd,t3\nr3,wd,t4\n",
    "stop_times.txt": "trip_id,arrival_time,stop_id,stop_sequence\n"
    "t1,8:00,A,1\nt1,8:05,B1,2\n"
    "t2,8:00,B1,1\nt2,8:05,C,2\nt3,9:00,B2,1\nt3,9:05,C,2\n"
    "t4,9:00,A,1\n",
}

Feed = Callable[..., Path]


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    def write(*, zipped: bool = False, **changes: str | None) -> Path:
        files = {**FEED, **{f"{name}.txt": text for name, text in changes.items()}}
        if zipped:
            with zipfile.ZipFile(tmp_path / "feed.zip", "w") as archive:
                for name, text in files.items():
                    if text is not None:
                        archive.writestr(name, text)
            return tmp_path / "feed.zip"
        folder = tmp_path / "feed"
        folder.mkdir()
        for name, text in files.items():
            if text is not None:
                (folder / name).write_text(text, encoding="utf-8-sig")
        return folder

    return write


def places(*ids: str) -> Locations:
    return Locations(
        tuple(Location(id=key, name="", lon=i / 10, lat=0.0, zone="") for i, key in enumerate(ids))
    )


def lines(made: LineTaxonomy) -> list[str]:
    level = made.taxonomy.levels[0]
    return [level.names[code] for code in level.codes]


@pytest.mark.parametrize("zipped", [False, True])
def test_a_station_belongs_to_the_route_that_calls_most_often(feed: Feed, zipped: bool) -> None:
    made = line_taxonomy(feed(zipped=zipped), places("C", "B"))
    assert lines(made) == ["Blue", "Blue"]
    assert made.multi_line == ("B",)
    assert made.taxonomy.levels[0].column == "line"


def test_a_tie_goes_to_the_route_whose_id_comes_first(feed: Feed) -> None:
    made = line_taxonomy(feed(), places("A", "C"))
    assert lines(made) == ["Red", "Blue"]
    assert made.multi_line == ("A",)


def test_platforms_may_be_locations_themselves(feed: Feed) -> None:
    made = line_taxonomy(feed(), places("B1", "B2"))
    assert lines(made) == ["Red", "Blue"]
    assert made.multi_line == ("B1",)


def test_routes_of_one_name_are_told_apart(feed: Feed) -> None:
    routes = "route_id,route_short_name,route_long_name\nr1,1,\nr2,1,\nr3,,\n"
    assert lines(line_taxonomy(feed(routes=routes), places("A", "C"))) == ["1 (r1)", "1 (r2)"]


def test_optional_columns_may_be_missing(feed: Feed) -> None:
    made = line_taxonomy(
        feed(routes="route_id\nr1\nr2\nr3\n", stops="stop_id\nA\nC\n"), places("A", "C")
    )
    assert lines(made) == ["r1", "r2"]


def test_a_location_without_a_call_is_named(feed: Feed) -> None:
    with pytest.raises(GeographyError, match="'D', 'nowhere'"):
        line_taxonomy(feed(), places("A", "D", "nowhere"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"stop_times": None}, "no stop_times.txt"),
        ({"routes": None}, "no routes.txt"),
        ({"trips": "route_id,service_id\nr1,wd\n"}, "no column trip_id"),
        ({"stop_times": "trip_id,stop_id\n"}, "stop_times.txt of feed.zip is empty"),
        ({"trips": "route_id,trip_id\nr1,t1\n"}, "'t2', 't3', 't4'"),
        ({"stops": "stop_id,x\nA\n"}, "stops.txt of feed.zip cannot be read"),
        ({"stops": ""}, "stops.txt of feed.zip cannot be read"),
    ],
)
def test_a_damaged_feed_is_refused_in_one_sentence(
    feed: Feed, changes: dict[str, str | None], words: str
) -> None:
    with pytest.raises(GeographyError) as caught:
        line_taxonomy(feed(zipped=True, **changes), places("A"))
    assert words in str(caught.value)
    assert caught.value.advice


def test_what_is_no_feed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GeographyError, match="no gone"):
        line_taxonomy(tmp_path / "gone.zip", places("A"))
    (tmp_path / "text.zip").write_text("no archive", encoding="utf-8")
    with pytest.raises(GeographyError, match="cannot be read"):
        line_taxonomy(tmp_path / "text.zip", places("A"))


def test_naming_many_routes_compares_each_with_few(
    feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = 0

    class Counted(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    real = gtfs._texts
    monkeypatch.setattr(gtfs, "_texts", lambda column: [Counted(text) for text in real(column)])
    several = 500
    rows = "".join(f"r{i},Line {i // 2},\n" for i in range(1, several))
    routes = f"route_id,route_short_name,route_long_name\n{rows}"
    named = gtfs.read_timetable(feed(routes=routes)).route_names
    assert named["r1"] == "Line 0"
    assert named["r2"] == "Line 1 (r2)"
    # Each with each other would be a quarter of a million.
    assert compared < 20 * several
