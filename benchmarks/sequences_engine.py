"""Times the way from taps in files to the counts of every step of a prefix tree.

A city like the Metro of the 2012 paper: 68 stations on 4 lines, about 850,000 daily records of 4.2
taps each over a week; ten times as many with --large. Every job runs in a process of its own.

- Peer: DuckDB's bare `GROUP BY` of taps by person and day. It counts taps of a record and neither
  orders them, nor cuts or bounds anything.
- Peer: numpy's lexicographic sort of the same taps, already in memory, by (person, time).

Bars: steps of a tree of 20 stops in 0.5 s (ten times that at the large size), and 4 GB.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from harness import (
    in_process,
    in_turns,
    medians,
    options,
    peak_gb,
    serve_job,
    whole_days,
    write_rows,
)

PLACES, LINES = 68, 4
PEOPLE, DAYS_OUT, WINDOW_DAYS = 170_000, 5, 7
MEAN_TAPS, MOST_TAPS = 4.21, 90
HEIGHT, THRESHOLD = 20, 30
ROUNDS = 3
FIRST_DAY_US = 1_772_409_600_000_000  # Monday 2026-03-02
DAY_US = 86_400_000_000
BAR_STEPS_S, BAR_GB = 0.5, 4.0

# name: (kind of ids, most records of a person)
JOBS: dict[str, tuple[str, int]] = {
    "bare group by": ("integers", 0),
    "numpy sort": ("integers", 0),
    "sequences, 5 records": ("integers", 5),
    "sequences, 2 records": ("integers", 2),
    "sequences, 2, with times": ("integers", 2),
    "bare group by, text ids": ("text", 0),
    "sequences, 2, text ids": ("text", 2),
}
LARGE_JOBS = ("bare group by", "sequences, 5 records", "sequences, 2 records")


def main(*, large: bool = False, rounds: int = ROUNDS) -> dict[str, Any]:
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        rows = in_process(__file__, "generate", folder)["rows"]
        print(f"{rows:,} taps; seconds are medians of {rounds} rounds")
        summary: dict[str, Any] = {"rows": rows, **measure(folder, list(JOBS), rounds)}
        if large:
            rows = in_process(__file__, "generate large", folder)["rows"]
            print(f"\n{rows:,} taps, once")
            summary["large"] = {"rows": rows, **measure(folder, list(LARGE_JOBS), 1, scale=10)}
    return summary


def measure(folder: Path, jobs: list[str], rounds: int, *, scale: int = 1) -> dict[str, Any]:
    runs = in_turns(jobs, rounds, lambda name: in_process(__file__, name, folder))
    print(f"{'':28}{'read s':>9}{'steps s':>9}{'steps':>7}{'records':>11}{'peak GB':>9}")
    results = {}
    for name, some in runs.items():
        results[name] = result = medians(some)
        print(
            f"{name:28}{result['read_s']:9.2f}{result['steps_s']:9.3f}{result['steps']:7.0f}"
            f"{result['records']:11,.0f}{result['peak_gb']:9.2f}"
        )
    ours = [result for name, result in results.items() if name.startswith("sequences")]
    steps_s = max(result["steps_s"] for result in ours)
    peak = max(result["peak_gb"] for result in ours)
    print(f"bars: steps in {BAR_STEPS_S * scale:g} s ({steps_s:.2f}), {BAR_GB:g} GB ({peak:.2f})")
    return {"jobs": results, "steps_s": steps_s, "peak_gb": peak}


def generate(folder: Path, *, part: int, text: bool = False) -> int:
    """Writes one part of the taps, with people of its own, in the order of time."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(part)
    records = PEOPLE * DAYS_OUT
    lengths = np.minimum(rng.geometric(1 / MEAN_TAPS, records), MOST_TAPS)
    person = np.repeat(np.repeat(np.arange(PEOPLE) + part * PEOPLE, DAYS_OUT), lengths)
    day = np.repeat(np.tile(np.arange(DAYS_OUT), PEOPLE), lengths)
    taps = len(person)
    popular = np.cumsum(np.arange(1, PLACES + 1) ** -0.8)
    place = np.searchsorted(popular, rng.random(taps) * popular[-1])
    since = day * DAY_US + rng.integers(5 * 3600, 23 * 3600, taps) * 1_000_000
    order = np.argsort(since, kind="stable")
    table = pa.table(
        {
            "person": person[order],
            "location": place[order],
            "time": pa.array(FIRST_DAY_US + since[order], pa.timestamp("us")),
        }
    )
    integers, texts = (folder / kind / f"{part}.parquet" for kind in ("integers", "text"))
    write_rows(table, integers, texts if text else None, person="card-", location="stop-")
    return taps


