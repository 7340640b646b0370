"""The public list of locations: what is read, and one clear error for everything else."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import GeographyError
from hushway.tables.locations import LocationColumns, read_locations

HEADER = "id,name,lon,lat,zone\n"
ROWS = "a,Alpha,-83.74,42.28,North\nb,Beta,-83.70,42.30,South\n"


def write(folder: Path, text: str | bytes, name: str = "places.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def feature(geometry: Any, **properties: Any) -> dict[str, Any]:
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def point(lon: float, lat: float) -> dict[str, Any]:
    return {"type": "Point", "coordinates": [lon, lat]}


def geojson(folder: Path, *features: Any, **members: Any) -> Path:
    collection = {"type": "FeatureCollection", "features": list(features), **members}
    return write(folder, json.dumps(collection), "places.geojson")


def refusal(file: Path, columns: LocationColumns | None = None) -> str:
    with pytest.raises(GeographyError) as caught:
        read_locations(file, columns)
    assert caught.value.advice
    return str(caught.value)


def test_a_csv_file_is_read_in_its_order(tmp_path: Path) -> None:
    places = read_locations(write(tmp_path, HEADER + ROWS))
    assert places.ids == ("a", "b")
    assert places.places[0].name == "Alpha"
    assert (places.places[1].lon, places.places[1].lat) == (-83.70, 42.30)
    assert places.zones == ("North", "South")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_common_delimiter_will_do(tmp_path: Path, delimiter: str) -> None:
    text = (HEADER + ROWS).replace(",", delimiter)
    assert read_locations(write(tmp_path, text)).ids == ("a", "b")


def test_a_byte_order_mark_windows_lines_blank_lines_and_gzip_do_not_matter(tmp_path: Path) -> None:
    text = ("\ufeff" + HEADER + ROWS + "\n").replace("\n", "\r\n").encode()
    plain = read_locations(write(tmp_path, text))
    packed = read_locations(write(tmp_path, gzip.compress(text), "places.csv.gz"))
    assert plain.ids == packed.ids == ("a", "b")


def test_quoted_names_may_hold_delimiters_and_lines(tmp_path: Path) -> None:
    text = HEADER + 'a,"Main, corner\nof ""1st""",1,2,Z\n'
    assert read_locations(write(tmp_path, text)).places[0].name == 'Main, corner\nof "1st"'


def test_columns_are_mapped_and_names_and_zones_may_be_missing(tmp_path: Path) -> None:
    file = write(tmp_path, "stop,x,y\n7,1,2\n")
    columns = LocationColumns(id="stop", lon="x", lat="y")
    place = read_locations(file, columns).places[0]
    assert (place.id, place.name, place.zone) == ("7", "7", "")


def test_a_zone_column_that_was_named_on_purpose_must_be_there(tmp_path: Path) -> None:
    file = write(tmp_path, HEADER + ROWS)
    assert "'district'" in refusal(file, LocationColumns(zone="district"))


def test_further_columns_are_read_as_labels_if_asked_for(tmp_path: Path) -> None:
    text = "id,county,lon,lat,kind\na,north,1,2,\nb,south,1,2,hub\n"
    file = write(tmp_path, text)
    places = read_locations(file, LocationColumns(labels=("kind", "county")))
    assert places.labels_in("county") == ("north", "south")
    assert places.labels_in("kind") == ("", "hub")
    assert read_locations(file).labels == ()
    assert read_locations(file).digest != places.digest
    assert "no column 'state'" in refusal(file, LocationColumns(labels=("state",)))
    assert "cannot be called 'id'" in refusal(file, LocationColumns(labels=("id",)))


def test_a_header_in_quotes_is_read(tmp_path: Path) -> None:
    quoted = '"id","name","lon","lat","zone"\n' + ROWS
    assert read_locations(write(tmp_path, quoted)).ids == ("a", "b")


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    assert "'lat'" in refusal(write(tmp_path, "id,lon\na,1\n"))


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    assert "two columns 'id'" in refusal(write(tmp_path, "id,id,lon,lat\na,b,1,2\n"))


@pytest.mark.parametrize("text", ["", "\n", HEADER])
def test_an_empty_file_is_called_empty(tmp_path: Path, text: str) -> None:
    assert "empty" in refusal(write(tmp_path, text))


