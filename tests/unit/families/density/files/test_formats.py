import dataclasses
import json
from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
import shapely

from hushway.errors import HushwayError, ReleaseError
from hushway.families.density.files.rows import (
    density_csv,
    density_map,
    read_density_parquet,
    read_measured_series,
    totals_of,
    write_density_parquet,
    write_measured_series,
)
from hushway.families.density.files.universe import (
    check_readable,
    cover_csv,
    measured_sites_csv,
    pieces_csv,
    public_files,
    read_cover,
    read_measured_sites,
    read_sites,
    read_universe,
    sites_csv,
)
from hushway.families.density.fit.table import DensityTable
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Locations, PlaceLabels
from hushway.geography.periods import Periods
from hushway.release.formats.areas import areas_geojson, read_areas
from hushway.release.formats.geoparquet import write_geoparquet
from hushway.release.formats.interval import interval_of
from hushway.release.formats.places import periods_csv, read_periods
from support.density_scenes import bins_of, by_towers, rectangles


def moment(at: int) -> datetime:
    """Returns when a bin of six hours starts, from 2 March 2026 on."""
    return datetime(2026, 3, 2 + at // 4, 6 * (at % 4), tzinfo=ZoneInfo("Europe/Paris"))


def test_areas_are_read_back_to_the_last_digit() -> None:
    awkward = Area(
        id="z", name="", shape=shapely.Polygon([(0.1 + 0.2, 1 / 3), (1e-17, 1), (-1, 2)])
    )
    high = Area(id="h", name="on a hill", shape=shapely.Polygon([(5, 5, 9), (6, 5, 9), (6, 6, 8)]))
    areas = Areas(areas=(*rectangles(3, 2).areas, awkward, high))
    again = read_areas(areas_geojson(areas))
    assert again.digest == areas.digest
    assert shapely.equals_identical(again.shapes, areas.shapes).all()


def test_rings_follow_the_right_hand_rule_whoever_drew_them() -> None:
    outer, hole = [(0, 0), (0, 9), (9, 9), (9, 0)], [(1, 1), (2, 1), (2, 2), (1, 2)]
    wrong = shapely.Polygon(outer, [hole])
    assert not wrong.exterior.is_ccw
    for shape in (wrong, shapely.MultiPolygon([wrong])):
        areas = Areas(areas=(Area(id="a", name="", shape=shape),))
        facts = json.loads(areas_geojson(areas))["features"][0]["geometry"]["coordinates"]
        rings = facts if isinstance(shape, shapely.Polygon) else facts[0]
        assert [shapely.LinearRing(ring).is_ccw for ring in rings] == [True, False]
        assert read_areas(areas_geojson(areas)).digest == areas.digest


def test_areas_are_geojson_that_others_read() -> None:
    areas = rectangles(3, 2)
    collection = json.loads(areas_geojson(areas))
    assert collection["type"] == "FeatureCollection"
    for feature, area in zip(collection["features"], areas.areas, strict=True):
        assert feature["properties"] == {"id": area.id, "name": area.name}
        assert shapely.geometry.shape(feature["geometry"]).equals(area.shape)


@pytest.mark.parametrize(
    ("days", "minutes", "first"),
    [(1, 1440, (2026, 3, 2)), (3, 60, (2026, 3, 28)), (31, 60, (2007, 9, 1))],
)
def test_bins_of_a_window_are_read_back(
    days: int, minutes: int, first: tuple[int, int, int]
) -> None:
    periods = bins_of(days, minutes, date(*first))
    data = periods_csv(periods)
    lines = data.decode().splitlines()
    assert len(lines) == 1 + len(periods)
    assert lines[0] == "period,day,starts,ends,starts_at,ends_at,first_day,last_day,time_zone"
    assert lines[1].split(",")[1] == date(*first).isoformat()
    again = read_periods(data)
    assert again == periods
    assert again.digest == periods.digest


def test_a_window_of_centuries_in_a_few_bytes_is_refused_before_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = periods_csv(bins_of(1, 1440)).replace(b",2026-03-02,Eu", b",2199-03-02,Eu")
    monkeypatch.setattr(Periods, "part_clocks", property(lambda _: pytest.fail("was written")))
    with pytest.raises(ReleaseError, match="periods"):
        read_periods(data)


def test_towers_are_read_back_with_their_sites(density: DensityTable) -> None:
    sites = density.universe.sites
    assert sites is not None
    data = sites_csv(sites)
    assert data.decode().splitlines()[0] == "site,id,name,lat,lon,zone,owner"
    assert data.decode().splitlines()[4].startswith(",t3,")
    assert read_sites(data).digest == sites.digest


def test_a_cover_is_read_back_with_its_pieces(density: DensityTable) -> None:
    areas, cover = density.universe.areas, density.universe.cover
    data = cover_csv(areas, cover, density.cluster), pieces_csv(areas, cover)
    again, cluster = read_cover(*data, areas, 2)
    assert cluster.tolist() == density.cluster.tolist()
    for one, other in (
        (again.member, cover.member),
        (again.is_site, cover.is_site),
        (again.cell, cover.cell),
        (again.centres, cover.centres),
        (again.pieces.size, cover.pieces.size),
        (again.pieces.site, cover.pieces.site),
    ):
        assert one.tolist() == other.tolist()
    assert data[0].decode().splitlines()[1].startswith("0,site,0,0,")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (0, b"0,site,0,", b"0,site,5,"),
        (0, b"0,site,0,", b"0,site,-2,"),
        (0, b"0,site,0,", b"0,tower,0,"),
        (0, b"0,site,0,", b"1,site,0,"),
        (0, b"cell,kind", b"cell,type"),
        (1, b"0,0,", b"0,-3,"),
        (1, b"\n1,", b"\n7,"),
        (1, b"\n1,", b"\n-1,"),
        (1, b"\n1,", b"\n01,"),
        (1, b"site,area,cell,size", b"site,area,cell"),
    ],
)
def test_a_cover_that_is_none_is_refused(
    density: DensityTable, file: int, old: bytes, new: bytes
) -> None:
    areas, cover = density.universe.areas, density.universe.cover
    data = [cover_csv(areas, cover, density.cluster), pieces_csv(areas, cover)]
    pieces = pieces_csv(areas, cover).splitlines(keepends=True)
    if (old, new) == (b"0,0,", b"0,-3,"):
        data[1] = b"".join([pieces[0], pieces[1].replace(b",0,", b",-3,"), *pieces[2:]])
    else:
        assert old in data[file]
        data[file] = data[file].replace(old, new)
    with pytest.raises((HushwayError, ValueError)):
        read_cover(data[0], data[1], areas, 2)


