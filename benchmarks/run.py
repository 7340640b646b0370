"""Runs every benchmark, prints ratios beside their bars and saves them as JSON."""

import json
import sys
from importlib import import_module
from pathlib import Path

BENCHMARKS = (
    "start",
    "noise",
    "csv_lines",
    "engine",
    "solver",
    "od_tables",
    "sequences",
    "sequence_utility",
    "sequences_engine",
    "density_geometry",
    "visits_engine",
    "earth_movers",
    "density",
    "roads",
    "matching",
    "movements",
    "link_coverage",
    "cluster",
    "dispatch",
    "network_design",
    "workbench",
)
RESULTS = Path("bench-results")


def main(chosen: list[str]) -> None:
    RESULTS.mkdir(exist_ok=True)
    for name in chosen or BENCHMARKS:
        print(f"\n== {name} ==", flush=True)
        measured = import_module(name).main()
        (RESULTS / f"{name}.json").write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
