"""CSV files read line by line against DuckDB's own reader, which lets quotes run over lines.

Five million rows of six columns, four of which are needed, plain and compressed; medians of rounds
that take turns. DuckDB's reader is given what it was given before it was replaced.
"""

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import duckdb

from hushway.engine.csv_lines import CsvStream
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.numerics.threads import processors
from hushway.tables.layout import Layout, layout_of

ROWS = 5_000_000
ROUNDS = 5
BAR = 1.5
_WRITE = """
COPY (
    SELECT 'card-' || hash(i) % 400000 AS person, 'L' || hash(7 * i) % 1303 AS origin,
        'L' || hash(11 * i) % 1303 AS destination,
        strftime(TIMESTAMP '2026-03-02 06:00:00' + to_seconds(i % 600000), '%Y-%m-%dT%H:%M:%S')
            AS time, 'note ' || i AS note, i AS number
    FROM range({rows}) AS numbers(i)
) TO '{path}' (HEADER)
"""
_ASK = "SELECT count(*), max(c0), max(c1), max(c2), max(c3) FROM {rows}"


def main(rows: int = ROWS, rounds: int = ROUNDS) -> dict[str, Any]:
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        ratios = {}
        for ending in ("csv", "csv.gz"):
            path = Path(name) / f"trips.{ending}"
            duckdb.execute(_WRITE.format(rows=rows, path=path))
            ratios[ending] = compared(
                layout_of(TripsSource(path, TripColumns(person="person"))), rounds
            )
    worst = max(ratios.values())
    print(f"bar: at most {BAR:g} times DuckDB's reader ({worst:.2f})")
    return {"rows": rows, "ratios": ratios, "within_bars": worst <= BAR}


def compared(layout: Layout, rounds: int) -> float:
    """Returns how many times as long our reader takes."""
    path = layout.files.paths[0]
    columns = {f"c{i}": "VARCHAR" for i in range(layout.width)}
    theirs = f"read_csv('{path}', columns = {columns}, header = true, nullstr = '')"
    with duckdb.connect() as connection:
        connection.register("lines", CsvStream(layout, processors()))
        seconds: dict[str, list[float]] = {"lines": [], theirs: []}
        # Compiles, and fills the system's cache of files.
        if len({_ask(connection, reader)[0] for reader in seconds}) > 1:
            sys.exit("The readers do not read the same.")
        for _ in range(rounds):
            for reader, took in seconds.items():
                took.append(_ask(connection, reader)[1])
    ours, bare = (median(took) for took in seconds.values())
    print(f"{path.name:12}{ours:8.2f} s, DuckDB's reader {bare:.2f} s: {ours / bare:.2f} times")
    return ours / bare


def _ask(connection: duckdb.DuckDBPyConnection, reader: str) -> tuple[Any, float]:
    start = perf_counter()
    answer = connection.execute(_ASK.format(rows=reader)).fetchone()
    return answer, perf_counter() - start


if __name__ == "__main__":
    main()
