"""Areas from shapefiles: loose parts, archives and what can be wrong with them."""

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import shapefile
import shapely
from pyproj import CRS, Transformer

from hushway.errors import GeographyError
from hushway.tables.areas import AreaColumns, read_areas

ONE, TWO = shapely.box(2.30, 48.80, 2.31, 48.81), shapely.box(2.31, 48.80, 2.32, 48.81)
WGS84 = CRS("EPSG:4326").to_wkt("WKT1_ESRI")


def write(
    folder: Path,
    *shapes: shapely.Geometry | None,
    ids: tuple[Any, ...] = ("a", "b"),
    kind: tuple[Any, ...] = ("C", 20, 0),
    names: tuple[str, ...] = ("Alpha", "Bêta"),
    encoding: str = "utf-8",
    prj: str | None = WGS84,
    cpg: str | None = None,
) -> Path:
    file = folder / "areas.shp"
    drawn = shapes or (ONE, TWO)
    with shapefile.Writer(str(file), shapeType=shapefile.POLYGON, encoding=encoding) as writer:
        writer.field("id", *kind)
        writer.field("name", "C", 40)
        for shape, key, name in zip(drawn, ids, names, strict=False):
            if shape is None:
                writer.null()
            else:
                writer.shape(shapely.geometry.mapping(shape))
            writer.record(key, name)
    for part, text in ((".prj", prj), (".cpg", cpg)):
        file.with_suffix(part).unlink(missing_ok=True)
        if text is not None:
            file.with_suffix(part).write_text(text)
    return file


def zipped(file: Path, *, inside: str = "", parts: tuple[str, ...] = ()) -> Path:
    archive = file.with_suffix(".zip")
    with ZipFile(archive, "w") as packed:
        for part in sorted(file.parent.glob("areas.*")):
            if part != archive and (not parts or part.suffix in parts):
                packed.write(part, inside + part.name)
    return archive


def refusal(file: Path, columns: AreaColumns | None = None, **options: Any) -> str:
    with pytest.raises(GeographyError) as caught:
        read_areas(file, columns, **options)
    assert caught.value.advice
    return str(caught.value)


def test_loose_parts_and_an_archive_are_the_same(tmp_path: Path) -> None:
    file = write(tmp_path)
    loose = read_areas(file)
    assert loose.ids == ("a", "b")
    assert [area.name for area in loose.areas] == ["Alpha", "Bêta"]
    assert loose.areas[0].shape.equals(ONE)
    assert read_areas(zipped(file)).digest == loose.digest
    assert read_areas(zipped(file, inside="deep/down/")).digest == loose.digest


def test_parts_in_capitals_are_found(tmp_path: Path) -> None:
    file = write(tmp_path)
    for part in list(tmp_path.iterdir()):
        part.rename(part.with_suffix(part.suffix.upper()))
    assert read_areas(file.with_suffix(".SHP")).ids == ("a", "b")


def test_the_index_part_is_not_needed(tmp_path: Path) -> None:
    file = write(tmp_path)
    file.with_suffix(".shx").unlink()
    assert read_areas(file).ids == ("a", "b")


def test_whole_numbers_are_ids(tmp_path: Path) -> None:
    assert read_areas(write(tmp_path, ids=(75, 76), kind=("N", 9, 0))).ids == ("75", "76")


def test_fractions_are_no_ids(tmp_path: Path) -> None:
    assert "shape 1" in refusal(write(tmp_path, ids=(75.5, 76), kind=("N", 9, 3)))


def test_the_projection_is_honoured(tmp_path: Path) -> None:
    forward = Transformer.from_crs("EPSG:4326", "EPSG:2154", always_xy=True)
    moved = [
        shapely.transform(each, lambda xy: np.column_stack(forward.transform(*xy.T)))
        for each in (ONE, TWO)
    ]
    file = write(tmp_path, *moved, prj=CRS("EPSG:2154").to_wkt("WKT1_ESRI"))
    found = read_areas(file)
    assert shapely.symmetric_difference(found.areas[0].shape, ONE).area < 1e-6 * ONE.area


@pytest.mark.parametrize("prj", [None, "", "  \n"])
def test_a_crs_that_nobody_names_is_refused(tmp_path: Path, prj: str | None) -> None:
    file = write(tmp_path, prj=prj)
    assert "does not say in which CRS" in refusal(file)
    assert "does not say in which CRS" in refusal(zipped(file))
    assert read_areas(file, crs="EPSG:4326").areas[0].shape.equals(ONE)


def test_a_projection_that_means_nothing_is_refused(tmp_path: Path) -> None:
    assert "is unknown: PROJCS[broken" in refusal(write(tmp_path, prj="PROJCS[broken"))


def test_a_named_crs_that_is_unknown_is_refused(tmp_path: Path) -> None:
    assert "is unknown: EPSG:0" in refusal(write(tmp_path), crs="EPSG:0")


