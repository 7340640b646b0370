"""The little city that the little plans of all families are about, and how to write its files."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DAY = "2026-03-02"
SOON = f"{DAY}T11:30:00"
TIME = {"zone": "Europe/Lisbon", "first_day": DAY, "last_day": DAY, "minutes": 720}
PLACES = [("a", -8.60, 41.10), ("b", -8.59, 41.10), ("c", -8.60, 41.11), ("d", -8.59, 41.11)]


def hour(number: int) -> str:
    """Returns half past an hour of the day."""
    return f"{DAY}T{number:02d}:30:00"


def write_table(path: Path, header: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Writes a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)


def write_features(path: Path, features: list[dict[str, Any]]) -> None:
    """Writes a GeoJSON file."""
    facts = {"type": "FeatureCollection", "features": features}
    path.write_text(json.dumps(facts), encoding="utf-8")