@pytest.mark.parametrize("size", ["0.0", "-1.0", "nan", "inf"])
def test_pieces_have_a_size(density: DensityTable, size: str) -> None:
    areas, cover = density.universe.areas, density.universe.cover
    first, _, _ = pieces_csv(areas, cover).decode().rpartition(",")
    with pytest.raises(ReleaseError, match="pieces"):
        read_cover(cover_csv(areas, cover, density.cluster), f"{first},{size}\n".encode(), areas, 2)


def test_more_sites_than_pieces_are_refused_before_they_are_counted(density: DensityTable) -> None:
    areas, cover = density.universe.areas, density.universe.cover
    data = cover_csv(areas, cover, density.cluster), pieces_csv(areas, cover)
    with pytest.raises(ReleaseError, match="pieces"):
        read_cover(*data, areas, 10**15)


def test_the_public_lists_give_the_same_universe(
    tmp_path: Path, density: DensityTable, plain_density: DensityTable
) -> None:
    for table in (density, plain_density):
        universe = table.universe
        for name, render in public_files(universe, table.cluster).items():
            (tmp_path / name).write_bytes(render())
        again, cluster = read_universe(tmp_path, {"places": universe.sites is not None})
        assert again.digest == universe.digest
        assert cluster.tolist() == table.cluster.tolist()


