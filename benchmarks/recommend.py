"""What `recommend` takes for a metro of 653 stations by hour: processor time and memory.

A week of 560,000 trips of 110,000 cards is guessed over generated stations; no trip is there. The
process is one of its own, as the command line starts it, with all that it loads and compiles.
"""

import csv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from harness import in_process, measured, print_figures, serve_job

STATIONS, TRIPS, CARDS = 653, 560_000, 110_000
BARS = {"processor seconds": "bar 60", "peak GB": "bar 1"}


def write_plan(folder: Path) -> Path:
    """Writes a plan by hour over generated stations, and returns it."""
    from hushway.steward.init import init

    east, north = 0.1 * np.random.default_rng(7).normal(size=(2, STATIONS))
    with (folder / "places.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "lon", "lat", "zone"])
        for station, (x, y) in enumerate(zip(east, north, strict=True)):
            writer.writerow([station, x - 0.1, y + 51.5, f"{x > 0} {y > 0}"])
    rows = folder / "trips.csv"
    rows.write_text("card,origin,destination,time\n", encoding="utf-8")
    return init(
        rows,
        places=folder / "places.csv",
        zone="Europe/London",
        first_day="2026-03-02",
        last_day="2026-03-08",
        options={"time.opens": "00:00", "time.closes": "24:00"},
        output=folder / "plan.toml",
    ).file


def advised(folder: str) -> dict[str, Any]:
    """Asks for a recommendation, and returns what that took."""
    from hushway.steward.recommend import recommend

    took = measured(lambda: recommend(folder + "/plan.toml", trips=TRIPS, people=CARDS))
    proposal = took.pop("found").proposal
    return took | {"proposed": 0 if proposal is None else 1}


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    with TemporaryDirectory() as folder:
        write_plan(Path(folder))
        took = in_process(__file__, folder)
    figures = {
        "processor seconds": took["cpu_s"],
        "peak GB": took["peak_gb"],
        "coarser plans proposed": took["proposed"],
    }
    print_figures(figures, BARS, ",.2f")
    return figures


if __name__ == "__main__":
    serve_job(advised)
    main()
