"""Tables as layers of a GeoPackage and sheets of a workbook."""

import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyogrio
import pyogrio.raw
import pytest

from hushway.errors import ReleaseError
from hushway.geography.locations import Location, Locations
from hushway.release.formats.columns import LABEL, NUMBER, TEXT, WHOLE, Column, Columns
from hushway.release.formats.geopackage import geopackage
from hushway.release.formats.layers import MOST_ROWS, Layer, are_few, places_layer
from hushway.release.formats.workbook import check_workbook, write_workbook

ODD = (
    "plain",
    '=1+1 & "so" <on>',
    " blanks ",
    "",
    "bell\x07",
    "_x0041_",
    "two\nlines",
    "ünï",
    None,
)


def odd_layer(rows: int = len(ODD)) -> Layer:
    columns = Columns(
        (
            Column("label", LABEL, "A label."),
            Column("text", TEXT, "A text.", optional=True),
            Column("whole", WHOLE, "A whole number."),
            Column("number", NUMBER, "A number."),
        )
    )
    batch = pa.RecordBatch.from_arrays(
        [
            pa.array(["a", "b", "a"] * 3).dictionary_encode().cast(LABEL),
            pa.array(ODD),
            pa.array(range(len(ODD)), pa.int64()),
            pa.array([0.1 * number for number in range(len(ODD))]),
        ],
        schema=columns.schema,
    )
    # Batches of any size, an empty one too.
    parts = [batch.slice(0, 2), batch.slice(2, 0), batch.slice(2)]
    return Layer(name="odd", title="Odd", columns=columns, rows=rows, batches=lambda: parts)


def placed() -> Layer:
    places = (
        Location(id="a", name="Alpha", lon=-8.5, lat=41, zone="w"),
        Location(id="b", name="Beta", lon=-8.25, lat=41.5, zone="w"),
    )
    return places_layer(Locations(places))


def test_a_geopackage_is_one_to_gdal(tmp_path: Path) -> None:
    (tmp_path / "m.gpkg").write_bytes(geopackage([odd_layer(), placed()], day="2026-03-02"))
    assert dict(pyogrio.list_layers(tmp_path / "m.gpkg")) == {"odd": None, "places": "Point"}
    facts = pyogrio.read_info(tmp_path / "m.gpkg", layer="places")
    assert (facts["crs"], facts["features"]) == ("EPSG:4326", 2)
    assert facts["total_bounds"] == (-8.5, 41, -8.25, 41.5)
    _, fids, shapes, values = pyogrio.raw.read(tmp_path / "m.gpkg", layer="places")
    assert [value.tolist() for value in values] == [["a", "b"], ["Alpha", "Beta"], ["w", "w"]]
    assert len(shapes) == 2
    assert fids is None


def test_a_geopackage_is_what_the_standard_asks_for(tmp_path: Path) -> None:
    (tmp_path / "m.gpkg").write_bytes(geopackage([odd_layer(), placed()], day="2026-03-02"))
    with sqlite3.connect(tmp_path / "m.gpkg") as database:

        def ask(query: str) -> list[Any]:
            return database.execute(query).fetchall()

        assert ask("PRAGMA application_id") == [(0x47504B47,)]
        assert ask("PRAGMA integrity_check") == [("ok",)]
        assert ask("PRAGMA foreign_key_check") == []
        systems = ask("SELECT srs_id FROM gpkg_spatial_ref_sys ORDER BY srs_id")
        assert systems == [(-1,), (0,), (4326,)]
        assert ask("SELECT table_name, data_type, last_change FROM gpkg_contents") == [
            ("odd", "attributes", "2026-03-02T00:00:00.000Z"),
            ("places", "features", "2026-03-02T00:00:00.000Z"),
        ]
        texts = ask("SELECT text FROM odd ORDER BY fid")
        assert [text for (text,) in texts] == list(ODD)
    database.close()


def test_the_same_layers_give_the_same_bytes(tmp_path: Path) -> None:
    layers = [odd_layer(), placed()]
    assert geopackage(layers, day="2026-03-02") == geopackage(layers, day="2026-03-02")
    for name in ("one", "two"):
        write_workbook(tmp_path / name, layers)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_workbook_holds_texts_as_texts_and_numbers_as_numbers(tmp_path: Path) -> None:
    write_workbook(tmp_path / "t.xlsx", [odd_layer(), placed()])
    book = openpyxl.load_workbook(tmp_path / "t.xlsx")
    assert book.sheetnames == ["odd", "places"]
    head, *rows = book["odd"].iter_rows()
    assert [cell.value for cell in head] == ["label", "text", "whole", "number"]
    assert all(cell.font.b for cell in head)
    # A spreadsheet takes escapes apart; this reader shows them.
    shown = [
        text and text.replace("\x07", "_x0007_").replace("_x0041_", "_x005F_x0041_") for text in ODD
    ]
    assert [row[1].value or None for row in rows] == [text or None for text in shown]
    assert {row[1].data_type for row in rows} <= {"s", "inlineStr", "n"}
    assert [row[2].value for row in rows] == list(range(len(ODD)))
    # As people write numbers: not 0.30000000000000004.
    assert [row[3].value for row in rows] == [number / 10 for number in range(len(ODD))]
    # Shapes are for maps.
    assert next(book["places"].iter_rows(values_only=True)) == ("id", "name", "zone")


def rewrite(path: Path, name: str, old: bytes, new: bytes, comment: bytes = b"") -> None:
    with zipfile.ZipFile(path) as archive:
        files = {each: archive.read(each) for each in archive.namelist()}
    assert old in files[name]
    files[name] = files[name].replace(old, new)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment
        for each, data in files.items():
            archive.writestr(each, data)


def test_a_workbook_is_compared_with_what_is_published(tmp_path: Path) -> None:
    path, layers = tmp_path / "t.xlsx", [odd_layer(), placed()]
    write_workbook(path, layers)
    check_workbook(path, layers)
    # However it is compressed.
    rewrite(path, "xl/styles.xml", b"Calibri", b"Calibri")
    check_workbook(path, layers)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("xl/worksheets/sheet1.xml", b"<v>8</v>", b"<v>9</v>"),
        ("xl/worksheets/sheet2.xml", b"Alpha", b"Alphas"),
        ("xl/worksheets/sheet2.xml", b"</worksheet>\n", b"</worksheet>\n "),
        ("xl/workbook.xml", b'name="odd"', b'name="even"'),
    ],
)
def test_another_workbook_is_refused(tmp_path: Path, name: str, old: bytes, new: bytes) -> None:
    path, layers = tmp_path / "t.xlsx", [odd_layer(), placed()]
    write_workbook(path, layers)
    rewrite(path, name, old, new)
    with pytest.raises(ReleaseError, match="does not hold"):
        check_workbook(path, layers)


def test_a_workbook_with_more_in_it_is_refused(tmp_path: Path) -> None:
    path, layers = tmp_path / "t.xlsx", [odd_layer()]
    write_workbook(path, layers)
    rewrite(path, "xl/styles.xml", b"Calibri", b"Calibri", comment=b"rows of people")
    with pytest.raises(ReleaseError, match="does not hold"):
        check_workbook(path, layers)
    write_workbook(path, layers)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("rows.csv", "person")
    with pytest.raises(ReleaseError, match="does not hold"):
        check_workbook(path, layers)


def test_many_rows_are_left_to_other_formats() -> None:
    assert are_few([odd_layer(), placed()])
    assert not are_few([odd_layer(rows=MOST_ROWS), placed()])
    assert not are_few([])