def test_lists_that_would_be_read_otherwise_are_refused(density: DensityTable) -> None:
    universe = density.universe
    assert universe.sites is not None
    check_readable(universe, density.cluster)
    labels = (PlaceLabels(column="site", values=("", "", "", "")),)
    places = Locations(universe.sites.locations.places, labels)
    twice = dataclasses.replace(universe.sites, locations=places)
    lone = Area(id="\ud800", name="", shape=universe.areas.areas[0].shape)
    areas = dataclasses.replace(universe.areas, areas=(lone, *universe.areas.areas[1:]))
    empty = dataclasses.replace(universe.cover, centres=universe.cover.centres * np.nan)
    for changes in ({"sites": twice}, {"areas": areas}, {"cover": empty}):
        with pytest.raises(ReleaseError, match="read back"):
            check_readable(dataclasses.replace(universe, **changes), density.cluster)


def test_rows_are_those_of_areas_and_bins_in_order(tmp_path: Path, density: DensityTable) -> None:
    write_density_parquet(density, tmp_path / "d.parquet")
    rows = pq.read_table(tmp_path / "d.parquet").to_pylist()
    ids, bins = density.universe.areas.ids, density.universe.bins
    assert len(rows) == density.counts.size
    low, high = interval_of(density.counts, density.standard_error)
    for number, row in enumerate(rows):
        area, at = divmod(number, bins)
        assert row == {
            "area": ids[area],
            "area_name": density.universe.areas.areas[area].name,
            "starts": moment(at),
            "starts_local": f"2026-03-{2 + at // 4:02d} {6 * (at % 4):02d}:00",
            "period": at,
            "count": density.counts[area, at],
            "standard_error": density.standard_error[area, at],
            "low": float(low[area, at]),
            "high": float(high[area, at]),
        }


def test_parquet_and_csv_hold_the_same_numbers(tmp_path: Path, density: DensityTable) -> None:
    write_density_parquet(density, tmp_path / "d.parquet")
    (tmp_path / "d.csv").write_bytes(b"".join(density_csv(density)))
    counts, errors = read_density_parquet(tmp_path / "d.parquet", density.universe)
    assert np.array_equal(counts, density.counts)
    assert np.array_equal(errors, density.standard_error)
    options = arrow_csv.ParseOptions(newlines_in_values=True)
    rows = arrow_csv.read_csv(tmp_path / "d.csv", parse_options=options).to_pylist()
    assert [row["area"] for row in rows[:: density.universe.bins]] == list(
        density.universe.areas.ids
    )
    assert [row["count"] for row in rows] == density.counts.reshape(-1).tolist()
    assert rows[1]["starts"] == moment(1)


