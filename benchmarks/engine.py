"""Bounded counts of 27 million trips against DuckDB's bare count of the same rows.

Two million people with a skewed number of trips, 13.5 on average, between 1,303 places in a week of
half-hours. Every measurement is a process of its own, so that its peak memory is its own; they take
turns, and the ratio of medians is what counts. `--large` adds ten times as many rows.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness import (
    in_process,
    in_turns,
    measured,
    medians,
    options,
    serve_job,
    whole_days,
    write_rows,
)

PLACES = 1_303
PEOPLE = 2_000_000
MEAN_TRIPS = 13.5
ROUNDS = 3
FIRST_DAY_US = 1_772_409_600_000_000  # Monday 2026-03-02
HOUR_US = 3_600_000_000
BAR_RATIO, BAR_GB, BAR_LARGE_GB = 10.0, 4.0, 8.0
PARTS_LARGE = 10

# name: (kind of ids, limit or None for the bare count)
JOBS: dict[str, tuple[str, int | None]] = {
    "bare": ("integers", None),
    "bounded, 30 trips": ("integers", 30),
    "bounded, 10 trips": ("integers", 10),
    "bare, text ids": ("text", None),
    "bounded, 30 trips, text ids": ("text", 30),
}


def main(*, large: bool = False, rounds: int = ROUNDS) -> dict[str, Any]:
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        rows = in_process(__file__, "generate", folder)["rows"]
        print(f"{rows:,} rows; seconds and CPU seconds are medians of {rounds} rounds")
        results = measure(folder, dict(JOBS), rounds)
        summary: dict[str, Any] = {"rows": rows, **summarise(results)}
        if large:
            total = rows + in_process(__file__, "generate more", folder)["rows"]
            print(f"\n{total:,} rows, once")
            jobs = {name: JOBS[name] for name in ("bare", "bounded, 30 trips")}
            summary["large"] = {"rows": total, **summarise(measure(folder, jobs, 1), BAR_LARGE_GB)}
    return summary


def measure(
    folder: Path, jobs: dict[str, tuple[str, int | None]], rounds: int
) -> dict[str, dict[str, float]]:
    runs = in_turns(jobs, rounds, lambda name: in_process(__file__, name, folder))
    return {
        name: medians(some) | {"peak_gb": max(run["peak_gb"] for run in some)}
        for name, some in runs.items()
    }


def summarise(results: dict[str, dict[str, float]], most_gb: float = BAR_GB) -> dict[str, Any]:
    print(f"{'':30}{'s':>8}{'CPU s':>8}{'peak GB':>9}{'x bare':>8}{'x CPU':>8}")
    for name, result in results.items():
        bare = results["bare, text ids" if "text" in name else "bare"]
        result["ratio"] = result["seconds"] / bare["seconds"]
        result["cpu_ratio"] = result["cpu_s"] / bare["cpu_s"]
        print(
            f"{name:30}{result['seconds']:8.1f}{result['cpu_s']:8.1f}"
            f"{result['peak_gb']:9.2f}{result['ratio']:8.2f}{result['cpu_ratio']:8.2f}"
        )
    bounded = [result for name, result in results.items() if "bounded" in name]
    worst = max(result["ratio"] for result in bounded)
    peak = max(result["peak_gb"] for result in bounded)
    print(f"bars: at most {BAR_RATIO:g} x bare ({worst:.2f}), {most_gb:g} GB ({peak:.2f})")
    return {
        "jobs": results,
        "worst_ratio": worst,
        "peak_gb": peak,
        "within_bars": worst <= BAR_RATIO and peak <= most_gb,
    }


def generate(folder: Path, *, part: int, text: bool = False) -> int:
    """Writes one part of the trips, with people of its own, in the order of time."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(part)
    each = np.maximum(1, np.round(rng.lognormal(np.log(MEAN_TRIPS) - 0.5, 1.0, PEOPLE)))
    person = np.repeat(rng.permutation(PEOPLE) + part * PEOPLE, each.astype(np.int64))
    rows = len(person)
    rng.shuffle(person)
    popular = np.cumsum(np.arange(1, PLACES + 1) ** -0.8)
    origin, destination = (
        np.searchsorted(popular, rng.random(rows) * popular[-1]) for _ in range(2)
    )
    destination = np.where(destination == origin, (destination + 1) % PLACES, destination)
    busy = np.array([1, 1, 1, 1, 2, 6, 20, 45, 50, 35, 28, 28] * 2, dtype=float)
    busy[12:] = [28, 28, 30, 38, 48, 50, 38, 25, 18, 12, 8, 4]
    hour = rng.choice(24, rows, p=busy / busy.sum()) + 24 * rng.integers(0, 7, rows)
    since = hour * HOUR_US + rng.integers(0, 3600, rows) * 1_000_000
    order = np.argsort(since, kind="stable")
    table = pa.table(
        {
            "person": person[order],
            "origin": origin[order],
            "destination": destination[order],
            "time": pa.array(FIRST_DAY_US + since[order], pa.timestamp("us")),
        }
    )
    integers, texts = (folder / kind / f"{part}.parquet" for kind in ("integers", "text"))
    prefixes = {"person": "card-", "origin": "stop-", "destination": "stop-"}
    write_rows(table, integers, texts if text else None, **prefixes)
    return rows


