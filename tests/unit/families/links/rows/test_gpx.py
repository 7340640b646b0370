"""GPX files become rows, whoever wrote them, and dangerous or damaged ones are refused."""

from math import isnan
from pathlib import Path

import pytest

from hushway.errors import DataError
from hushway.families.links.rows.gpx import GpxTraces, read_gpx

NAMESPACE = 'xmlns="http://www.topografix.com/GPX/1/1"'


def gpx(body: str, namespace: str = NAMESPACE, before: str = "") -> str:
    return f'<?xml version="1.0"?>{before}<gpx version="1.1" {namespace}>{body}</gpx>'


def point(lon: str, lat: str, time: str | None) -> str:
    inner = "" if time is None else f"<time>{time}</time>"
    return f'<trkpt lon="{lon}" lat="{lat}"><ele>3</ele>{inner}</trkpt>'


def segment(*points: str) -> str:
    return f"<trkseg>{''.join(points)}</trkseg>"


def written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


TRACK = segment(point("0.5", "1.5", "1970-01-01T00:00:01Z"))


@pytest.mark.parametrize("namespace", [NAMESPACE, ""])
def test_track_points_become_rows(tmp_path: Path, namespace: str) -> None:
    other = segment(point("-2", "3", "1970-01-01T02:00:00.25+02:00"))
    body = (
        "<metadata><time>2026-01-01T00:00:00Z</time></metadata>"
        '<wpt lon="9" lat="9"><time>2026-01-01T00:00:00Z</time></wpt>'
        f"<trk>{TRACK}{other}</trk><trk>{TRACK}</trk>"
    )
    table = read_gpx(GpxTraces(written(tmp_path / "ann.gpx", gpx(body, namespace))))
    assert table.column_names == ["person", "trip", "us", "timed", "lon", "lat"]
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [
        ("ann", "ann.gpx 1", 1_000_000, True, 0.5, 1.5),
        ("ann", "ann.gpx 2", 250_000, True, -2.0, 3.0),
        ("ann", "ann.gpx 3", 1_000_000, True, 0.5, 1.5),
    ]


def test_a_person_is_a_subfolder_or_a_file(tmp_path: Path) -> None:
    for name in ("ann.gpx", "bob/monday.gpx", "bob/week/tuesday.gpx", ".hidden/eve.gpx"):
        written(tmp_path / name, gpx(TRACK))
    table = read_gpx(GpxTraces(tmp_path))
    assert table["person"].to_pylist() == ["ann", "bob", "bob"]
    assert len(set(table["trip"].to_pylist())) == 3


def test_what_cannot_be_understood_is_left_to_the_check(tmp_path: Path) -> None:
    body = segment(
        point("0.5", "1.5", None),
        point("0.5", "1.5", "noon"),
        point("0.5", "1.5", "2026-01-01T00:00:00"),
        point("east", "1.5", "1970-01-01T00:00:00Z"),
        '<trkpt lat="1"><time>1970-01-01T00:00:00Z</time></trkpt>',
    )
    table = read_gpx(GpxTraces(written(tmp_path / "ann.gpx", gpx(body))))
    assert table["us"].to_pylist() == [None, None, None, 0, 0]
    assert table["timed"].to_pylist() == [False, True, True, True, True]
    lon = table["lon"].to_pylist()
    assert isnan(lon[3])
    assert lon[4] is None


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    """Ten entities of ten each, ten times over, would be ten thousand million words."""
    levels = [f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 11)]
    bomb = f'<!DOCTYPE gpx [<!ENTITY e0 "secret">{"".join(levels)}]>'
    body = segment("<trkpt lon='0' lat='0'><time>&e10;</time></trkpt>")
    file = written(tmp_path / "ann.gpx", gpx(body, before=bomb))
    with pytest.raises(DataError, match="declares a document type"):
        read_gpx(GpxTraces(file))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not XML",
        gpx("<trk>"),
        gpx("&secret;"),
        "<kml></kml>",
        "<?xml version='1.0' encoding='no-such'?><gpx/>",
    ],
)
def test_damaged_files_are_refused_without_a_word_of_them(tmp_path: Path, text: str) -> None:
    written(tmp_path / "secret.gpx", text)
    with pytest.raises(DataError, match="A GPX file of traces cannot be read") as caught:
        read_gpx(GpxTraces(tmp_path))
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.gpx"):
        with pytest.raises(DataError, match="There are no traces at"):
            read_gpx(GpxTraces(path))
