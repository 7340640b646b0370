"""How long reading road networks takes: every format that HUSHWAY_DATA holds, and the cache.

Seconds are CPU seconds, medians of some runs. HUSHWAY_DATA names a folder with a folder `roads`.
Run by hand: `python benchmarks/roads.py [runs]`.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from harness import data, positional, timed
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
        seconds = {name: timed(work, runs, time.process_time)[0] for name, work in steps.items()}
        same = read_links_parquet(kept).digest == roads.digest
    print(f"{source.name}: {roads.links:,} links, {roads.nodes:,} nodes, same digest: {same}")
    print("  " + ", ".join(f"{name} {taken:.2f} s" for name, taken in seconds.items()))
    for sentence in report.sentences:
        print(f"  {sentence}")


def main(runs: int = 3) -> None:
    sources = {name: data("roads", name) for name in SOURCES}
    if not any(sources.values()):
        print("HUSHWAY_DATA names no folder with roads: nothing to read.")
    for name, source in sources.items():
        if source is not None:
            measure(source, SOURCES[name], runs)


if __name__ == "__main__":
    main(int(positional("3")[0]))
