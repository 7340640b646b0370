"""What tests need of the family: a little plan with its rows, and what can be wrong with them."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.families.links.rows.bounding import ArrayMovements
from hushway.privacy.query import Counter
from support.bad_input import Case, all_of, features, file, option, row, twice
from support.little_city import DAY, SOON, TIME, write_features, write_table

PLAN: dict[str, Any] = {
    "data": {"name": "traces", "traces": "traces.csv"},
    "roads": {"file": "roads.geojson"},
    "time": TIME,
    "privacy": {"max_items": 4, "epsilon": "1", "delta": "1e-6"},
}
# The file of protected rows, and one row that counts, column by column.
ROWS = "traces.csv"
ROW = {"person": "p0", "time": SOON, "lon": "-8.60", "lat": "41.10"}
# Values to try of options that cannot be listed.
OPTION_VALUES: dict[str, tuple[Any, ...]] = {
    "classes": ("0", "1/3"),
    "left_out": ("0", "1/3"),
    "speeds": ("1/5",),
    "speed_steps": (2,),
    "publish_above_se": (0.0,),
}
# What must be said besides, for a plan with such an option to make sense.
COMPANIONS: dict[tuple[str, str], dict[str, Any]] = {("speed_steps", "2"): {"speeds": "1/5"}}
# The section that names its public file.
PUBLIC = "roads"
# Changes to the little plan that are replayed.
REPLAYED_PLANS: dict[str, dict[str, Any]] = {
    "links with noise at the ends of trips": {"ends": {"epsilon": "4", "step": 100}}
}


def write(folder: Path) -> None:
    """Writes the files that the little plan names, beside the places."""
    traces = (
        (f"p{i}", f"{DAY}T10:{10 * i + j:02d}:00", -8.6 + 0.001 * j, 41.10)
        for i in range(4)
        for j in range(8)
    )
    write_table(folder / "traces.csv", "person,time,lon,lat", traces)
    write_features(folder / "roads.geojson", _streets())


def _streets() -> list[dict[str, Any]]:
    ways = [
        [(-8.600, 41.10), (-8.598, 41.10), (-8.596, 41.10), (-8.594, 41.10), (-8.592, 41.10)],
        [(-8.600, 41.10), (-8.600, 41.102), (-8.592, 41.102), (-8.592, 41.10)],
    ]
    return [
        {
            "type": "Feature",
            "properties": {"link_id": f"w{i}.{j}", "class": "primary", "speed": 50},
            "geometry": {"type": "LineString", "coordinates": [list(one), list(other)]},
        }
        for i, way in enumerate(ways)
        for j, (one, other) in enumerate(pairwise(way))
    ]


BAD_INPUT = (
    Case(
        "a position that is not on earth",
        row(refuse="impossible_position", lat="145.0"),
        "impossible position",
    ),
    Case("a position elsewhere", row(refuse="unknown_place", lat="10"), "unknown place"),
    Case("roads that are not there", file("roads.geojson", None), "roads.geojson"),
    Case("an empty file of roads", file("roads.geojson", ""), "roads.geojson"),
    Case("roads that are none", file("roads.geojson", "hello"), "roads.geojson"),
    Case("a link that is there twice", features("roads.geojson", twice), "more than once"),
    Case(
        "shares that leave nothing",
        all_of(option("mechanism.classes", "0.5"), option("mechanism.speeds", "0.5")),
        "leave nothing",
    ),
    Case("a bound that is a truth", option("privacy.max_items", True), "max_items"),
)


def in_memory(job: Any, key: BoundingKey, person: Any, kept: Any) -> Counter:
    """Returns a counter of the rows that are kept of those that a generator draws."""
    rng, universe = np.random.default_rng(4), job.rows.universe
    period = rng.integers(0, len(universe.periods), len(person))
    item = rng.integers(0, universe.items, len(person))
    return ArrayMovements(
        universe=universe,
        limits=job.rows.limits,
        key=key,
        person=person[kept],
        period=period[kept],
        item=item[kept],
        steps=rng.integers(-50, 50, len(person))[kept],
    )
