"""What tests need of the family: a little plan with its rows, and what can be wrong with them."""

from pathlib import Path
from typing import Any

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.families.density.rows.counts import ArrayVisits
from hushway.privacy.query import Counter
from support.bad_input import Case, all_of, features, file, line, option, row, twice
from support.little_city import PLACES, SOON, TIME, hour, write_features, write_table
from support.scene import Scene

PLAN: dict[str, Any] = {
    "data": {
        "name": "events",
        "events": "events.csv",
        "columns": {"person": "person", "lon": "lon", "lat": "lat"},
    },
    "areas": {"file": "areas.geojson"},
    "time": TIME,
    "privacy": {"max_visits": 2, "max_visits_in_total": 9, "epsilon": "1", "delta": "1e-6"},
}
# The file of protected rows, and one row that counts, column by column.
ROWS = "events.csv"
ROW = {"person": "p0", "time": SOON, "lon": "-8.60", "lat": "41.10"}
# Values to try of options that cannot be listed.
OPTION_VALUES: dict[str, tuple[Any, ...]] = {
    "budget_shares": ({"histogram": "1/8", "clusters": "1/8"}, {"cuts": "1/8"}),
    "cluster_error": (0.4,),
}
# What must be said besides, for a plan with such an option to make sense.
COMPANIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("budget_shares", str({"cuts": "1/8"})): {"denoise": "cuts"}
}
# The section that names its public file, and what `init` cannot tell from the columns.
PUBLIC = "areas"
# Positions may be traces or events: who means events says so.
INIT_OPTIONS = ("--type", "density")
# Changes to the little plan whose releases have kept digests.
SEEDED_PLANS: dict[str, dict[str, Any]] = {
    "density at places": {
        "data": {
            "name": "events",
            "events": "taps.csv",
            "columns": {"person": "person", "place": "place"},
        },
        "places": {"file": "places.csv"},
    },
    "density by Laplace": {"mechanism": {"name": "laplace"}},
    "density with limits that are chosen": {"privacy": {"epsilon": "1"}},
}


def write(folder: Path) -> None:
    """Writes the files that the little plan names, beside the places."""
    events = ((f"p{i % 6}", hour(i % 20), *PLACES[i % 4][1:]) for i in range(36))
    write_table(folder / "events.csv", "person,time,lon,lat", events)
    write_features(folder / "areas.geojson", [_box(lon, lat) for _, lon, lat in PLACES])


def _overlapping(found: list[dict[str, Any]]) -> None:
    found.append({**found[0], "properties": {"id": "again"}})


def _in_metres(found: list[dict[str, Any]]) -> None:
    for one in found:
        (ring,) = one["geometry"]["coordinates"]
        ring[:] = [[lon * 84_000, lat * 111_000] for lon, lat in ring]


def _by_tower(scene: Scene) -> None:
    """Lets events name places instead of having positions."""
    scene.say("data.columns", {"person": "person", "place": "tower"})
    scene.say("places.file", "places.csv")
    lines = [f"p{i % 6},{'abcd'[i % 4]},2026-03-02T{i % 20:02d}:30:00" for i in range(36)]
    scene.rows.write_text("\n".join(["person,tower,time", *lines, ""]), encoding="utf-8")


def _at_no_tower(scene: Scene) -> None:
    _by_tower(scene)
    scene.say("problems.unknown_place", "refuse")
    line(scene.rows.name, "p0,nowhere,2026-03-02T11:30:00")(scene)


def _box(lon: float, lat: float) -> dict[str, Any]:
    half = 0.005
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    ring = [[lon + half * x, lat + half * y] for x, y in corners]
    return {
        "type": "Feature",
        "properties": {"id": f"{lon}/{lat}"},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


def _gaussian_with_hardly_any_delta(scene: Any) -> None:
    scene.say("mechanism.noise", "gaussian")
    scene.say("privacy.delta", "1e-400")


BAD_INPUT = (
    Case(
        "a position that is not on earth",
        row(refuse="impossible_position", lat="145.0"),
        "impossible position",
    ),
    Case("a position elsewhere", row(refuse="unknown_place", lat="10"), "unknown place"),
    Case("no such tower", _at_no_tower, "unknown place"),
    Case(
        "a tower outside",
        all_of(_by_tower, line("places.csv", "e,Away,9.1,45.4,east")),
        "outside all areas",
    ),
    Case("towers that are not there", option("places.file", "towers.csv"), "places"),
    Case("areas that are not there", file("areas.geojson", None), "areas.geojson"),
    Case("an empty file of areas", file("areas.geojson", ""), "empty"),
    Case("areas that are none", file("areas.geojson", "hello"), "areas.geojson"),
    Case("an area that is there twice", features("areas.geojson", twice), "more than once"),
    Case("areas that overlap", features("areas.geojson", _overlapping), "overlap"),
    Case("areas in metres", features("areas.geojson", _in_metres), "CRS"),
    Case("no such CRS", option("areas.crs", "EPSG:999999"), "EPSG:999999"),
    Case("a wrong CRS", option("areas.crs", "EPSG:2154"), "areas"),
    Case("no such property", option("areas.id", "code"), "code"),
    Case("hardly any epsilon", option("privacy.epsilon", "1e-9"), "scale"),
    Case("a delta that is all but nothing", _gaussian_with_hardly_any_delta, "parameter"),
    Case("shares that leave nothing", option("mechanism.budget_shares.histogram", "1"), "shares"),
    Case("a bound that is a truth", option("privacy.max_visits", True), "max_visits"),
)


def in_memory(job: Any, key: BoundingKey, person: Any, kept: Any) -> Counter:
    """Returns a counter of the rows that are kept of those that a generator draws."""
    rng, universe = np.random.default_rng(3), job.rows.universe
    site = rng.integers(0, universe.site_count, len(person))
    bins = rng.integers(0, universe.bins, len(person))
    return ArrayVisits(
        universe=universe,
        limits=job.rows.limits,
        ladder=job.rows.ladder,
        key=key,
        person=person[kept],
        site=site[kept],
        bin=bins[kept],
    )
