"""Places of a GTFS feed: stations or stops, from a folder, an archive or the file of stops."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from hushway.errors import GeographyError
from hushway.tables.gtfs_stops import GtfsPlaces
from hushway.tables.locations import LocationColumns, read_locations

STOPS = """\
stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,zone_id
C,Central,38.71,-9.14,1,,1
C1,Platform 1,38.71,-9.14,0,C,1
C2,Platform 2,38.71,-9.14,,C,1
E,Entrance,38.71,-9.14,2,C,1
H,Harbour,38.70,-9.15,1,,2
H1,Platform 1,38.70,-9.15,0,H,2
Q,Quay,38.69,-9.16,0,,2
"""


@pytest.fixture(params=["folder", "feed.zip", "stops.txt"])
def feed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "stops.txt").write_text(STOPS, encoding="utf-8")
    if request.param == "feed.zip":
        with ZipFile(tmp_path / request.param, "w") as archive:
            archive.write(tmp_path / "stops.txt", "stops.txt")
    return tmp_path if request.param == "folder" else tmp_path / request.param


def test_stations_are_places_by_whose_stops_rows_may_name_them(feed: Path) -> None:
    places = read_locations(feed)
    assert places.ids == ("C", "H", "Q")
    assert places.zones == ("1", "2")
    assert [place.name for place in places.places] == ["Central", "Harbour", "Quay"]
    assert places.places_of_ids == {"C": 0, "H": 1, "Q": 2, "C1": 0, "C2": 0, "H1": 1}


def test_stops_are_places_if_a_plan_says_so(feed: Path) -> None:
    places = read_locations(feed, gtfs_places="stops")
    assert places.ids == ("C1", "C2", "H1", "Q")
    assert places.places_of_ids == places.index


def test_a_name_that_stops_of_several_stations_have_names_none(feed: Path) -> None:
    places = read_locations(feed, LocationColumns(id="stop_name"))
    assert places.places_of_ids == {"Central": 0, "Harbour": 1, "Quay": 2, "Platform 2": 0}


@pytest.mark.parametrize("level", ["stations", "stops"])
def test_a_feed_without_stops_is_refused(tmp_path: Path, level: GtfsPlaces) -> None:
    with pytest.raises(GeographyError, match=r"has no stops\.txt"):
        read_locations(tmp_path, gtfs_places=level)
