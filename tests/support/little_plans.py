"""The smallest data that each family can publish, with plans as plain values.

Everything is made here: a handful of places, people and streets, written once into a folder.
"""

import csv
import json
from collections.abc import Iterable
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

_DAY = "2026-03-02"
_TIME = {"zone": "Europe/Lisbon", "first_day": _DAY, "last_day": _DAY, "minutes": 720}
_PLACES = [("a", -8.60, 41.10), ("b", -8.59, 41.10), ("c", -8.60, 41.11), ("d", -8.59, 41.11)]
_COMMON: dict[str, Any] = {
    "ledger": {"period": "2026-03"},
    "release": {"folder": "release", "title": "A little release"},
    # Loading what encrypts takes longer than counting these rows.
    "engine": {"threads": 1, "encrypt_spills": False},
}


def write_little_files(folder: Path) -> None:
    """Writes the files that all little plans name."""
    places = ((key, key, lon, lat, "east" if lon > -8.595 else "west") for key, lon, lat in _PLACES)
    _write(folder / "places.csv", "id,name,lon,lat,zone", places)
    trips = ((f"p{i % 5}", "abcd"[i % 4], "abcd"[(i + 1) % 4], _hour(i)) for i in range(20))
    _write(folder / "trips.csv", "person,origin,destination,time", trips)
    taps = ((f"p{i % 6}", "abcd"[i * i % 4], _hour(i % 20)) for i in range(36))
    _write(folder / "taps.csv", "person,place,time", taps)
    sequences = (("abcd"[i % 4] + " " + "abcd"[i // 4 % 4],) for i in range(24))
    _write(folder / "sequences.csv", "stops", sequences)
    events = ((f"p{i % 6}", _hour(i % 20), *_PLACES[i % 4][1:]) for i in range(36))
    _write(folder / "events.csv", "person,time,lon,lat", events)
    traces = (
        (f"p{i}", f"{_DAY}T10:{10 * i + j:02d}:00", -8.6 + 0.001 * j, 41.10)
        for i in range(4)
        for j in range(8)
    )
    _write(folder / "traces.csv", "person,time,lon,lat", traces)
    _put(folder / "areas.geojson", [_box(lon, lat) for _, lon, lat in _PLACES])
    _put(folder / "roads.geojson", _streets())


def little_plan(family: str) -> dict[str, Any]:
    """Returns a plan as plain values, free to be changed."""
    return deepcopy(_COMMON | _PLANS[family] | {"release_type": family})


_PLANS: dict[str, dict[str, Any]] = {
    "od": {
        "data": {"name": "trips", "trips": "trips.csv", "columns": {"person": "person"}},
        "places": {"file": "places.csv"},
        "time": _TIME,
        "privacy": {"max_trips": 2, "epsilon": "1"},
        "mechanism": {"name": "cbdp", "published_totals": ["total", "period", "zones"]},
    },
    "sequences": {
        "data": {"name": "taps", "taps": "taps.csv", "columns": {"person": "person"}},
        "places": {"file": "places.csv"},
        "taxonomy": {"columns": ["zone"]},
        "time": _TIME,
        "records": {"max_stops": 3},
        "privacy": {"max_records": 2, "epsilon": "1"},
        "mechanism": {"name": "prefix_tree"},
    },
    "density": {
        "data": {
            "name": "events",
            "events": "events.csv",
            "columns": {"person": "person", "lon": "lon", "lat": "lat"},
        },
        "areas": {"file": "areas.geojson"},
        "time": _TIME,
        "privacy": {"max_visits": 2, "max_visits_in_total": 9, "epsilon": "1", "delta": "1e-6"},
    },
    "links": {
        "data": {"name": "traces", "traces": "traces.csv"},
        "roads": {"file": "roads.geojson"},
        "time": _TIME,
        "privacy": {"max_items": 4, "epsilon": "1", "delta": "1e-6"},
    },
}

FAMILIES = tuple(_PLANS)

# The file of protected rows, and one row that counts, column by column.
ROWS = {
    "od": "trips.csv",
    "sequences": "taps.csv",
    "density": "events.csv",
    "links": "traces.csv",
}
_SOON = f"{_DAY}T11:30:00"
ROW = {
    "od": {"person": "p0", "origin": "a", "destination": "b", "time": _SOON},
    "sequences": {"person": "p0", "place": "a", "time": _SOON},
    "density": {"person": "p0", "time": _SOON, "lon": "-8.60", "lat": "41.10"},
    "links": {"person": "p0", "time": _SOON, "lon": "-8.60", "lat": "41.10"},
}


def _hour(number: int) -> str:
    return f"{_DAY}T{number:02d}:30:00"


def _write(path: Path, header: str, rows: Iterable[tuple[Any, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)


def _put(path: Path, features: list[dict[str, Any]]) -> None:
    facts = {"type": "FeatureCollection", "features": features}
    path.write_text(json.dumps(facts), encoding="utf-8")


def _box(lon: float, lat: float) -> dict[str, Any]:
    half = 0.005
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    ring = [[lon + half * x, lat + half * y] for x, y in corners]
    return {
        "type": "Feature",
        "properties": {"id": f"{lon}/{lat}"},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


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
