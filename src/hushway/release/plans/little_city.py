"""A made-up city of a few streets, for which every release type can be run in a moment.

Nobody lives there: what is counted in it protects nobody and is thrown away. A family says in its
own `little.py` which of these files its little plan needs.
"""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

DAY: Final = "2026-03-02"
PEOPLE: Final = 40
PLACES: Final = tuple((f"p{i}", -8.60 + 0.01 * (i % 3), 41.10 + 0.01 * (i // 3)) for i in range(6))
# What the plans of all families say of time.
TIME: Final = {"zone": "Europe/Lisbon", "first_day": DAY, "last_day": DAY, "minutes": 360}
_ZONES: Final = ("west", "middle", "east")
_TIMES: Final = (1, 2, 3, 4, 5)  # of a person, four hours apart


def write_places(folder: Path) -> dict[str, Any]:
    """Writes the list of places, and returns the table [places] of a plan."""
    rows = ((key, key, lon, lat, _ZONES[i % 3]) for i, (key, lon, lat) in enumerate(PLACES))
    write_rows(folder / "places.csv", ("id", "name", "lon", "lat", "zone"), rows)
    return {"file": "places.csv"}


def write_taps(folder: Path) -> str:
    """Writes where each person was, and returns the name of the file."""
    rows = (
        (f"u{i}", PLACES[(i + i * j) % len(PLACES)][0], clock(4 * j, i)) for i, j in person_times()
    )
    write_rows(folder / "taps.csv", ("person", "place", "time"), rows)
    return "taps.csv"


def person_times() -> Iterable[tuple[int, int]]:
    """Yields every person with every time of the day."""
    return ((i, j) for i in range(PEOPLE) for j in _TIMES)


def clock(hour: int, minute: int) -> str:
    """Returns a time of the day."""
    return f"{DAY}T{hour:02d}:{minute:02d}:00"


def write_rows(path: Path, header: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    """Writes a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def write_shapes(path: Path, shapes: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Writes properties and geometries as GeoJSON."""
    features = [
        {"type": "Feature", "properties": properties, "geometry": geometry}
        for properties, geometry in shapes
    ]
    text = json.dumps({"type": "FeatureCollection", "features": features})
    path.write_text(text, encoding="utf-8")
