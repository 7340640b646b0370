"""The smallest plan for sequences, for a rehearsal."""

from pathlib import Path
from typing import Any

from hushway.release.plans.little_city import TIME, write_places, write_taps


def little_sequences(folder: Path) -> dict[str, Any]:
    """Writes the files of a made-up city, and returns the plan's own tables."""
    return {
        "data": {"name": "little", "taps": write_taps(folder), "columns": {"person": "person"}},
        "places": write_places(folder),
        "time": TIME,
        "taxonomy": {"columns": ["zone"]},
        "records": {"max_stops": 4},
        "privacy": {"epsilon": "1"},
    }
