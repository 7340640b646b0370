"""Times a whole release of a density: from events in a file to a sealed release folder.

The synthetic Paris: about 31 million events of 1,992,846 people at 1,303 towers, 989 areas, the 168
hours of a week. The release is what a steward runs, `hushway publish`, in a process of its own:
start, plan, geometry, check of the rows, bounding, noise, fit, picture, files, seal.

- Peer: DuckDB's bare `GROUP BY` of the same file by tower and hour, in a process that has loaded
  DuckDB already. It knows no persons, and neither bounds nor checks anything.

Bars: 15 times the bare count, and 4 GB.
"""

import argparse
import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

PEOPLE = 1_992_846
ROUNDS = 3
BAR_RATIO, BAR_GB = 15.0, 4.0


def main(*, people: int = PEOPLE, rounds: int = ROUNDS) -> dict[str, Any]:
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        made = in_process("make", folder, people)
        print(f"{made['events']:,} events, made in {made['seconds']:.0f} s; {rounds} rounds")
        hushway("ledger", "open", "plan.toml", "--epsilon", "9", "--delta", "2e-6", folder=folder)
        runs = []
        for number in range(rounds):
            bare = in_process("bare", folder, people)
            cold = number == 0
            release = in_process("release", folder, people)
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


def in_process(job: str, folder: Path, people: int) -> dict[str, Any]:
    """Runs a job in a process of its own; this one stays small, for a child starts at its peak."""
    command = [sys.executable, __file__, "--job", job, "--folder", str(folder)]
    command += ["--people", str(people)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(answer)
    return result


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
    import resource
    import shutil

    begin = perf_counter()
    hushway("publish", "--yes", "plan.toml", folder=folder)
    seconds = perf_counter() - begin
    shutil.rmtree(folder / "release")
    kibibytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"seconds": seconds, "peak_gb": kibibytes * 1024 / 1e9}


def hushway(*words: str, folder: Path) -> None:
    command = [sys.executable, "-c", "from hushway.cli.app import main; main()", *words]
    subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL)


def run_job(job: str, folder: Path, people: int) -> dict[str, float]:
    if job == "make":
        return make(folder, people)
    return bare(folder) if job == "bare" else release(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--job")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    if asked.job:
        print(json.dumps(run_job(asked.job, asked.folder, asked.people)))
    else:
        main(people=asked.people, rounds=asked.rounds)
