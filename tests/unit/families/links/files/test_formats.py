import csv
import dataclasses
import io
import json
from collections.abc import Iterable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

from hushway.errors import ReleaseError
from hushway.families.links.files.geo import links_geojson, links_map, shown_links
from hushway.families.links.files.gmns import link_parts, measurement_parts, node_parts
from hushway.families.links.files.roads import (
    course_points,
    links_table,
    nodes_table,
    read_roads,
    roads_of,
    write_links,
    write_nodes,
)
from hushway.families.links.files.rows import (
    measured_classes_csv,
    read_links_parquet,
    read_measured_classes,
    read_rest,
    read_zones,
    rest_csv,
    travel_times,
    write_links_parquet,
    zones_csv,
)
from hushway.families.links.fit.table import LinkTable
from hushway.families.links.public.universe import ClassZones
from support.link_scenes import links_of, parts_of_days, streets_of


def rows_of_parts(parts: Iterable[bytes]) -> list[dict[str, str]]:
    return rows_of(b"".join(parts))


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_roads_are_read_back_to_the_last_digit(tmp_path: Path, links: LinkTable) -> None:
    odd = links.universe.roads.lon.copy()
    odd[:3] = [0.1 + 0.2, -1e-17, -0.0]
    roads = dataclasses.replace(links.universe.roads, lon=odd)
    write_links(roads, links.universe.zone, tmp_path / "roads.parquet")
    write_nodes(roads, tmp_path / "nodes.parquet")
    again, zone = read_roads(tmp_path / "roads.parquet", tmp_path / "nodes.parquet")
    assert again.digest == roads.digest
    assert again.lon.tobytes() == odd.tobytes()
    assert again.link_id.tolist() == roads.link_id.tolist()
    assert zone.tolist() == links.universe.zone.tolist()


def test_roads_of_smaller_numbers_are_read_back_with_the_same_digest(links: LinkTable) -> None:
    roads = links.universe.roads
    small = dataclasses.replace(
        roads, road_class=roads.road_class.astype(np.int8), tail=roads.tail.astype(np.int32)
    )
    again, _ = roads_of(links_table(small, links.universe.zone), nodes_table(small))
    assert again.digest == small.digest == roads.digest


