"""OD releases from points in public areas."""

import csv
import json
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

from hushway.engine.key import BoundingKey
from hushway.errors import PlanError, ReleaseError
from hushway.families.load import plan_from, prepare
from hushway.families.od.rows.trips import area_index
from hushway.families.verify import verify
from hushway.geography.areas import Area, Areas
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.query import Query
from hushway.privacy.randomness import SeededSource
from hushway.release.formats.areas import AREAS, with_shapes
from hushway.release.job import CountingContext, Job, settings_of
from hushway.steward.publish import publish
from support.little_plans import little_plan, write_little_files

POINTS = ("origin_lon", "origin_lat", "destination_lon", "destination_lat")
# West and east share a border at longitude 1; the island is not a box.
ZONES = {
    "west": shapely.box(0, 0, 1, 1),
    "east": shapely.box(1, 0, 2, 1),
    "island": shapely.MultiPolygon([shapely.box(3, 0, 4, 1), shapely.box(5, 0, 6, 1)]),
}
ROWS: list[tuple[Any, ...]] = [
    (0.5, 0.5, 1.5, 0.5),
    (1.0, 0.5, 1.5, 0.5),  # on the border: the first one
    (5.5, 0.5, 3.5, 0.5),  # within one place
    (0.5, 0.5, 4.5, 0.5),  # between the parts of the island
    (0.5, 0.5, "", 0.5),
    ("far", 0.5, 1.5, 0.5),
    ("inf", 0.5, 1.5, 0.5),
    (1.5, 0.5, 5.5, 0.5),
]


def points_plan(folder: Path) -> dict[str, Any]:
    write_little_files(folder)
    features = [
        {
            "type": "Feature",
            "properties": {"zone": key},
            "geometry": json.loads(shapely.to_geojson(shape)),
        }
        for key, shape in ZONES.items()
    ]
    zones = {"type": "FeatureCollection", "features": features}
    (folder / "zones.geojson").write_text(json.dumps(zones), encoding="utf-8")
    with (folder / "trips.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["person", "time", *POINTS])
        writer.writerows((f"p{i}", "2026-03-02T08:00:00", *row) for i, row in enumerate(ROWS))
    plan = little_plan("od")
    plan["data"]["columns"] = {"person": "person", **{name: name for name in POINTS}}
    plan["places"] = {"areas": "zones.geojson", "area_columns": {"id": "zone"}}
    plan["mechanism"] = {"name": "laplace"}
    # Most of these points are wrong on purpose.
    plan["problems"] = {"most_dropped": "1"}
    return plan


def job_of(folder: Path) -> Job:
    return prepare(plan_from(points_plan(folder), folder=folder))


def test_points_are_counted_in_their_areas(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    source = SeededSource(1)
    context = CountingContext(
        key=BoundingKey.draw(source), bits=source, settings=settings_of(job.plan), progress=None
    )
    cells: Any = job.geography
    found = job.rows.counter(context).count(Query(name=cells.name, cells=cells))
    _, origin, destination = cells.decode(found.cells)
    ids = cells.locations.ids
    pairs = {
        (ids[o], ids[d]): int(n)
        for o, d, n in zip(origin, destination, found.values.tolist(), strict=True)
    }
    assert pairs == {("west", "east"): 2, ("east", "island"): 1}


def test_points_that_cannot_count_are_told_apart(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    problems = {p.kind: p for p in job.rows.check(settings_of(job.plan), notes=True).problems}
    counts = {kind: problem.count for kind, problem in problems.items()}
    assert counts == {"null_value": 1, "unknown_place": 3, "intrazonal": 1}
    assert "'destination_lon'" in problems["null_value"].message


def test_a_release_from_points_verifies_and_names_its_shapes(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.PURE, Fraction(1000)))
    release = publish(job, source=SeededSource(1)).folder
    assert verify(release).intact
    header, first, *_ = (release / "places.csv").read_text(encoding="utf-8").splitlines()
    assert header.endswith(",shape_sha256")
    assert len(first.rpartition(",")[2]) == 64


def test_a_release_from_points_holds_its_areas(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.PURE, Fraction(1000)))
    release = publish(job, source=SeededSource(1)).folder
    cells: Any = job.geography
    again = with_shapes(cells.locations, (release / AREAS).read_bytes())
    assert again.shapes == cells.locations.shapes
    with sqlite3.connect(release / "map.gpkg") as package:
        kinds = dict(
            package.execute("SELECT table_name, geometry_type_name FROM gpkg_geometry_columns")
        )
    assert kinds["places"] == "MULTIPOLYGON"
    moved = (release / AREAS).read_bytes().replace(b"[1.0,", b"[1.01,")
    with pytest.raises(ReleaseError, match="does not hold the areas"):
        with_shapes(cells.locations, moved)


def test_a_border_that_moves_makes_another_universe(tmp_path: Path) -> None:
    digest = job_of(tmp_path).geography.digest
    zones = (tmp_path / "zones.geojson").read_text(encoding="utf-8")
    plan = plan_from(points_plan(tmp_path), folder=tmp_path)
    # The middle of the area, where it is drawn, stays where it is.
    zones = zones.replace("[1.0, 0.0]", "[1.0, -0.5]").replace("[1.0, 1.0]", "[1.0, 1.5]")
    (tmp_path / "zones.geojson").write_text(zones, encoding="utf-8")
    assert prepare(plan).geography.digest != digest


@pytest.mark.parametrize(
    ("table", "change", "word"),
    [
        ("places", {"areas": None, "file": "places.csv"}, "belongs to trips with points"),
        ("places", {"file": "places.csv"}, "exactly one of file"),
        ("places", {"columns": {"id": "id"}}, "not named"),
        ("data", {"columns": {"person": "person"}}, "belongs to trips with points"),
        ("data", {"columns": {"origin_lon": "x"}}, "need all of"),
    ],
)
def test_points_and_areas_belong_together(
    tmp_path: Path, table: str, change: dict[str, Any], word: str
) -> None:
    plan = points_plan(tmp_path)
    plan[table] = {k: v for k, v in (plan[table] | change).items() if v is not None}
    if "file" in change and "areas" in change:
        del plan[table]["area_columns"]
    with pytest.raises(PlanError, match=word):
        plan_from(plan, folder=tmp_path)


def test_the_area_of_many_points_is_the_first_that_holds_each() -> None:
    """Against asking every area about every point."""
    rng = np.random.default_rng(7)
    shapes = [shapely.box(x, y, x + 1.2, y + 1.2) for x in range(4) for y in range(3)]
    areas = Areas(
        areas=tuple(Area(id=str(i), name="", shape=shape) for i, shape in enumerate(shapes))
    )
    # Tenths, so that many lie on borders.
    lon, lat = (rng.integers(-10, 60, 3000) / 10 for _ in range(2))
    lon[:2] = [np.nan, np.inf]
    slow = [
        next((i for i, shape in enumerate(shapes) if shape.covers(shapely.Point(x, y))), -1)
        if np.isfinite(x)
        else -1
        for x, y in zip(lon, lat, strict=True)
    ]
    np.testing.assert_array_equal(area_index(areas)(lon, lat), slow)
