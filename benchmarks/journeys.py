"""How well and how fast taps become journeys: riders whose true ends are known, on real timetables.

HUSHWAY_DATA names a folder with gtfs/cairns.zip (buses; the line with most trips is run behind
gates, with exits) and gtfs/nyc_subway.zip (gates without exits); without it there is a generated
town alone (buses, and a metro behind gates, with exits). Speed and memory are of the taps of one
of them, again and again with other cards, in processes of their own that take turns, against
DuckDB's bare group-by of the same file by person and time.

python benchmarks/journeys.py [people] [millions of taps, such as 1,10] [rounds]
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness import data, in_process, in_turns, measured, medians, positional, serve_job

MONDAYS = {"cairns": date(2014, 6, 2), "nyc_subway": date(2018, 7, 9), "town": date(2026, 3, 2)}
BARS = "at least 85% inferred, 90% of them within 400 m, 90% of journeys right"
DAYS = 3
DAY_US = 86_400_000_000


def read_feed(name: str, folder: Path) -> Any:
    """Returns a timetable, of which some line is behind gates."""
    from hushway.journeys.timetable import read_timetable
    from journey_riders import grid_feed

    if name == "town":
        return read_timetable(grid_feed(folder / "town"))
    timetable = read_timetable(data("gtfs", f"{name}.zip") or Path(name))
    if any(timetable.gated):
        return timetable
    runs = [0] * len(timetable.routes)
    for pattern, _ in timetable.trips.values():
        runs[timetable.patterns[pattern].route] += 1
    busiest = runs.index(max(runs))
    return replace(timetable, gated=tuple(n == busiest for n in range(len(runs))))


def generated(name: str, people: int, folder: Path) -> tuple[Any, Any]:
    """Returns a timetable and the taps on it with the truth, as a table."""
    import pyarrow as pa

    from hushway.journeys.calendars import day_number
    from journey_riders import Riders, Seen

    timetable = read_feed(name, folder)
    first = day_number(MONDAYS[name])
    riders = Riders(timetable=timetable, day=first, seed=7, exits=name != "nyc_subway")
    seen = zip(*sorted(set(riders.cards(people, DAYS))), strict=True)
    rows = dict(zip(Seen._fields, seen, strict=True))
    us = [first * DAY_US + second * 1_000_000 for second in rows["second"]]
    lines = [None if line < 0 else timetable.routes[line] for line in rows["route"]]
    columns = {
        "card": [f"card-{card}" for card in rows["card"]],
        "when": pa.array(us, pa.timestamp("us")),
        "stop": [timetable.stops[stop] for stop in rows["stop"]],
        "line": pa.array(lines, pa.string()),
        "action": ["on" if enters else "off" for enters in rows["enters"]],
    }
    return timetable, pa.table(
        {**columns, "us": us, "off": rows["off"], "goes_on": rows["goes_on"]}
    )


def source_of(path: Path, timetable: Any, first: int, counted: Any) -> Any:
    from hushway.journeys.rides import PublicRides
    from hushway.journeys.taps import TapColumns, TapsSource

    return TapsSource(
        path=path,
        columns=TapColumns(person="card", time="when", stop="stop", line="line", action="action"),
        rides=PublicRides(timetable=timetable, walk_m=1000, days=(first - 1, first + DAYS + 1)),
        counted=counted,
        span_us=(first * DAY_US, (first + DAYS + 1) * DAY_US),
        exits=("off",),
        all_taps=True,
    )


def told_of(path: Path, timetable: Any, first: int, counted: str) -> dict[tuple[str, int], Any]:
    """Returns the destination and the rule of every tap, by its card and time."""
    from hushway.engine.opening import open_session
    from hushway.engine.settings import EngineSettings
    from hushway.journeys.taps import taps_read

    with open_session(EngineSettings()) as session:
        reading = taps_read(session, source_of(path, timetable, first, counted))
        rows = session.fetch(session.rows(reading)).to_pylist()
    return {(row["person"], row["us"]): (row["destination"], row["rule"]) for row in rows}


def accuracy(name: str, people: str, folder: str) -> dict[str, Any]:
    """Returns how well the ends of rides and journeys are told."""
    from collections import Counter

    import numpy as np
    import pyarrow.parquet as pq

    from hushway.geography.locations import NOT_KNOWN
    from hushway.journeys.calendars import day_number
    from journey_riders import metres_between

    timetable, table = generated(name, int(people), Path(folder))
    file = Path(folder) / f"{name}.parquet"
    pq.write_table(table, file)
    first = day_number(MONDAYS[name])
    rides, journeys = (told_of(file, timetable, first, kind) for kind in ("rides", "journeys"))
    taps = [(row, (row["card"], row["us"])) for row in table.to_pylist()]
    entries = [(row, key) for row, key in taps if row["action"] == "on"]
    a_day = Counter((card, us // DAY_US) for _, (card, us) in entries)
    number = {stop: index for index, stop in enumerate(timetable.stops)}
    asked = [
        (row["off"], rides[key][0])
        for row, key in entries
        if rides[key][1] != "exit" and a_day[key[0], key[1] // DAY_US] > 1
    ]
    known = [(off, number[told]) for off, told in asked if told != NOT_KNOWN]
    apart = metres_between(timetable, *np.array(known).T)
    return {
        "taps": len(taps),
        "% exits": 100 * (1 - len(entries) / len(taps)),
        "% transfers": 100 * float(np.mean([row["goes_on"] for row, _ in entries])),
        "% of taps inferred": 100 * len(known) / len(asked),
        "% of them within 400 m": float(100 * np.mean(apart <= 400)),
        "% of journeys right": journeys_right(entries, journeys),
    }


def journeys_right(entries: list[Any], told: dict[tuple[str, int], Any]) -> float:
    """Returns the share of journeys that begin, go on and end with the taps that truly do."""
    right: list[bool] = []
    before = ""
    for row, key in entries:
        goes_on = told[key][1] == "transfer"
        if not row["goes_on"]:
            # A journey that is taken for a part of the one before makes both wrong.
            if goes_on and right and row["card"] == before:
                right[-1] = False
            right.append(not goes_on)
        elif right:
            right[-1] &= goes_on
        before = row["card"]
    return 100 * sum(right) / len(right)


def speed(job: str, path: str, folder: str) -> dict[str, Any]:
    """Returns the seconds and the memory of one way to go through the taps."""
    if job == "bare":
        import duckdb

        query = f"SELECT card, \"when\", count(*) FROM '{path}' GROUP BY ALL"  # noqa: S608
        count = f"SELECT count(*) FROM ({query})"  # noqa: S608
        done = measured(lambda: duckdb.sql(count).fetchall())
    else:
        done = measured(ridden(Path(path), Path(folder)))
    return {key: value for key, value in done.items() if key != "found"}


def _spent(path: str, folder: str, job: str) -> dict[str, Any]:
    return in_process(__file__, "speed", job, path, folder)


def ridden(path: Path, folder: Path) -> Callable[[], int]:
    """Returns what goes from the file to counts; the timetable is read, and code compiled."""
    import pyarrow.parquet as pq

    from hushway.engine.opening import open_session
    from hushway.engine.settings import EngineSettings
    from hushway.journeys.calendars import day_number
    from hushway.journeys.taps import taps_read

    timetable = read_feed("town", folder)
    source = source_of(path, timetable, day_number(MONDAYS["town"]), "journeys")
    source = replace(source, all_taps=False)

    def count(source: Any) -> int:
        with open_session(EngineSettings()) as session:
            rows = session.rows(taps_read(session, source))
            counts = rows.group_by("origin", "destination").aggregate(trips=rows.count())
            return len(session.fetch(counts))

    few = folder / "few.parquet"
    pq.write_table(pq.ParquetFile(path).read_row_group(0).slice(0, 1000), few)
    count(replace(source, path=few))
    return lambda: count(source)


def repeat(people: str, taps: str, folder: str) -> dict[str, Any]:
    """Writes the taps of the town so often, with other cards, as there are to be."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    _, table = generated("town", int(people), Path(folder))
    table = table.drop_columns(["us", "off", "goes_on"])
    path = Path(folder) / f"{taps}.parquet"
    with pq.ParquetWriter(path, table.schema) as writer:
        for number in range(int(taps) // len(table) + 1):
            cards = pc.binary_join_element_wise(table["card"], str(number), "-")
            writer.write_table(table.set_column(0, "card", cards))
    return {"path": str(path), "rows": pq.read_metadata(path).num_rows}


def run(kind: str, *rest: str) -> dict[str, Any]:
    return {"accuracy": accuracy, "repeat": repeat, "speed": speed}[kind](*rest)


def main() -> None:
    people, millions, rounds = positional("4000", "1,10", "3")
    feeds = [name for name in MONDAYS if name == "town" or data("gtfs", f"{name}.zip")]
    with TemporaryDirectory(prefix="hushway-bench-") as folder:
        print(f"{people} people on {DAYS} days; bars: {BARS}")
        for name in feeds:
            found = in_process(__file__, "accuracy", name, people, folder)
            print(f"{name:11}" + "  ".join(f"{key}: {value:,.1f}" for key, value in found.items()))
        print("\nbars: at most 6 times the bare group-by, at most 4 GB")
        for million in millions.split(","):
            made = in_process(__file__, "repeat", people, int(million) * 1_000_000, folder)
            runs = in_turns(
                ("bare", "journeys"),
                int(rounds),
                partial(_spent, made["path"], folder),
            )
            bare, ours = (medians(runs[job]) for job in ("bare", "journeys"))
            print(
                f"{made['rows']:,} taps: bare {bare['seconds']:.1f} s ({bare['cpu_s']:.1f} CPU), "
                f"{bare['peak_gb']:.2f} GB; journeys {ours['seconds']:.1f} s ({ours['cpu_s']:.1f} "
                f"CPU), {ours['peak_gb']:.2f} GB; {ours['seconds'] / bare['seconds']:.1f} times, "
                f"{ours['cpu_s'] / bare['cpu_s']:.1f} times the CPU"
            )


if __name__ == "__main__":
    serve_job(run)
    main()
