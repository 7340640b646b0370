"""The smallest plan for a density, for a rehearsal."""

from pathlib import Path
from typing import Any

from hushway.release.plans.little_city import PLACES, TIME, write_places, write_shapes, write_taps

_HALF_DEGREES = 0.005
_CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))


def little_density(folder: Path) -> dict[str, Any]:
    """Writes the files of a made-up city, and returns the plan's own tables."""
    write_shapes(
        folder / "areas.geojson", (({"id": key}, _square(lon, lat)) for key, lon, lat in PLACES)
    )
    return {
        "data": {
            "name": "little",
            "events": write_taps(folder),
            "columns": {"person": "person", "place": "place"},
        },
        "places": write_places(folder),
        "areas": {"file": "areas.geojson"},
        "time": TIME,
        "privacy": {"max_visits": 4, "max_visits_in_total": 9, "epsilon": "1", "delta": "1e-6"},
    }


def _square(lon: float, lat: float) -> dict[str, Any]:
    ring = [[lon + _HALF_DEGREES * x, lat + _HALF_DEGREES * y] for x, y in _CORNERS]
    return {"type": "Polygon", "coordinates": [ring]}
