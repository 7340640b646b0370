"""Runs every benchmark, prints ratios beside their bars and saves them as JSON."""

import sys
from importlib import import_module

from harness import keep

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


def main(chosen: list[str]) -> None:
    for name in chosen or BENCHMARKS:
        print(f"\n== {name} ==", flush=True)
        keep(name, import_module(name).main())


if __name__ == "__main__":
    main(sys.argv[1:])
