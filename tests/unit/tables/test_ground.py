import gzip
import json
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast
from zipfile import ZipFile

import mapbox_vector_tile
import numpy as np
import pyogrio.raw
import pytest
import shapefile
import shapely
from pmtiles.tile import Compression, TileType, zxy_to_tileid
from pmtiles.writer import Writer as TileWriter
from pyproj import CRS

from hushway.errors import GeographyError
from hushway.geography.ground import Ground, around
from hushway.tables.ground import read_ground

_PORTO = (-8.62, 41.14, -8.58, 41.16)
_LINE = [(-8.63, 41.14), (-8.6, 41.15), (-8.57, 41.16)]
_LAKE = shapely.box(-8.61, 41.141, -8.6, 41.15)

Writer = Callable[[Path], Path]


def _read(*files: Path) -> Ground:
    return read_ground(files, _PORTO)


def _geojson(folder: Path, *features: dict[str, Any], **facts: Any) -> Path:
    file = folder / "ground.geojson"
    collection = {"type": "FeatureCollection", "features": features} | facts
    file.write_text(json.dumps(collection), encoding="utf-8")
    return file


def _feature(shape: shapely.Geometry, **properties: Any) -> dict[str, Any]:
    geometry = json.loads(shapely.to_geojson(shape))
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _lines(folder: Path) -> Path:
    return _geojson(folder, _feature(shapely.LineString(_LINE)))


def _shapes(folder: Path) -> Path:
    with shapefile.Writer(str(folder / "coast")) as writer:
        writer.field("name", "C")
        writer.line([_LINE])
        writer.record("coast")
    (folder / "coast.prj").write_text(CRS("EPSG:4326").to_wkt("WKT1_ESRI"), encoding="utf-8")
    return folder / "coast.shp"


def _zipped_shapes(folder: Path) -> Path:
    file = _shapes(folder)
    with ZipFile(folder / "coast.zip", "w") as archive:
        for part in folder.glob("coast.*"):
            if part.suffix != ".zip":
                archive.write(part, part.name)
    return file.with_suffix(".zip")


def _geopackage(folder: Path) -> Path:
    file = folder / "coast.gpkg"
    blob = struct.pack("<2sBBi", b"GP", 0, 3, 4326) + bytes(32)
    with sqlite3.connect(file) as opened:
        opened.executescript(
            "CREATE TABLE gpkg_spatial_ref_sys (srs_id, organization, organization_coordsys_id);"
            "CREATE TABLE gpkg_geometry_columns (table_name, column_name, srs_id);"
            'CREATE TABLE "the ""coast" (fid INTEGER PRIMARY KEY, geom BLOB, railway TEXT);'
            "INSERT INTO gpkg_spatial_ref_sys VALUES (4326, 'EPSG', 4326);"
            "INSERT INTO gpkg_geometry_columns VALUES ('the \"coast', 'geom', 4326);"
        )
        line = blob + shapely.to_wkb(shapely.LineString(_LINE))
        opened.execute('INSERT INTO "the ""coast" VALUES (1, ?, NULL), (2, NULL, NULL)', [line])
    opened.close()
    return file


def _feed(folder: Path) -> Path:
    rows = [f"a,{lat},{lon},{k}" for k, (lon, lat) in enumerate(_LINE)]
    # Rows of a shape may stand in any order.
    text = "\n".join(["shape_id,shape_pt_lat,shape_pt_lon,shape_pt_sequence", *reversed(rows)])
    with ZipFile(folder / "gtfs.zip", "w") as archive:
        archive.writestr("shapes.txt", text)
        archive.writestr("stops.txt", "stop_id\n")
    return folder / "gtfs.zip"


def _gmns(folder: Path) -> Path:
    network = folder / "network"
    network.mkdir()
    nodes = [f"{k},{lon},{lat}" for k, (lon, lat) in enumerate(_LINE)]
    (network / "node.csv").write_text("\n".join(["node_id,x_coord,y_coord", *nodes]), "utf-8")
    wkt = shapely.to_wkt(shapely.LineString(_LINE[1:]))
    links = "link_id,from_node_id,to_node_id,geometry_id\n1,0,1,\n2,1,2,g\n"
    (network / "link.csv").write_text(links, "utf-8")
    (network / "geometry.csv").write_text(f'geometry_id,geometry\ng,"{wkt}"\n', "utf-8")
    return network