def test_a_missing_id_is_shown_by_its_line(tmp_path: Path) -> None:
    assert "line 3" in refusal(write(tmp_path, HEADER + "a,A,1,2,Z\n,B,1,2,Z\n"))


@pytest.mark.parametrize("lon", ["", "west", "nan", "inf", "1,5,0"])
def test_a_location_without_a_position_is_named(tmp_path: Path, lon: str) -> None:
    text = "id;lon;lat\na;1;2\nlost;" + lon + ";2\n"
    assert "'lost'" in refusal(write(tmp_path, text))


def test_a_duplicate_id_is_named(tmp_path: Path) -> None:
    assert "more than once: a." in refusal(write(tmp_path, HEADER + ROWS + "a,A,1,2,Z\n"))


def test_a_latitude_beyond_90_degrees_looks_swapped(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, HEADER + ROWS + "t,Tokyo,35.7,139.7,Z\n"))
    assert "latitude beyond 90 degrees: 't'. Longitude and latitude look swapped" in message


def test_metres_are_the_wrong_crs(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, HEADER + ROWS + "m,M,273000.5,4685000.5,Z\n"))
    assert "wrong CRS" in message
    assert "'m'" in message


def test_many_bad_locations_are_not_all_listed(tmp_path: Path) -> None:
    rows = "".join(f"p{i},P,999,0,Z\n" for i in range(8))
    message = refusal(write(tmp_path, HEADER + rows))
    assert "'p4' and 3 more" in message


@pytest.mark.parametrize("row", ["c,C,1\n", "c,C,1,2,Z,extra\n", 'c,"C,1,2,Z\n'])
def test_a_damaged_line_is_shown_by_its_number(tmp_path: Path, row: str) -> None:
    assert "Line 4" in refusal(write(tmp_path, HEADER + ROWS + row))


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_and_decimal_commas_are_read(tmp_path: Path, codec: str) -> None:
    text = "id;name;lon;lat\na;Zürich;8,54;47,37\n"
    (place,) = read_locations(write(tmp_path, text.encode(codec))).places
    assert (place.name, place.lon, place.lat) == ("Zürich", 8.54, 47.37)


def test_a_file_in_no_known_encoding_is_refused(tmp_path: Path) -> None:
    assert "UTF-8" in refusal(write(tmp_path, HEADER.encode() + b"a,Z\x81rich,1,2,Z\n"))


def test_a_file_that_is_not_there_or_not_a_file_is_refused(tmp_path: Path) -> None:
    assert "no places file" in refusal(tmp_path / "gone.csv")
    (tmp_path / "folder.csv").mkdir()
    assert "has no stops.txt" in refusal(tmp_path / "folder.csv")
    cut = gzip.compress((HEADER + ROWS).encode())[:-12]
    assert "cannot be read" in refusal(write(tmp_path, cut, "cut.csv.gz"))


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    assert "unknown format" in refusal(write(tmp_path, ROWS, "places.xlsx"))


def test_geojson_points_are_read(tmp_path: Path) -> None:
    file = geojson(
        tmp_path,
        feature(point(-83.7, 42.3), id="a", name="Alpha", zone="North"),
        {**feature(point(2, 48)), "id": 7},
    )
    places = read_locations(file)
    assert places.ids == ("a", "7")
    assert places.places[0].zone == "North"
    assert places.places[1].name == "7"


def test_further_properties_are_read_as_labels_if_asked_for(tmp_path: Path) -> None:
    file = geojson(
        tmp_path,
        feature(point(1, 2), id="a", county="north", level=3),
        feature(point(1, 2), id="b", county=None, level=4),
    )
    places = read_locations(file, LocationColumns(labels=("county", "level")))
    assert places.labels_in("county") == ("north", "")
    assert places.labels_in("level") == ("3", "4")
    assert "feature 1" in refusal(file, LocationColumns(labels=("state",)))
    wrong = geojson(tmp_path, feature(point(1, 2), id="a", level=3.5))
    assert "label that is neither text" in refusal(wrong, LocationColumns(labels=("level",)))


