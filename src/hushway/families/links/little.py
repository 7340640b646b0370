"""The smallest plan for links, for a rehearsal."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from hushway.release.plans.little_city import PEOPLE, TIME, clock, write_rows, write_shapes

_COLUMNS = [-8.60 + 0.0015 * step for step in range(6)]


def little_links(folder: Path) -> dict[str, Any]:
    """Writes the files of a made-up city, and returns the plan's own tables."""
    traces = (
        (f"u{i}", clock(8, step), lon, 41.10)
        for i in range(PEOPLE)
        for step, lon in enumerate(_COLUMNS)
    )
    write_rows(folder / "traces.csv", ("person", "time", "lon", "lat"), traces)
    write_shapes(folder / "roads.geojson", _streets())
    return {
        "data": {"name": "little", "traces": "traces.csv"},
        "roads": {"file": "roads.geojson"},
        "time": TIME,
        "privacy": {"max_items": 8, "epsilon": "1", "delta": "1e-6"},
    }


def _streets() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields the blocks of two streets side by side, and two that join them."""
    rows = [[[lon, lat] for lon in _COLUMNS] for lat in (41.10, 41.101)]
    blocks = [pair for row in rows for pair in pairwise(row)]
    blocks += [(rows[0][at], rows[1][at]) for at in (0, -1)]
    for number, ends in enumerate(blocks):
        facts = {"link_id": f"b{number}", "class": "primary", "speed": 50}
        yield facts, {"type": "LineString", "coordinates": list(ends)}