def _osm(folder: Path) -> Path:
    file = folder / "city.osm"
    lake = shapely.get_coordinates(_LAKE)[:-1].tolist()
    nodes = "".join(
        f'<node id="{k}" version="1" lon="{lon}" lat="{lat}"/>'
        for k, (lon, lat) in enumerate([*_LINE, *lake], start=1)
    )
    ways = {
        "1 2 3": ("highway", "primary"),
        "4 5 6 7 4": ("natural", "water"),
        "1 3 9": ("highway", "steps"),
    }
    drawn = "".join(
        f'<way id="{k}" version="1">{refs}<tag k="{tag}" v="{value}"/></way>'
        for k, (refs, (tag, value)) in enumerate(
            (
                ("".join(f'<nd ref="{n}"/>' for n in way.split()), tags)
                for way, tags in ways.items()
            ),
            start=1,
        )
    )
    file.write_text(f'<osm version="0.6">{nodes}{drawn}</osm>', encoding="utf-8")
    return file


def _tiles(folder: Path) -> Path:
    """Tiles as GDAL cuts them."""
    pyogrio.raw.write(
        folder / "city.pmtiles",
        np.array([shapely.to_wkb(shapely.LineString(_LINE))], dtype=object),
        [np.array(["motorway"], dtype=object)],
        ["class"],
        layer="transportation",
        geometry_type="LineString",
        crs="EPSG:4326",
        driver="PMTiles",
        MAXZOOM=13,
    )
    return folder / "city.pmtiles"


@pytest.mark.parametrize(
    ("write", "kind"),
    [
        (_lines, "line"),
        (_shapes, "line"),
        (_zipped_shapes, "line"),
        (_geopackage, "line"),
        (_feed, "transit"),
        (_gmns, "road"),
        (_osm, "road"),
        (_tiles, "road"),
    ],
)
def test_every_format_draws_the_same_line(write: Writer, kind: str, tmp_path: Path) -> None:
    found = _read(write(tmp_path)).shapes[kind]
    assert shapely.hausdorff_distance(found, shapely.LineString(_LINE)) < 1e-4


def test_tags_of_openstreetmap_say_what_is_water(tmp_path: Path) -> None:
    whole = _read(_osm(tmp_path))
    assert set(whole.shapes) == {"water", "road"}
    tagged = _read(_geojson(tmp_path, _feature(_LAKE, natural="water")))
    assert shapely.equals_exact(whole.shapes["water"], tagged.shapes["water"], normalize=True)


def _basemap(folder: Path) -> Path:
    """Tiles with a lake that goes on beyond them, a large road, a path and a house."""
    row = shapely.LineString([(-64, 1000), (4160, 1000)])
    drawn: list[tuple[str, shapely.Geometry, str]] = [
        ("water", shapely.box(-64, 2000, 4160, 3000), "lake"),
        ("roads", row, "major_road"),
        ("paths", shapely.box(-64, 500, 4160, 600), "path"),
        ("buildings", shapely.box(5, 5, 400, 400), "building"),
    ]
    layers = [
        {"name": name, "features": [{"geometry": shape, "properties": {"kind": kind}}]}
        for name, shape, kind in drawn
    ]
    tile = mapbox_vector_tile.encode(layers, default_options={"y_coord_down": True})
    with (folder / "basemap.pmtiles").open("wb") as opened:
        writer: Any = cast("Any", TileWriter)(opened)
        for number in sorted(zxy_to_tileid(12, x, 1533) for x in range(1944, 1954)):
            writer.write_tile(number, gzip.compress(tile))
        kinds = {"tile_type": TileType.MVT, "tile_compression": Compression.GZIP}
        writer.finalize(kinds, {})
    return folder / "basemap.pmtiles"


