"""The smallest OD plan, for a rehearsal."""

from pathlib import Path
from typing import Any

from hushway.release.plans.little_city import (
    PLACES,
    TIME,
    clock,
    person_times,
    write_places,
    write_rows,
)


def little_od(folder: Path) -> dict[str, Any]:
    """Writes the files of a made-up city, and returns the plan's own tables."""
    header = ("person", "origin", "destination", "time")
    trips = (
        (f"u{i}", PLACES[i % 6][0], PLACES[(i + j) % 6][0], clock(4 * j, i))
        for i, j in person_times()
    )
    write_rows(folder / "trips.csv", header, trips)
    return {
        "data": {"name": "little", "trips": "trips.csv", "columns": {"person": "person"}},
        "places": write_places(folder),
        "time": TIME,
        "privacy": {"max_trips": 2, "epsilon": "1"},
    }
