"""A made-up city of a few streets, for which every release type can be run in a moment.

Nobody lives there: what is counted in it protects nobody and is thrown away.
"""

import csv
import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

_DAY = "2026-03-02"
_PLACES = tuple((f"p{i}", -8.60 + 0.01 * (i % 3), 41.10 + 0.01 * (i // 3)) for i in range(6))
_PEOPLE = 40
_TIMES = (1, 2, 3, 4, 5)  # of a person, four hours apart
_HALF_DEGREES = 0.005
_TIME = {"zone": "Europe/Lisbon", "first_day": _DAY, "last_day": _DAY, "minutes": 360}

# What each release type needs besides what all plans have.
_PLANS: dict[str, dict[str, Any]] = {
    "od": {
        "data": {"name": "little", "trips": "trips.csv", "columns": {"person": "person"}},
        "places": {"file": "places.csv"},
        "privacy": {"max_trips": 2, "epsilon": "1"},
    },
    "sequences": {
        "data": {"name": "little", "taps": "taps.csv", "columns": {"person": "person"}},
        "places": {"file": "places.csv"},
        "taxonomy": {"columns": ["zone"]},
        "records": {"max_stops": 4},
        "privacy": {"epsilon": "1"},
    },
    "density": {
        "data": {
            "name": "little",
            "events": "taps.csv",
            "columns": {"person": "person", "place": "place"},
        },
        "places": {"file": "places.csv"},
        "areas": {"file": "areas.geojson"},
        "privacy": {"max_visits": 4, "max_visits_in_total": 9, "epsilon": "1", "delta": "1e-6"},
    },
    "links": {
        "data": {"name": "little", "traces": "traces.csv"},
        "roads": {"file": "roads.geojson"},
        "privacy": {"max_items": 8, "epsilon": "1", "delta": "1e-6"},
    },
}

# The usual mechanism of each release type stands first. Roads take as long to compile as the three
# others together: where two are made at once, they begin early.
MECHANISMS: dict[str, tuple[str, ...]] = {
    "od": ("learned", "laplace", "hierarchical", "cbdp"),
    "links": ("link_counts",),
    "sequences": ("learned", "prefix_tree"),
    "density": ("series", "laplace"),
}


def little_plan(release_type: str, mechanism: str) -> dict[str, Any]:
    """Returns a plan for the little city, as plain values."""
    return {
        "release_type": release_type,
        "ledger": {"period": "none"},
        "release": {"folder": "release", "title": "A rehearsal"},
        # Loading what encrypts takes longer than counting these rows.
        "engine": {"encrypt_spills": False},
        "time": _TIME,
        "mechanism": {"name": mechanism},
        **_PLANS[release_type],
    }


def write_little_city(folder: Path) -> None:
    """Writes the files that the plans name."""
    zones = ("west", "middle", "east")
    _write(
        folder / "places.csv",
        ("id", "name", "lon", "lat", "zone"),
        ((key, key, lon, lat, zones[i % 3]) for i, (key, lon, lat) in enumerate(_PLACES)),
    )
    stops = [(i, j, _PLACES[(i + i * j) % len(_PLACES)][0]) for i in range(_PEOPLE) for j in _TIMES]
    _write(
        folder / "taps.csv",
        ("person", "place", "time"),
        ((f"u{i}", stop, _clock(4 * j, i)) for i, j, stop in stops),
    )
    _write(
        folder / "trips.csv",
        ("person", "origin", "destination", "time"),
        (
            (f"u{i}", _PLACES[i % 6][0], _PLACES[(i + j) % 6][0], _clock(4 * j, i))
            for i, j, _ in stops
        ),
    )
    _write(
        folder / "traces.csv",
        ("person", "time", "lon", "lat"),
        (
            (f"u{i}", _clock(8, step), -8.60 + 0.0015 * step, 41.10)
            for i in range(_PEOPLE)
            for step in range(6)
        ),
    )
    _put(folder / "areas.geojson", [_square(*place) for place in _PLACES])
    _put(folder / "roads.geojson", list(_streets()))


def _clock(hour: int, minute: int) -> str:
    return f"{_DAY}T{hour:02d}:{minute:02d}:00"


def _write(path: Path, header: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def _put(path: Path, features: list[dict[str, Any]]) -> None:
    text = json.dumps({"type": "FeatureCollection", "features": features})
    path.write_text(text, encoding="utf-8")


def _square(key: str, lon: float, lat: float) -> dict[str, Any]:
    signs = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    ring = [[lon + _HALF_DEGREES * x, lat + _HALF_DEGREES * y] for x, y in signs]
    return _feature({"id": key}, {"type": "Polygon", "coordinates": [ring]})


def _streets() -> Iterable[dict[str, Any]]:
    """Yields the blocks of two streets side by side, and two that join them."""
    columns = [-8.60 + 0.0015 * step for step in range(6)]
    rows = [[[lon, lat] for lon in columns] for lat in (41.10, 41.101)]
    blocks = [pair for row in rows for pair in pairwise(row)]
    blocks += [(rows[0][at], rows[1][at]) for at in (0, -1)]
    for number, ends in enumerate(blocks):
        yield _feature(
            {"link_id": f"b{number}", "class": "primary", "speed": 50},
            {"type": "LineString", "coordinates": list(ends)},
        )


def _feature(properties: dict[str, Any], geometry: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Feature", "properties": properties, "geometry": geometry}