def test_polygons_are_at_their_centroids(tmp_path: Path) -> None:
    square = [[[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]], [[1, 1], [1, 3], [3, 3], [3, 1], [1, 1]]]
    left = [[[0, 0], [0, 2], [2, 2], [2, 0], [0, 0]]]
    right = [[[10, 0], [12, 0], [12, 2], [10, 2], [10, 0]]]
    triangle = [[[100, 50], [100.3, 50], [100, 50.3], [100, 50]]]
    flat = [[[1, 1], [3, 1], [1, 1]]]
    file = geojson(
        tmp_path,
        feature({"type": "Polygon", "coordinates": square}, id="hole"),
        feature({"type": "MultiPolygon", "coordinates": [left, right]}, id="both"),
        feature({"type": "Polygon", "coordinates": triangle}, id="far"),
        feature({"type": "Polygon", "coordinates": flat}, id="flat"),
    )
    at = {place.id: (place.lon, place.lat) for place in read_locations(file).places}
    assert at["hole"] == pytest.approx((2, 2))
    assert at["both"] == pytest.approx((6, 1))
    assert at["far"] == pytest.approx((100.1, 50.1), abs=1e-12)
    assert at["flat"] == pytest.approx((5 / 3, 1))


@pytest.mark.parametrize(
    "name",
    ["urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:EPSG::4326", "EPSG:4326", "OGC:CRS84"],
)
def test_a_crs_member_that_means_degrees_is_fine(tmp_path: Path, name: str) -> None:
    crs = {"type": "name", "properties": {"name": name}}
    assert len(read_locations(geojson(tmp_path, feature(point(1, 2), id="a"), crs=crs))) == 1


@pytest.mark.parametrize(
    "crs",
    [
        {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}},
        {"type": "link", "properties": {"href": "somewhere"}},
        "EPSG:25832",
    ],
)
def test_any_other_crs_member_is_the_wrong_crs(tmp_path: Path, crs: Any) -> None:
    assert "wrong CRS" in refusal(geojson(tmp_path, feature(point(1, 2), id="a"), crs=crs))


def test_geojson_in_metres_is_the_wrong_crs(tmp_path: Path) -> None:
    assert "wrong CRS" in refusal(geojson(tmp_path, feature(point(273000, 4685000), id="a")))


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (feature(point(1, 2)), "no id: feature 1"),
        (feature(None, id="a"), "no longitude"),
        (feature(point(1, 2), id=7.0), "neither text nor a whole number"),
        (feature(point(1, 2), id=True), "neither text nor a whole number"),
        (feature({"type": "LineString", "coordinates": [[0, 0], [1, 1]]}, id="a"), "LineString"),
        (feature({"type": "Point", "coordinates": []}, id="a"), "feature 1"),
        (feature({"type": "Polygon", "coordinates": []}, id="a"), "feature 1"),
        (feature({"type": "Point", "coordinates": ["x", "y"]}, id="a"), "feature 1"),
        ("a feature", "feature 1"),
        ({"type": "Feature", "geometry": point(1, 2), "properties": [1]}, "feature 1"),
    ],
)
def test_a_bad_feature_is_shown_by_its_number(tmp_path: Path, wrong: Any, word: str) -> None:
    assert word in refusal(geojson(tmp_path, wrong))


def test_a_property_that_was_named_on_purpose_must_be_there(tmp_path: Path) -> None:
    file = geojson(tmp_path, feature(point(1, 2), id="a"))
    assert "'district'" in refusal(file, LocationColumns(zone="district"))


@pytest.mark.parametrize("text", ["{", "[]", '{"type": "Point"}', '{"features": 3}'])
def test_json_that_is_no_collection_is_refused(tmp_path: Path, text: str) -> None:
    assert "not a GeoJSON collection" in refusal(write(tmp_path, text, "places.json"))


@pytest.mark.parametrize("text", ["", '{"features": []}'])
def test_an_empty_geojson_is_called_empty(tmp_path: Path, text: str) -> None:
    assert "empty" in refusal(write(tmp_path, text, "places.geojson"))


def test_an_id_of_blanks_is_none(tmp_path: Path) -> None:
    file = tmp_path / "places.csv"
    file.write_text("id,lon,lat\na,0,0\n  ,1,1\n", encoding="utf-8")
    with pytest.raises(GeographyError, match="have no id: line 3"):
        read_locations(file)
