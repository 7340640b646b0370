"""The atlas of a density says what its tables say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import shapely

from hushway.errors import ReleaseError
from hushway.families.atlas import atlas_of
from hushway.families.density.fit.table import DensityTable
from hushway.geography.areas import Areas
from hushway.release.drawing import atlas_parts
from hushway.release.folder.seal import SEAL, Seal, files_of, sealed_file
from support.atlases import ReadAtlas, atlas_in
from support.density_scenes import density_certificate
from support.forging import forged_release


@pytest.mark.parametrize("kind", ["tower_release", "plain_release"])
def test_totals_are_the_rows_area_by_area(kind: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    rows = pq.read_table(folder / "density.parquet").to_pydict()
    atlas = atlas_in(folder)
    areas, periods = atlas.facts["places"]["ids"], atlas.facts["periods"]
    assert rows["area"] == [area for area in areas for _ in periods]
    assert rows["period"] == [period for _ in areas for period in range(len(periods))]
    for column, name in (("count", "count"), ("error", "standard_error")):
        drawn = atlas.column("totals", column).astype(np.float64)
        assert np.round(drawn, 2).tolist() == rows[name]
    assert periods[0] == {"label": "00:00", "group": "Mon 2 Mar", "whole": False}
    assert atlas.facts["flows"] is atlas.facts["series"] is None


def outline(atlas: ReadAtlas, place: int) -> float:
    """Returns the ground inside the rings of a place, by the shoelace formula."""
    lon, lat = (atlas.column("places", "shapes", name) for name in ("lon", "lat"))
    starts = atlas.column("places", "shapes", "ring_starts")
    owner = atlas.column("places", "shapes", "place_of_ring")
    ground = 0.0
    for ring in np.flatnonzero(owner == place).tolist():
        x, y = (axis[starts[ring] : starts[ring + 1]].astype(np.float64) for axis in (lon, lat))
        assert (x[0], y[0]) == (x[-1], y[-1])
        ground += float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) / 2
    return ground


def test_rings_enclose_their_areas_with_holes_and_parts(
    tower_release: Path, density: DensityTable
) -> None:
    atlas = atlas_in(tower_release)
    areas = density.universe.areas.areas
    assert atlas.facts["places"]["names"] == [area.name for area in areas]
    lon, lat = atlas.column("places", "lon"), atlas.column("places", "lat")
    for place, area in enumerate(areas):
        assert outline(atlas, place) == pytest.approx(area.shape.area, rel=1e-3)
        assert shapely.contains_xy(area.shape, lon[place], lat[place])
    rings = atlas.facts["places"]["shapes"]["place_of_ring"]["length"]
    assert rings == 5  # one with a hole, one plain, one in two parts


def test_outlines_of_very_many_points_are_drawn_with_fewer(
    tower_release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = atlas_in(tower_release)
    points = whole.facts["places"]["shapes"]["lon"]["length"]
    monkeypatch.setattr(atlas_parts, "MOST_POINTS", points - 4)
    thin = atlas_in(tower_release)
    assert 0 < thin.facts["places"]["shapes"]["lon"]["length"] <= points - 4
    assert np.array_equal(thin.column("totals", "count"), whole.column("totals", "count"))


def test_areas_beyond_the_earth_are_refused(density: DensityTable, tmp_path: Path) -> None:
    areas = density.universe.areas.areas
    far = replace(areas[0], shape=shapely.affinity.translate(areas[0].shape, 1e6, 0))
    universe = replace(density.universe, areas=Areas(areas=(far, *areas[1:])))
    table = replace(density, universe=universe)
    folder = forged_release(
        tmp_path / "release", table=table, certificate=density_certificate(table)
    )
    with pytest.raises(ReleaseError, match="cannot be drawn"):
        atlas_of(folder)


@pytest.mark.parametrize("corner", ["NaN", "1e999", '"x"', "[]", "null"])
def test_corners_that_are_no_numbers_are_refused(tower_release: Path, corner: str) -> None:
    path = tower_release / "areas.geojson"
    shapes: Any = json.loads(path.read_bytes())
    first = repr(shapes["features"][0]["geometry"]["coordinates"][0][0][0])
    path.write_text(path.read_text(encoding="utf-8").replace(first, corner), encoding="utf-8")
    (tower_release / SEAL).unlink()
    files = tuple(sealed_file(tower_release, name) for name in files_of(tower_release))
    (tower_release / SEAL).write_bytes(Seal(files=files, signer=None).to_json())
    with pytest.raises(ReleaseError):
        atlas_of(tower_release)
