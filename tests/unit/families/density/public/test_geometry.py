"""From areas and towers to the public universe of a density."""

import pickle
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from hushway.arrays import FloatArray
from hushway.errors import GeographyError
from hushway.families.density.public import geometry as density_geometry
from hushway.families.density.public.cover import Cover, Pieces
from hushway.families.density.public.geometry import density_universe, read_geometry, write_geometry
from hushway.families.density.public.tower_geometry import Outside, TowerGeometry
from hushway.families.density.public.visits import DensityUniverse
from hushway.geography.areas import Area, Areas
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Cycle, Periods
from support.windows import window as days_window

WEST, SOUTH, STEP = 2.30, 48.80, 0.01


def window(cycle: Cycle = "window") -> Periods:
    return days_window(date(2007, 9, 10), date(2007, 9, 16), zone="Europe/Paris", cycle=cycle)


def blocks(columns: int, rows: int) -> Areas:
    return Areas(
        areas=tuple(
            Area(
                id=f"{column}-{row}",
                name="",
                shape=shapely.box(
                    WEST + column * STEP,
                    SOUTH + row * STEP,
                    WEST + (column + 1) * STEP,
                    SOUTH + (row + 1) * STEP,
                ),
            )
            for row in range(rows)
            for column in range(columns)
        )
    )


def towers(*places: tuple[float, float]) -> Locations:
    """Towers at (column, row) of the blocks."""
    return Locations(
        tuple(
            Location(id=f"t{i}", name="", lon=WEST + column * STEP, lat=SOUTH + row * STEP, zone="")
            for i, (column, row) in enumerate(places)
        )
    )


def scattered(seed: int, count: int, columns: int, rows: int) -> Locations:
    drawn = np.random.default_rng(seed).uniform(0.001, 0.999, (count, 2)) * [columns, rows]
    return towers(*map(tuple, drawn.tolist()))


def area_counts(universe: DensityUniverse, visits: FloatArray) -> FloatArray:
    """Visits of sites, through parts of visits in cells, to areas."""
    quanta = 1 << 20
    cell, site, parts = universe.cover.quantised(quanta)
    in_cells = np.bincount(cell, weights=visits[site] * parts / quanta)
    area, of, share = universe.cover.area_shares()
    return np.bincount(area, weights=share * in_cells[of]).astype(np.float64)


def test_every_tower_is_a_site_with_the_ground_around_it() -> None:
    universe = density_universe(blocks(2, 1), window(), towers((0.5, 0.5), (1.5, 0.5)))
    assert universe.sites is not None
    assert universe.sites.site.tolist() == [0, 1]
    assert universe.cover.pieces.site_sizes == pytest.approx(universe.areas.sizes, rel=1e-4)
    assert universe.bins == 168


@pytest.mark.parametrize("seed", range(4))
def test_a_city_keeps_its_ground_and_its_visits(seed: int) -> None:
    areas = blocks(9, 7)
    universe = density_universe(areas, window(), scattered(seed, 90, 9, 7))
    pieces = universe.cover.pieces
    assert pieces.size.sum() == pytest.approx(areas.sizes.sum(), rel=1e-6)
    assert len(universe.cover) <= min(pieces.sites, pieces.areas)
    visits = np.random.default_rng(seed).integers(0, 500, universe.site_count).astype(np.float64)
    found = area_counts(universe, visits)
    assert found.sum() == pytest.approx(visits.sum())
    area, site, share = universe.cover.site_shares()
    truth = np.bincount(area, weights=share * visits[site])
    assert found == pytest.approx(truth, abs=0.05)


def test_a_uniform_density_comes_back_uniform() -> None:
    areas = blocks(8, 8)
    universe = density_universe(areas, window(), scattered(5, 70, 8, 8))
    found = area_counts(universe, universe.cover.pieces.site_sizes)
    assert found == pytest.approx(areas.sizes, rel=1e-3)