def run_job(name: str, place: str) -> dict[str, float]:
    """Runs one measurement, or writes trips."""
    folder = Path(place)
    if name == "generate":
        return {"rows": generate(folder, part=0, text=True)}
    if name == "generate more":
        return {"rows": sum(generate(folder, part=i) for i in range(1, PARTS_LARGE))}
    kind, budget_limit = JOBS[name]
    count = bare_count if budget_limit is None else bounded_count
    # What is loaded before does not count.
    import hushway.families.od.rows.counter  # noqa: F401

    return measured(lambda: count(folder / kind, kind, budget_limit or 0))


def bare_count(folder: Path, _: str, __: int) -> int:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "4GB", "temp_directory": str(folder)})
    connection.execute("SET preserve_insertion_order = false")
    # A parameter would do, but the first parameter of a query loads much else.
    found = (
        connection.read_parquet(f"{folder}/*.parquet")
        .query(
            "trips",
            "SELECT origin, destination, epoch_us(time) // 1800000000 % 48 AS period, "
            "count(*) AS trips FROM trips GROUP BY ALL",
        )
        .fetchnumpy()
    )
    return int(found["trips"].sum())


def bounded_count(folder: Path, kind: str, budget_limit: int) -> int:
    from datetime import date

    from hushway.engine.key import BoundingKey
    from hushway.engine.settings import EngineSettings
    from hushway.families.od.public.cells import ODCells
    from hushway.families.od.rows.counter import EngineTrips
    from hushway.families.od.rows.trips import TripColumns, TripsSource
    from hushway.geography.locations import Location, Locations
    from hushway.privacy.bound import Unit
    from hushway.privacy.query import Query

    prefix = "stop-" if kind == "text" else ""
    places = (
        Location(id=f"{prefix}{i}", name="", lon=i / 100, lat=0.0, zone="") for i in range(PLACES)
    )
    week = whole_days("America/Detroit", date(2026, 3, 2), 7, minutes=30)
    cells = ODCells(locations=Locations(tuple(places)), periods=week)
    counter = EngineTrips(
        source=TripsSource(folder, TripColumns(person="person")),
        cells=cells,
        unit=Unit.PERSON,
        max_trips=budget_limit,
        key=BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS)),
        settings=EngineSettings(memory_limit="4GB"),
    )
    return int(counter.count(Query(name="trips", cells=cells)).values.sum())


if __name__ == "__main__":
    serve_job(run_job)
    main(**vars(options(__doc__, large="also ten times as many rows", rounds=ROUNDS)))
