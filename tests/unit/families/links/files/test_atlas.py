"""The atlas of a release of links says what its tables say."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.families.atlas import atlas_of
from hushway.families.links.fit.table import LinkTable
from hushway.release.drawing import atlas_parts
from support.atlases import atlas_in
from support.forging import forged_release
from support.link_scenes import links_certificate


@pytest.mark.parametrize("kind", ["plain_release", "fast_release"])
def test_links_carry_the_rows_period_by_period(kind: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    rows = pq.read_table(folder / "links.parquet").to_pydict()
    atlas = atlas_in(folder)
    ids = atlas.facts["links"]["ids"]
    assert [ids[at] for at in atlas.column("links", "link")] == rows["link_id"]
    starts = atlas.column("links", "row_starts")
    assert len(starts) == len(atlas.facts["periods"]) + 1
    period = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    assert period.tolist() == rows["period_number"]
    for column, name in (("count", "count"), ("error", "standard_error")):
        drawn = atlas.column("links", column).astype(np.float64)
        assert np.round(drawn, 2).tolist() == rows[name]


def test_roads_are_the_public_ones(plain_release: Path, links: LinkTable) -> None:
    atlas, roads = atlas_in(plain_release), links.universe.roads
    assert atlas.facts["links"]["ids"] == roads.link_id.tolist()
    assert atlas.facts["links"]["names"] == roads.name.tolist()
    assert atlas.column("links", "rank").tolist() == (roads.road_class - 1).tolist()
    assert atlas.column("links", "starts").tolist() == roads.start.tolist()
    assert np.array_equal(atlas.column("links", "lon"), roads.lon.astype(np.float32))
    assert np.array_equal(atlas.column("links", "lat"), roads.lat.astype(np.float32))
    assert atlas.facts["places"]["ids"] == []


def test_what_does_not_show_is_told_as_published(fast_release: Path) -> None:
    with (fast_release / "rest.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    atlas = atlas_in(fast_release)
    rest = atlas.facts["links"]["rest"]
    names = {"count": "count", "error": "standard_error", "km": "km", "km_error": "km_error"}
    for own, published in names.items():
        assert [each[own] for each in rest] == [float(row[published]) for row in rows]
    zones = ("east, of the river", "west")
    assert [each["label"].split(", class ")[0] for each in rest] == [
        f"zone {zones[int(row['zone'])]}" for row in rows
    ]
    assert [each["label"].split(", class ")[1][0] for each in rest] == [r["class"] for r in rows]
    per_period = len(rows) // 4
    assert [each["period"] for each in rest] == [at // per_period for at in range(len(rows))]


def test_courses_of_very_many_points_keep_their_ends(
    plain_release: Path, links: LinkTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    roads = links.universe.roads
    most = 5 * roads.links // 2
    assert most < len(roads.lon)
    monkeypatch.setattr(atlas_parts, "MOST_POINTS", most)
    monkeypatch.setattr(atlas_parts, "_COARSEST", 1)
    atlas = atlas_in(plain_release)
    starts = atlas.column("links", "starts")
    lon = atlas.column("links", "lon")
    assert len(lon) <= most
    assert np.array_equal(lon[starts[:-1]], roads.lon[roads.start[:-1]].astype(np.float32))
    assert np.array_equal(lon[starts[1:] - 1], roads.lon[roads.start[1:] - 1].astype(np.float32))


@pytest.mark.parametrize("place", [1e300, 181.0])
def test_roads_that_lead_nowhere_are_refused(
    links: LinkTable, tmp_path: Path, place: float
) -> None:
    universe, lon = links.universe, links.universe.roads.lon.copy()
    lon[1] = place
    table = replace(links, universe=replace(universe, roads=replace(universe.roads, lon=lon)))
    folder = forged_release(tmp_path / "release", table=table, certificate=links_certificate(table))
    with pytest.raises(ReleaseError):
        atlas_of(folder)