def test_towers_at_one_point_are_one_site() -> None:
    universe = density_universe(
        blocks(3, 1), window(), towers((2.5, 0.5), (0.5, 0.5), (2.5, 0.5), (0.5, 0.5 + 1e-7))
    )
    assert universe.sites is not None
    assert universe.sites.site.tolist() == [0, 1, 0, 1]
    assert universe.site_count == 2


def test_a_tower_on_a_border_is_inside() -> None:
    universe = density_universe(blocks(2, 2), window(), towers((0, 0), (2, 2), (1, 1)))
    assert universe.site_count == 3


def test_towers_outside_are_refused_by_name() -> None:
    outside = [(-1.0 - i, 0.5) for i in range(7)]
    with pytest.raises(GeographyError) as caught:
        density_universe(blocks(2, 1), window(), towers((0.5, 0.5), *outside))
    assert str(caught.value) == (
        "7 of 8 towers are outside all areas: 't1', 't2', 't3', 't4', 't5' and 2 more."
    )
    assert caught.value.advice


def test_towers_outside_can_be_left_out() -> None:
    places = ((-1.0, 0.5), (1.5, 0.5), (7.0, 0.5), (0.5, 0.5))
    universe = density_universe(blocks(2, 1), window(), towers(*places), outside="drop")
    assert universe.sites is not None
    assert universe.sites.site.tolist() == [-1, 0, -1, 1]
    alone = density_universe(blocks(2, 1), window(), towers(places[1], places[3]))
    assert np.array_equal(universe.cover.pieces.size, alone.cover.pieces.size)


@pytest.mark.parametrize("outside", ["refuse", "drop"])
def test_towers_of_another_city_are_refused(outside: Outside) -> None:
    with pytest.raises(GeographyError, match="All towers are outside") as caught:
        density_universe(blocks(2, 1), window(), towers((70, 0), (71, 0)), outside=outside)
    assert caught.value.advice


def test_without_towers_every_area_is_a_site() -> None:
    universe = density_universe(blocks(3, 2), window(), None)
    assert universe.sites is None
    assert universe.site_count == len(universe.cover) == 6


@pytest.mark.parametrize("places", [None, towers((0.5, 0.5))])
def test_areas_that_overlap_are_refused(places: Locations | None) -> None:
    first, second = blocks(2, 1).areas
    shape = shapely.union(first.shape, shapely.box(WEST, SOUTH, WEST + 1.5 * STEP, SOUTH + STEP))
    areas = Areas(areas=(Area(id="wide", name="", shape=shape), second))
    with pytest.raises(GeographyError, match="'wide' and '1-0'"):
        density_universe(areas, window(), places)


def test_a_density_counts_the_bins_of_a_window_or_of_a_week() -> None:
    assert density_universe(blocks(2, 1), window("week"), None).bins == 168
    with pytest.raises(GeographyError, match="every period"):
        density_universe(blocks(2, 1), window("day"), None)


def test_the_same_lists_give_the_same_universe() -> None:
    one, other = (
        density_universe(blocks(5, 5), window(), scattered(1, 30, 5, 5)) for _ in range(2)
    )
    assert one.digest == other.digest
    assert np.array_equal(one.cover.pieces.size, other.cover.pieces.size)


def test_a_kept_geometry_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    areas, places = blocks(4, 4), scattered(2, 20, 4, 4)
    built = density_universe(areas, window(), places, cache=tmp_path / "kept")
    monkeypatch.setattr(density_geometry, "tower_geometry", None)
    read = density_universe(areas, window(), places, cache=tmp_path / "kept")
    assert read.digest == built.digest
    with pytest.raises(TypeError):
        density_universe(areas, window(), scattered(3, 20, 4, 4), cache=tmp_path / "kept")
    with pytest.raises(TypeError):
        density_universe(areas, window(), places, outside="drop", cache=tmp_path / "kept")


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