def run_job(name: str, place: str) -> dict[str, float]:
    """Runs one measurement, or writes taps."""
    folder = Path(place)
    if name == "generate":
        return {"rows": generate(folder, part=0, text=True)}
    if name == "generate large":
        first = pq_rows(folder / "integers")
        return {"rows": first + sum(generate(folder, part=i) for i in range(1, 10))}
    kind, most = JOBS[name]
    # What is loaded before does not count.
    import hushway.families.sequences.rows.counter  # noqa: F401

    if name.startswith("bare"):
        found = bare(folder / kind)
    elif name.startswith("numpy"):
        found = sorted_by_numpy(folder / kind)
    else:
        found = sequences(folder / kind, kind, most, keep_times="times" in name)
    return {**found, "peak_gb": peak_gb()}


def pq_rows(folder: Path) -> int:
    import pyarrow.parquet as pq

    return sum(int(pq.read_metadata(file).num_rows) for file in folder.glob("*.parquet"))


def bare(folder: Path) -> dict[str, float]:
    import duckdb

    # The first answer as arrays loads much else, and so would the first parameter of a query.
    duckdb.connect().execute("SELECT 1").fetchnumpy()
    begin = perf_counter()
    connection = duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(folder)})
    connection.execute("SET preserve_insertion_order = false")
    rows = connection.read_parquet(f"{folder}/*.parquet")
    found = rows.query(
        "taps",
        "SELECT person, epoch_us(time) // 86400000000 AS day, count(*) AS taps "
        "FROM taps GROUP BY ALL",
    ).fetchnumpy()
    took = perf_counter() - begin
    return {"read_s": took, "steps_s": 0.0, "steps": 0, "records": len(found["taps"])}


def sorted_by_numpy(folder: Path) -> dict[str, float]:
    import numpy as np
    import pyarrow.parquet as pq

    table = pq.read_table(folder)
    person, time = (table[name].to_numpy().astype(np.int64) for name in ("person", "time"))
    begin = perf_counter()
    order = np.lexsort((time, person))
    took = perf_counter() - begin
    return {"read_s": took, "steps_s": 0.0, "steps": 0, "records": len(order)}


def sequences(folder: Path, kind: str, most: int, *, keep_times: bool) -> dict[str, float]:
    from datetime import date

    import numpy as np

    from hushway.engine.key import BoundingKey
    from hushway.engine.settings import EngineSettings
    from hushway.families.sequences.public.prefixes import first_prefixes
    from hushway.families.sequences.public.taxonomy import Taxonomy
    from hushway.families.sequences.rows.counter import EngineSequences
    from hushway.families.sequences.rows.sequences import SequenceRule, TapColumns, TapsSource
    from hushway.geography.locations import Labels, Location, Locations
    from hushway.privacy.bound import Unit
    from hushway.privacy.query import Query

    prefix = "stop-" if kind == "text" else ""
    places = tuple(
        Location(id=f"{prefix}{i}", name="", lon=i / 100, lat=0.0, zone="") for i in range(PLACES)
    )
    codes = (np.arange(PLACES) * LINES // PLACES).astype(np.int32)
    line = Labels(column="line", codes=codes, names=tuple(map(str, range(LINES))))
    week = whole_days("America/Detroit", date(2026, 3, 2), WINDOW_DAYS, minutes=120)
    taxonomy = Taxonomy(locations=Locations(places), levels=(line,))
    rule = SequenceRule(
        max_stops=HEIGHT, max_records=most, window=week, record="day", keep_times=keep_times
    )
    counter = EngineSequences(
        source=TapsSource(folder, TapColumns()),
        taxonomy=taxonomy,
        rule=rule,
        unit=Unit.PERSON,
        key=BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS)),
        settings=EngineSettings(memory_limit="2GB"),
    )
    cells = first_prefixes(taxonomy, periods=rule.periods)
    begin = perf_counter()
    first = counter.count(Query(name="records", cells=cells))
    read_s, steps, begin = perf_counter() - begin, 1, perf_counter()
    kept = first.cells
    while len(kept) and cells.stop < HEIGHT:
        cells = cells.below(kept)
        found = counter.count(Query(name="records", cells=cells))
        kept = found.cells[found.values >= THRESHOLD]
        steps += 1
    steps_s = perf_counter() - begin
    records = int(first.values.sum())
    return {"read_s": read_s, "steps_s": steps_s, "steps": steps, "records": records}


if __name__ == "__main__":
    serve_job(run_job)
    main(**vars(options(__doc__, large="also ten times as many taps", rounds=ROUNDS)))