@pytest.mark.parametrize(
    "cpg", ["ISO-8859-1", "iso88591", "88591", "1252", "ANSI 1252", "cp1252", "ISO-8859-1\n"]
)
def test_texts_are_read_in_the_encoding_that_is_named(tmp_path: Path, cpg: str) -> None:
    areas = read_areas(write(tmp_path, encoding="latin-1", cpg=cpg))
    assert areas.areas[1].name == "Bêta"


@pytest.mark.parametrize("cpg", [None, "UTF-8", "65001"])
def test_texts_are_utf8_unless_another_encoding_is_named(tmp_path: Path, cpg: str | None) -> None:
    assert read_areas(write(tmp_path, cpg=cpg)).areas[1].name == "Bêta"
    assert "are not utf-8" in refusal(write(tmp_path, encoding="latin-1", cpg=cpg))


def test_a_text_that_ends_in_a_wrong_byte_is_not_cut(tmp_path: Path) -> None:
    file = write(tmp_path, names=("Alpha", "Café"), encoding="latin-1", cpg="UTF-8")
    assert "are not utf-8" in refusal(file)
    ids = write(tmp_path, ids=("a", "bé"), encoding="latin-1", cpg="UTF-8")
    assert "are not utf-8" in refusal(ids, AreaColumns(name=None))


@pytest.mark.parametrize("cpg", ["OEM 77777", "", "hex", "UTF\0", "é"])
def test_an_encoding_that_nobody_knows_is_refused(tmp_path: Path, cpg: str) -> None:
    assert "unknown encoding: " in refusal(write(tmp_path, cpg=cpg))


def test_rings_drawn_the_wrong_way_round_are_read_quietly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(tmp_path, ONE, ids=("a",))
    whole = bytearray(file.read_bytes())
    # Five corners of 16 bytes each end the file.
    corners = [whole[at : at + 16] for at in range(len(whole) - 80, len(whole), 16)]
    whole[-80:] = b"".join(reversed(corners))
    file.write_bytes(whole)
    assert read_areas(file).areas[0].shape.equals(ONE)
    assert not caplog.records


def test_holes_and_islands_are_kept(tmp_path: Path) -> None:
    hole = shapely.box(2.303, 48.803, 2.306, 48.806)
    shape = shapely.union(shapely.difference(ONE, hole), shapely.box(2.4, 48.8, 2.41, 48.81))
    assert read_areas(write(tmp_path, shape)).areas[0].shape.equals(shape)


def test_a_shape_that_is_missing_is_refused_by_name(tmp_path: Path) -> None:
    assert "no shape: 'b' (shape 2" in refusal(write(tmp_path, ONE, None))


def test_a_missing_column_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path)
    with pytest.raises(GeographyError, match="no column 'IRIS'") as caught:
        read_areas(file, AreaColumns(id="IRIS"))
    assert "id, name" in caught.value.advice


def test_ids_that_are_missing_are_refused(tmp_path: Path) -> None:
    assert "no id: shape 1" in refusal(write(tmp_path, ids=("", "b")))
    assert "no id: shape 2" in refusal(write(tmp_path, ids=(1, None), kind=("N", 9, 0)))


def test_a_shapefile_without_its_table_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path)
    assert "no .dbf part" in refusal(zipped(file, parts=(".shp", ".prj")))
    file.with_suffix(".dbf").unlink()
    assert "no .dbf part" in refusal(file)


def test_an_archive_holds_exactly_one_shapefile(tmp_path: Path) -> None:
    file = write(tmp_path)
    assert "holds 0 shapefiles" in refusal(zipped(file, parts=(".dbf",)))
    archive = zipped(file)
    with ZipFile(archive, "a") as packed:
        packed.write(file, "other.shp")
        packed.write(file, "__MACOSX/areas.shp")
    assert "holds 2 shapefiles" in refusal(archive)


def test_a_shapefile_without_shapes_is_empty(tmp_path: Path) -> None:
    assert "is empty" in refusal(write(tmp_path, ids=()))
    (tmp_path / "areas.shp").write_bytes(b"")
    assert "is empty" in refusal(tmp_path / "areas.shp")


@pytest.mark.parametrize("part", [".shp", ".dbf"])
@pytest.mark.parametrize("kept", [0.05, 0.3, 0.6, 0.9])
def test_parts_that_are_cut_off_are_refused(tmp_path: Path, part: str, kept: float) -> None:
    file = write(tmp_path)
    damaged = file.with_suffix(part)
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: int(len(whole) * kept)])
    assert "areas.shp" in refusal(file)


def test_an_archive_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    archive = zipped(write(tmp_path))
    archive.write_bytes(archive.read_bytes()[:-30])
    assert "is damaged" in refusal(archive)
    archive.write_bytes(b"none")
    assert "is damaged" in refusal(archive)
