"""Times a whole release of a density: from events in a file to a sealed release folder.

The synthetic Paris: about 31 million events of 1,992,846 people at 1,303 towers, 989 areas, the 168
hours of a week. The release is what a steward runs, `hushway publish`, in a process of its own:
start, plan, geometry, check of the rows, bounding, noise, fit, picture, files, seal.

- Peer: DuckDB's bare `GROUP BY` of the same file by tower and hour, in a process that has loaded
  DuckDB already. It knows no persons, and neither bounds nor checks anything.

Bars: 15 times the bare count, and 4 GB.
"""

import resource
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from harness import in_process, options, peak_gb, serve_job, timed

PEOPLE = 1_992_846
ROUNDS = 3
BAR_RATIO, BAR_GB = 15.0, 4.0


def main(*, people: int = PEOPLE, rounds: int = ROUNDS) -> dict[str, Any]:
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        made = in_process(__file__, "make", folder, people)
        print(f"{made['events']:,} events, made in {made['seconds']:.0f} s; {rounds} rounds")
        hushway("ledger", "open", "plan.toml", "--epsilon", "9", "--delta", "2e-6", folder=folder)
        runs = []
        for number in range(rounds):
            bare = in_process(__file__, "bare", folder, people)
            cold = number == 0
            release = in_process(__file__, "release", folder, people)
            runs.append((bare, release))
            print(
                f"bare count {bare['seconds']:6.2f} s   release {release['seconds']:6.2f} s   "
                f"{release['seconds'] / bare['seconds']:5.1f} times   {release['peak_gb']:.2f} GB"
                f"{'   (geometry not cached yet)' if cold else ''}"
            )
    ratio = median(release["seconds"] / bare["seconds"] for bare, release in runs)
    peak = max(release["peak_gb"] for _, release in runs)
    print(f"bars: {BAR_RATIO:g} times the bare count ({ratio:.1f}), {BAR_GB:g} GB ({peak:.2f})")
    return {"events": made["events"], "runs": runs, "ratio": ratio, "peak_gb": peak}


def make(folder: Path, people: int) -> dict[str, float]:
    from hushway.families.density.city.paris import paris

    begin = perf_counter()
    city = paris(1, people=people)
    city.write(folder)
    template = files("hushway.families.density") / "template.toml"
    (folder / "plan.toml").write_text(template.read_text(encoding="utf-8"), encoding="utf-8")
    return {"events": len(city.person), "seconds": perf_counter() - begin}


def bare(folder: Path) -> dict[str, float]:
    import duckdb

    # The first answer as arrays loads much else, and so would the first parameter of a query.
    duckdb.connect().execute("SELECT 1").fetchnumpy()
    begin = perf_counter()
    rows = duckdb.connect().read_parquet(str(folder / "events.parquet"))
    rows.query(
        "events",
        "SELECT tower, epoch_us(time) // 3600000000 AS hour, count(*) AS events "
        "FROM events GROUP BY ALL",
    ).fetchnumpy()
    return {"seconds": perf_counter() - begin}


def release(folder: Path) -> dict[str, float]:
    import shutil

    seconds, _ = timed(lambda: hushway("publish", "--yes", "--anyway", "plan.toml", folder=folder))
    shutil.rmtree(folder / "release")
    return {"seconds": seconds, "peak_gb": peak_gb(resource.RUSAGE_CHILDREN)}


def hushway(*words: str, folder: Path) -> None:
    command = [sys.executable, "-c", "from hushway.cli.app import main; main()", *words]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)


def run_job(job: str, place: str, people: str) -> dict[str, float]:
    folder = Path(place)
    if job == "make":
        return make(folder, int(people))
    return bare(folder) if job == "bare" else release(folder)


if __name__ == "__main__":
    serve_job(run_job)
    main(**vars(options(__doc__, people=PEOPLE, rounds=ROUNDS)))
