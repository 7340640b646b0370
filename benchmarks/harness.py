"""What benchmarks share: clocks, processes of their own, tables beside bars, and kept results."""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from statistics import median
from typing import Any

RESULTS = Path("bench-results")


def timed(
    work: Callable[[], Any], runs: int = 1, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, Any]:
    """Returns the median of the seconds, and the last result."""
    seconds = []
    for _ in range(runs):
        start = clock()
        found = work()
        seconds.append(clock() - start)
    return median(seconds), found


def warm_seconds(
    work: Callable[[], Any], runs: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Returns the median of the seconds, after a run that compiles and fills caches."""
    work()
    return timed(work, runs, clock)[0]


def peak_gb(who: int = resource.RUSAGE_SELF) -> float:
    """Returns the most memory that this process, or the largest of its children, has had."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(who).ru_maxrss * unit / 1e9


def measured(work: Callable[[], Any]) -> dict[str, Any]:
    """Runs some work once: seconds, processor seconds of all threads, peak memory, and result."""
    wall, processor = time.perf_counter(), time.process_time()
    found = work()
    return {
        "seconds": time.perf_counter() - wall,
        "cpu_s": time.process_time() - processor,
        "peak_gb": peak_gb(),
        "found": found,
    }


def in_process(script: str, *job: object, **environment: str) -> dict[str, Any]:
    """Runs a job of a script in a process of its own.

    This process must stay small, because a child starts at the peak of its parent.
    """
    command = [sys.executable, script, "--job", *map(str, job)]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | environment
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def serve_job(run: Callable[..., Mapping[str, Any]]) -> None:
    """Runs the job that this process was started for by `in_process`, if any, and exits."""
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(run(*sys.argv[2:])))
        sys.exit()


def in_turns(
    jobs: Iterable[str], rounds: int, run: Callable[[str], dict[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """Runs all jobs in every round, so that what else the machine does meets all of them."""
    found: dict[str, list[dict[str, Any]]] = {job: [] for job in jobs}
    for _ in range(rounds):
        for job, runs in found.items():
            runs.append(run(job))
    return found


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Returns the median of every figure."""
    return {key: median(run[key] for run in runs) for key in runs[0]}


def options(description: str | None, **known: str | int) -> argparse.Namespace:
    """Reads options: a flag with its help, or a number with its default."""
    parser = argparse.ArgumentParser(description=description)
    for name, about in known.items():
        if isinstance(about, str):
            parser.add_argument(f"--{name}", action="store_true", help=about)
        else:
            parser.add_argument(f"--{name}", type=int, default=about)
    return parser.parse_args()


def positional(*defaults: str) -> tuple[str, ...]:
    """Returns the words of the command line, and defaults for those that are left out."""
    given = sys.argv[1:]
    return (*given, *defaults[len(given) :])


def print_figures(
    figures: Mapping[str, float], bars: Mapping[str, str] | None = None, form: str = ",.4f"
) -> None:
    """Prints every figure with the bar that stands beside it, by the beginning of its name."""
    width = max(map(len, figures))
    for name, value in figures.items():
        bar = next((text for start, text in (bars or {}).items() if name.startswith(start)), "")
        print(f"{name:<{width}} {value:>18{form}}  {bar}".rstrip(), flush=True)


def keep(name: str, results: object) -> None:
    """Keeps results as JSON."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n")


def data(*parts: str) -> Path | None:
    """Returns a file or folder of the real data that HUSHWAY_DATA names, if it is there."""
    path = Path(os.environ.get("HUSHWAY_DATA", "absent")).joinpath(*parts)
    return path if path.exists() else None


def whole_days(zone: str, first: date, days: int, minutes: int, **others: Any) -> Any:
    """Returns the periods of some whole days."""
    from hushway.geography.periods import Periods

    return Periods(
        zone=zone,
        first_day=first,
        last_day=first + timedelta(days=days - 1),
        opens=0,
        closes=1440,
        minutes=minutes,
        **others,
    )


def write_rows(table: Any, integers: Path, text: Path | None, **prefixes: str) -> None:
    """Writes rows with ids as integers and, if a second file is named, as text with prefixes."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    integers.parent.mkdir(exist_ok=True)
    pq.write_table(table, integers, row_group_size=1_000_000)
    if text is not None:
        for name, prefix in prefixes.items():
            ids = pc.binary_join_element_wise(prefix, table[name].cast(pa.string()), "")
            table = table.set_column(table.column_names.index(name), name, ids)
        text.parent.mkdir(exist_ok=True)
        pq.write_table(table, text, row_group_size=1_000_000)
