"""Geometries on disk: the same when read back, and nothing that is not whole is believed."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import GeographyError
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.geometry import read_geometry, write_geometry
from hushway.families.density.public.tower_geometry import TowerGeometry

DIGEST = "sha256:0123"


def geometry() -> TowerGeometry:
    pieces = Pieces(
        sites=2,
        areas=2,
        site=np.array([0, 0, 1]),
        area=np.array([0, 1, 1]),
        size=np.array([1.5, 2.5, 4.0]),
    )
    cover = Cover(
        pieces=pieces,
        is_site=np.array([True, False]),
        member=np.array([0, 1]),
        cell=np.array([0, 0, 1]),
        centres=np.array([[1.0, 2.0], [3.0, 4.0]]),
    )
    return TowerGeometry(site=np.array([0, 1, -1, 0]), cover=cover)


def read(folder: Path, *, areas: int = 2, towers: int = 4) -> TowerGeometry | None:
    return read_geometry(folder, DIGEST, areas=areas, towers=towers)


def only_file(folder: Path) -> Path:
    (file,) = folder.iterdir()
    return file


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    write_geometry(tmp_path / "new" / "folder", DIGEST, geometry())
    found = read(tmp_path / "new" / "folder")
    assert found is not None
    assert np.array_equal(found.site, geometry().site)
    one, other = found.cover, geometry().cover
    for name in ("is_site", "member", "cell", "centres"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for name in ("site", "area", "size"):
        assert np.array_equal(getattr(one.pieces, name), getattr(other.pieces, name))


def test_only_the_whole_file_is_left_behind(tmp_path: Path) -> None:
    write_geometry(tmp_path, DIGEST, geometry())
    write_geometry(tmp_path, DIGEST, geometry())
    assert only_file(tmp_path).name == "0123.npz"


def test_nothing_is_read_where_nothing_is(tmp_path: Path) -> None:
    assert read(tmp_path) is None


def test_a_file_under_a_wrong_name_is_not_believed(tmp_path: Path) -> None:
    write_geometry(tmp_path, "sha256:4567", geometry())
    only_file(tmp_path).rename(tmp_path / "0123.npz")
    assert read(tmp_path) is None


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_ignored(tmp_path: Path, kept: float) -> None:
    write_geometry(tmp_path, DIGEST, geometry())
    file = only_file(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * kept)])
    assert read(tmp_path) is None


def test_a_file_with_any_byte_changed_is_ignored_or_still_right(tmp_path: Path) -> None:
    write_geometry(tmp_path, DIGEST, geometry())
    file = only_file(tmp_path)
    whole = file.read_bytes()
    for at in range(0, len(whole), 7):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        found = read(tmp_path)
        assert found is None or np.array_equal(found.cover.sizes, geometry().cover.sizes)


def test_other_files_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "0123.npz").write_bytes(pickle.dumps({"digest": DIGEST}))
    assert read(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tower_site", np.array([0, 1, -1])),
        ("tower_site", np.array([0, 1, -2, 0])),
        ("tower_site", np.array([0, 2, 1, 0])),
        ("tower_site", np.array(["a"] * 4)),
        ("piece_site", np.array([0, 0, 2])),
        ("piece_site", np.array([0, 0, 0])),
        ("piece_area", np.array([0, 1, -1])),
        ("piece_size", np.array([1.0, 0.0, 1.0])),
        ("piece_size", np.array([1.0, np.nan, 1.0])),
        ("piece_size", np.array([1.0, 1.0])),
        ("piece_cell", np.array([1, 0, 1])),
        ("piece_cell", np.array([0.0, 0.0, 1.0])),
        ("cell_member", np.array(0)),
        ("cell_is_site", np.array([True])),
        ("cell_centre", np.zeros((2, 3))),
        ("digest", np.array("sha256:4567")),
        ("digest", None),
        ("piece_size", np.array([{}, {}, {}], dtype=object)),
    ],
)
def test_arrays_that_do_not_fit_are_not_believed(tmp_path: Path, name: str, value: Any) -> None:
    write_geometry(tmp_path, DIGEST, geometry())
    file = only_file(tmp_path)
    with np.load(file) as kept:
        arrays = dict(kept)
    if value is None:
        del arrays[name]
    else:
        arrays[name] = value
    np.savez(file, **arrays)
    assert read(tmp_path) is None


def test_a_geometry_of_other_lists_is_not_believed(tmp_path: Path) -> None:
    write_geometry(tmp_path, DIGEST, geometry())
    assert read(tmp_path, areas=3) is None
    assert read(tmp_path, towers=5) is None


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GeographyError, match="cannot be kept") as caught:
        write_geometry(tmp_path / "file", DIGEST, geometry())
    assert caught.value.advice