def test_large_tables_are_written_in_several_batches(
    tmp_path: Path, density: DensityTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = b"".join(density_csv(density))
    for module in ("families.density.files.rows", "release.formats.columns"):
        monkeypatch.setattr(f"hushway.{module}.BATCH_ROWS", 5)
    assert b"".join(density_csv(density)) == whole
    write_density_parquet(density, tmp_path / "d.parquet")
    write_measured_series(density.measured_series, tmp_path / "m.parquet")
    counts, _ = read_density_parquet(tmp_path / "d.parquet", density.universe)
    assert np.array_equal(counts, density.counts)
    series = read_measured_series(tmp_path / "m.parquet", *density.measured_series.shape)
    assert np.array_equal(series, density.measured_series)


def test_measured_numbers_are_read_back(tmp_path: Path, density: DensityTable) -> None:
    path = tmp_path / "m.parquet"
    write_measured_series(density.measured_series, path)
    clusters, bins = density.measured_series.shape
    assert np.array_equal(read_measured_series(path, clusters, bins), density.measured_series)
    for shape in ((clusters + 1, bins), (bins, clusters)):
        with pytest.raises(ReleaseError):
            read_measured_series(path, *shape)
    assert density.measured_sites is not None
    data = measured_sites_csv(density.measured_sites)
    assert read_measured_sites(data, 2).tolist() == density.measured_sites.tolist()
    for other, sites in ((data, 3), (data.replace(b"0,", b"00,"), 2), (b"site\n", 0)):
        with pytest.raises(ReleaseError):
            read_measured_sites(other, sites)


def test_the_map_file_is_geoparquet(
    tmp_path: Path, density: DensityTable, plain_density: DensityTable
) -> None:
    for table in (density, plain_density):
        path, areas = tmp_path / "d.geo.parquet", table.universe.areas
        write_geoparquet(density_map(table), path)
        file = pq.read_table(path)
        geo = json.loads(file.schema.metadata[b"geo"])
        # What version 1.1.0 of GeoParquet asks for; without a crs it is OGC:CRS84.
        assert geo["version"] == "1.1.0"
        assert geo["primary_column"] == "geometry"
        assert set(geo["columns"]) == {"geometry"}
        column = geo["columns"]["geometry"]
        assert column["encoding"] == "WKB"
        assert column["geometry_types"] == ["MultiPolygon", "Polygon"]
        assert column["edges"] == "planar"
        assert column["bbox"] == shapely.total_bounds(areas.shapes).tolist()
        assert "crs" not in column
        field = file.schema.field("geometry")
        assert field.type == pa.binary()
        assert not field.nullable
        physical = pq.ParquetFile(path).metadata.row_group(0).column(2).physical_type
        assert physical == "BYTE_ARRAY"
        shapes = shapely.from_wkb(file["geometry"].to_pylist())
        assert shapely.equals_identical(shapes, areas.shapes).all()


def test_the_map_file_has_shapes_for_others(tmp_path: Path, density: DensityTable) -> None:
    path = tmp_path / "d.geo.parquet"
    write_geoparquet(density_map(density), path)
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as database:
        rows = database.execute(
            "select id, typeof(geometry), counts[2] from read_parquet(?)", [str(path)]
        ).fetchall()
    assert [row[0] for row in rows] == list(density.universe.areas.ids)
    assert {row[1] for row in rows} == {"GEOMETRY('OGC:CRS84')"}
    assert [row[2] for row in rows] == density.counts[:, 1].tolist()


def test_the_map_file_sums_up_every_area(density: DensityTable) -> None:
    rows = density_map(density).to_pylist()
    for row, area, counts, errors in zip(
        rows,
        density.universe.areas.areas,
        density.counts.tolist(),
        density.standard_error.tolist(),
        strict=True,
    ):
        assert (row["id"], row["name"]) == (area.id, area.name)
        assert (row["counts"], row["standard_errors"]) == (counts, errors)
        assert row["total"] == round(sum(counts), 2)
        assert row["mean"] == round(row["total"] / len(counts), 2)
        at = counts.index(max(counts))
        assert row["busiest"] == moment(at)
        assert row["busiest_local"] == f"2026-03-{2 + at // 4:02d} {6 * (at % 4):02d}:00"


def test_sums_of_hundredths_do_not_depend_on_the_order() -> None:
    random = np.random.default_rng(5)
    numbers = np.round(random.lognormal(5, 3, 5000), 2)
    assert totals_of(numbers) == totals_of(random.permutation(numbers))
    assert totals_of(np.full((2, 10), 0.1)).tolist() == [1.0, 1.0]


def test_another_universe_does_not_fit(tmp_path: Path, density: DensityTable) -> None:
    write_density_parquet(density, tmp_path / "d.parquet")
    later = dataclasses.replace(
        density.universe.periods, first_day=date(2026, 3, 3), last_day=date(2026, 3, 4)
    )
    with pytest.raises(ReleaseError, match="in order"):
        read_density_parquet(tmp_path / "d.parquet", by_towers(later))