def test_tiles_draw_water_and_large_roads_across_their_borders(tmp_path: Path) -> None:
    ground = _read(_basemap(tmp_path))
    west, _, east, _ = around(_PORTO)
    # Each as wide as what is drawn and in one piece: no border of a tile is left.
    found = {kind: shapely.bounds(shape.geoms)[:, [0, 2]] for kind, shape in ground.shapes.items()}
    assert {kind: ends.tolist() for kind, ends in found.items()} == {
        "water": [pytest.approx([west, east], abs=2e-5)],
        "road": [pytest.approx([west, east], abs=2e-5)],
    }


def test_areas_are_drawn_by_their_borders_each_once(tmp_path: Path) -> None:
    other = shapely.box(-8.6, 41.141, -8.59, 41.15)
    ground = _read(_geojson(tmp_path, _feature(_LAKE), _feature(other)))
    assert set(ground.shapes) == {"line"}
    borders = shapely.union_all([_LAKE.boundary, other.boundary])
    assert shapely.length(ground.shapes["line"]) == pytest.approx(borders.length, rel=1e-3)


def test_what_lies_far_away_is_left_out(tmp_path: Path) -> None:
    far = shapely.LineString([(-8.6, 41.15), (20.0, 50.0)])
    (_, south, east, north) = shapely.bounds(
        _read(_geojson(tmp_path, _feature(far))).shapes["line"]
    )
    assert east < -8.5
    assert south > 41.0
    assert north < 41.3


def _no_crs(folder: Path) -> Path:
    file = _shapes(folder)
    file.with_suffix(".prj").unlink()
    return file


def _metres(folder: Path) -> Path:
    return _geojson(
        folder, _feature(shapely.LineString([(157_000, 4_600_000), (157_900, 4_700_000)]))
    )


def _another_city(folder: Path) -> Path:
    return _geojson(folder, _feature(shapely.LineString([(2.3, 48.8), (2.4, 48.9)])))


def _points(folder: Path) -> Path:
    return _geojson(folder, _feature(shapely.Point(_LINE[1])))


def _written(name: str, data: bytes = b"nothing of use") -> Writer:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return write


def _feed_without_shapes(folder: Path) -> Path:
    with ZipFile(folder / "gtfs.zip", "w") as archive:
        archive.writestr("stops.txt", "stop_id\n")
    return folder / "gtfs.zip"


@pytest.mark.parametrize(
    ("write", "said", "advice"),
    [
        (_no_crs, "does not say in which CRS", ".prj"),
        (_metres, "cannot be in the CRS", "CRS"),
        (_another_city, "near the places", "same city"),
        (_points, "no line and no polygon", "same city"),
        (_feed_without_shapes, "has no shapes.txt", "draws its lines"),
        (_written("ground.png"), "unknown format", "GeoPackage"),
        (_written("ground.gpkg"), "unknown format, or is damaged", "GeoPackage"),
        (_written("ground.zip"), "unknown format, or is damaged", "GeoPackage"),
        (_written("ground.shp"), "is damaged", "map viewer"),
        (_written("ground.osm.pbf"), "is damaged", "osmium extract"),
        (_written("ground.pmtiles"), "does not hold vector tiles", "version 3"),
        (_written("ground.pmtiles", b"PMTiles\x03"), "does not hold vector tiles", "version 3"),
        (_written("ground.geojson"), "not a GeoJSON collection", "FeatureCollection"),
        (_written("ground.geojson", b"\xff\xfe\xfd"), "not UTF-8", "UTF-8"),
        (lambda folder: folder / "nowhere.geojson", "There is no ground file", "path"),
        (lambda folder: folder / "nowhere.zip", "There is no ground file", "path"),
        (lambda folder: folder / "nowhere.gpkg", "There is no ground file", "path"),
        (lambda folder: folder / "nowhere.osm", "There is no ground file", "path"),
    ],
)
def test_a_bad_file_is_one_clear_sentence(
    write: Writer, said: str, advice: str, tmp_path: Path
) -> None:
    with pytest.raises(GeographyError) as refused:
        _read(write(tmp_path))
    assert said in str(refused.value)
    assert advice in str(refused.value.advice)