def test_very_long_texts_are_refused(links: LinkTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hushway.families.links.files.roads._MOST_LETTERS", 47 * 6)
    tables = (
        links_table(links.universe.roads, links.universe.zone),
        nodes_table(links.universe.roads),
    )
    with pytest.raises(ReleaseError, match="too long"):
        roads_of(*tables)


def test_courses_of_some_links_are_found_in_any_order(links: LinkTable) -> None:
    roads = links.universe.roads
    sizes, points = course_points(roads, np.array([5, 0]))
    assert sizes.tolist() == [3, 3]
    assert points.tolist() == [15, 16, 17, 0, 1, 2]


def test_roads_are_a_map_that_others_read(plain_release: Path, links: LinkTable) -> None:
    file = pq.read_table(plain_release / "roads.parquet")
    geo = json.loads(file.schema.metadata[b"geo"])
    assert geo["version"] == "1.1.0"
    assert geo["columns"]["geometry"]["geometry_types"] == ["LineString"]
    lines = shapely.from_wkb(file["geometry"].to_pylist())
    assert geo["columns"]["geometry"]["bbox"] == list(shapely.total_bounds(lines))
    roads = links.universe.roads
    first = [shapely.get_point(line, 0).x for line in lines]
    assert first == roads.node_lon[roads.tail].tolist()


def test_keys_are_the_same_texts_in_every_file(fast_release: Path) -> None:
    nodes = set(pq.read_table(fast_release / "nodes.parquet")["node_id"].to_pylist())
    roads = pq.read_table(fast_release / "roads.parquet")
    known = set(roads["link_id"].to_pylist())
    for name in ("links.parquet", "links.geo.parquet"):
        assert known.issuperset(pq.read_table(fast_release / name)["link_id"].to_pylist())
    for table in (roads, pq.read_table(fast_release / "links.geo.parquet")):
        for end in ("from_node_id", "to_node_id"):
            assert nodes.issuperset(table[end].to_pylist())
    header = (fast_release / "gmns" / "link.csv").read_text("utf-8").splitlines()[0].split(",")
    assert {"link_id", "from_node_id", "to_node_id"} <= set(header)


def test_what_nobody_knows_of_a_road_is_missing(links: LinkTable) -> None:
    roads, zone = links.universe.roads, links.universe.zone
    name, lanes = roads.name.copy(), roads.lanes.copy()
    name[0], lanes[0] = "", np.nan
    unknown = dataclasses.replace(roads, name=name, lanes=lanes)
    table = links_table(unknown, zone)
    assert (table["name"][0].as_py(), table["lanes"][0].as_py()) == (None, None)
    again, _ = roads_of(table, nodes_table(unknown))
    assert again.digest == unknown.digest


def test_published_rows_are_read_back(tmp_path: Path, fast_links: LinkTable) -> None:
    path = tmp_path / "links.parquet"
    write_links_parquet(fast_links, path)
    again = read_links_parquet(path, fast_links.universe, speeds=True)
    for name in ("period", "link", "counts", "standard_error", "speed", "speed_error"):
        assert np.array_equal(
            getattr(again, name), getattr(fast_links, name), equal_nan=name.startswith("speed")
        ), name
    with pytest.raises(ReleaseError, match="columns"):
        read_links_parquet(path, fast_links.universe, speeds=False)


def test_many_rows_are_read_back_in_batches(
    tmp_path: Path, fast_links: LinkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hushway.families.links.files.rows.BATCH_ROWS", 7)
    path = tmp_path / "links.parquet"
    write_links_parquet(fast_links, path)
    again = read_links_parquet(path, fast_links.universe, speeds=True)
    assert again.link.tolist() == fast_links.link.tolist()
    assert np.array_equal(again.speed, fast_links.speed, equal_nan=True)


def test_anyone_can_ask_the_parquet_file(fast_release: Path, fast_links: LinkTable) -> None:
    assert fast_links.speed is not None
    asked = "sum(count), count(speed), max(abs(travel_time_s - length_m * 3.6 / speed))"
    rows = duckdb.read_parquet(str(fast_release / "links.parquet")).aggregate(asked)
    total, told, seconds = rows.fetchall()[0]
    assert total == pytest.approx(fast_links.counts.sum())
    assert told == int((~np.isnan(fast_links.speed)).sum()) < len(fast_links.link)
    assert seconds <= 0.05 + 1e-9


def test_a_link_takes_its_length_over_its_speed() -> None:
    times = travel_times(np.array([1000.0, 50.0, 9.0]), np.array([36.0, 50.0, np.nan]))
    assert times.tolist()[:2] == [100.0, 3.6]
    assert np.isnan(times[2])


def test_the_map_holds_every_link_that_shows_with_its_counts(fast_links: LinkTable) -> None:
    rows = links_map(fast_links).to_pylist()
    ids = fast_links.universe.roads.link_id
    assert [row["link_id"] for row in rows] == ids[np.unique(fast_links.link)].tolist()
    found = {
        (period, row["link_id"]): count
        for row in rows
        for period, count in enumerate(row["counts"])
        if count is not None
    }
    places = zip(fast_links.period.tolist(), ids[fast_links.link].tolist(), strict=True)
    assert found == dict(zip(places, fast_links.counts.tolist(), strict=True))
    for row in rows:
        shown = [count for count in row["counts"] if count is not None]
        assert len(row["counts"]) == len(row["standard_errors"]) == 4
        assert row["total"] == round(sum(shown), 2)


def test_geojson_says_the_same_as_the_map(plain_release: Path, links: LinkTable) -> None:
    collection = json.loads(links_geojson(links))
    rows = pq.read_table(plain_release / "links.geo.parquet").to_pylist()
    for feature, row in zip(collection["features"], rows, strict=True):
        line = shapely.from_wkb(row.pop("geometry"))
        assert feature["properties"] == row
        course = shapely.geometry.shape(feature["geometry"])
        assert course.geom_type == "LineString"
        assert course.equals_exact(line, 1e-7)


def test_nothing_that_shows_is_a_map_of_nothing() -> None:
    empty = links_of(share=0.0)
    assert json.loads(links_geojson(empty)) == {"type": "FeatureCollection", "features": []}
    assert shown_links(empty).counts.shape == (0, 1)


def test_gmns_links_are_the_whole_network_with_counts(links: LinkTable) -> None:
    roads, rows = links.universe.roads, rows_of_parts(link_parts(links))
    nodes = {row["node_id"]: row for row in rows_of_parts(node_parts(roads))}
    assert [row["link_id"] for row in rows] == roads.link_id.tolist()
    for i, row in enumerate(rows):
        line = shapely.from_wkt(row["geometry"])
        start = nodes[row["from_node_id"]]
        assert shapely.get_point(line, 0).x == pytest.approx(float(start["x_coord"]), abs=1e-6)
        assert float(row["length"]) == pytest.approx(roads.length[i] / 1000, abs=1e-6)
        assert row["directed"] == "true"
        assert int(row["lanes"]) == int(roads.lanes[i] + 0.5)
        assert (row["class"], row["facility_type"]) != ("1", "local")
    counts = {row["link_id"]: float(row["count"]) for row in rows if row["count"]}
    expected = zip(roads.link_id[links.link].tolist(), links.counts.tolist(), strict=True)
    assert counts == dict(expected)


def test_lanes_that_nobody_knows_stay_empty(links: LinkTable) -> None:
    lanes = links.universe.roads.lanes.copy()
    lanes[0] = np.nan
    roads = dataclasses.replace(links.universe.roads, lanes=lanes)
    universe = dataclasses.replace(links.universe, roads=roads)
    rows = rows_of_parts(link_parts(dataclasses.replace(links, universe=universe)))
    assert [row["lanes"] for row in rows[:2]] == ["", "2"]


def test_gmns_counts_of_several_periods_are_a_table_of_their_own(fast_links: LinkTable) -> None:
    assert "count" not in rows_of_parts(link_parts(fast_links))[0]
    rows = rows_of_parts(measurement_parts(fast_links))
    labels = fast_links.universe.periods.labels
    assert [row["period"] for row in rows] == [labels[i] for i in fast_links.period.tolist()]
    assert [float(row["count"]) for row in rows] == fast_links.counts.tolist()


@pytest.mark.parametrize("zones", [("a",), ('b "c", d', "", "e\nf")])
def test_zones_are_read_back(zones: tuple[str, ...]) -> None:
    assert read_zones(zones_csv(zones)) == zones


def test_long_lists_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hushway.families.links.files.rows.LIST_BYTES", 5)
    with pytest.raises(ReleaseError, match="larger than it may be"):
        read_zones(zones_csv(("a",)))


def test_measured_groups_have_the_zone_and_class_of_their_links() -> None:
    universe = streets_of(4, parts_of_days(2))
    groups = ClassZones(universe=universe)
    measured = np.arange(groups.size) - 3
    data = measured_classes_csv(universe, measured)
    rows = rows_of(data)
    assert len(rows) == groups.size
    for period in range(2):
        link = np.arange(universe.roads.links)
        group = groups.of(period * universe.items + link)
        for own, at in zip(link.tolist(), group.tolist(), strict=True):
            assert rows[at]["period"] == universe.periods.labels[period]
            assert rows[at]["kind"] == "links"
            assert int(rows[at]["zone"]) == universe.zone[own]
            assert int(rows[at]["class"]) == universe.roads.road_class[own]
        last = (period + 1) * groups.groups
        assert [row["kind"] for row in rows[last - 2 : last]] == ["beginnings", "ends"]
    assert read_measured_classes(data, universe).tolist() == measured.tolist()


def test_what_does_not_show_stands_in_rows_of_periods_zones_and_classes(
    fast_links: LinkTable,
) -> None:
    universe, rest = fast_links.universe, fast_links.rest
    data = rest_csv(fast_links)
    rows = rows_of(data)
    assert len(rows) == len(rest.counts)
    assert [float(row["km"]) for row in rows] == rest.km.tolist()
    hidden = universe.size - len(fast_links.link)
    assert sum(int(row["links"]) for row in rows) == hidden
    again = read_rest(data, universe)
    for name, column in vars(rest).items():
        assert getattr(again, name).tolist() == column.tolist(), name


@pytest.mark.parametrize(
    ("old", "new"), [(b"\n", b"\nfurther,0,1,2,3.00,4.00,5.00,6.00\n"), (b".", b"x")]
)
def test_other_rests_are_not_read(links: LinkTable, old: bytes, new: bytes) -> None:
    with pytest.raises(ReleaseError, match=r"rest\.csv"):
        read_rest(rest_csv(links).replace(old, new, 1), links.universe)


def test_nodes_are_points_for_maps(tmp_path: Path, links: LinkTable) -> None:
    roads = links.universe.roads
    write_nodes(roads, tmp_path / "nodes.parquet")
    file = pq.ParquetFile(tmp_path / "nodes.parquet")
    facts = json.loads(file.metadata.metadata[b"geo"])
    assert facts["columns"]["geometry"]["geometry_types"] == ["Point"]
    points = shapely.from_wkb(file.read().column("geometry").to_pylist())
    assert shapely.get_x(points).tolist() == roads.node_lon.tolist()
    assert shapely.get_y(points).tolist() == roads.node_lat.tolist()


def test_maps_have_one_error_for_each_total(fast_links: LinkTable) -> None:
    shown = shown_links(fast_links)
    squares = np.nansum(shown.standard_error**2, axis=1)
    assert shown.errors == pytest.approx(np.sqrt(squares), abs=0.006)
