"""How long reading road networks takes: every format that HUSHWAY_DATA holds, and the cache.

Seconds are CPU seconds, medians of some runs. HUSHWAY_DATA names a folder with a folder `roads`.
Run by hand: `python benchmarks/roads.py [runs]`.
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hushway.families.links.public.geoparquet import read_links_parquet, write_links_parquet
from hushway.families.links.public.read import read_roads
from hushway.families.links.public.roads import grid_zones

SOURCES: dict[str, dict[str, Any]] = {
    "monaco.osm.pbf": {},
    "liechtenstein.osm.pbf": {},
    "harrisburg.osm.pbf": {},
    "denver_osmnx_drive.graphml": {},
    # The files do not say: Ohio South in US feet is where Lima lies, and speeds look like miles.
    "gmns_lima": {"crs": "EPSG:3735", "speed_unit": "mph"},
    "porto_portugal.osm.pbf": {},
}


def median_seconds(runs: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return statistics.median(times)


def measure(source: Path, options: dict[str, Any], runs: int) -> None:
    roads, report = read_roads(source, **options)
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "roads.parquet"
        steps = {
            "read": lambda: read_roads(source, **options),
            "write cache": lambda: write_links_parquet(roads, kept),
            "read cache": lambda: read_links_parquet(kept),
            "zones": lambda: grid_zones(roads, 2000),
        }
        seconds = {name: median_seconds(runs, work) for name, work in steps.items()}
        same = read_links_parquet(kept).digest == roads.digest
    print(f"{source.name}: {roads.links:,} links, {roads.nodes:,} nodes, same digest: {same}")
    print("  " + ", ".join(f"{name} {taken:.2f} s" for name, taken in seconds.items()))
    for sentence in report.sentences:
        print(f"  {sentence}")


def main(runs: int = 3) -> None:
    data = os.environ.get("HUSHWAY_DATA")
    if data is None:
        print("HUSHWAY_DATA is not set: nothing to read.")
        return
    for name, options in SOURCES.items():
        source = Path(data) / "roads" / name
        if source.exists():
            measure(source, options, runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
