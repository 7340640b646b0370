"""Bounded counts on one machine and on a Spark cluster of two workers, against bare group-bys.

Events of people with a skewed number of them, 13.5 on average, between 1,303 places in a week. They
are counted as trips (at most 30 of a person) and as visits, by DuckDB in this process and by a real
standalone cluster on this machine: one master, two workers with a core each. The peers are each
engine's own bare group-by of the same rows by person, which neither bounds nor checks anything.

    python benchmarks/cluster.py                  2.7 and 27 million events
    python benchmarks/cluster.py 2.7              so many millions
    python benchmarks/cluster.py 2.7 skew 27 270  all that pages quote: 15 GB of disk, half an hour
    python benchmarks/cluster.py traces           positions matched to roads, and nothing else

`skew` is one person with ten million trips among others. Positions are matched at the end of every
run. Each run adds what it found to bench-results/cluster.json.

Bars: on the cluster, trips in at most 4 times the cluster's own group-by by person, and the same
integers as on one machine; on one machine at most 8 GB. One machine is measured and told first, so
that something is known if the cluster takes too long.
"""

import json
import os
import resource
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from harness import whole_days

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

RESULT = Path("bench-results/cluster.json")
PLACES = 1_303
EVENTS_OF_A_PERSON = 13.5
MAX_TRIPS, MAX_VISITS, MOST_COUNTED = 30, 30, 60
MILLIONS = ("2.7", "27")
SKEW = "skew"
FILES = 8
EXECUTOR_MB = 2_000
TRAVELLERS = 5_000
BAR_RATIO, BAR_GB = 4.0, 8.0
TIRELESS, OTHERS = 10_000_000, 700_000
_GENERATE = """
    COPY (
        SELECT
            CAST({person} AS BIGINT) AS person,
            CAST(floor({places} * pow(random(), 2)) AS BIGINT) AS origin,
            CAST(floor({places} * pow(random(), 2)) AS BIGINT) AS destination,
            TIMESTAMP '2026-03-02' + to_seconds(CAST(floor(random() * 604800) AS BIGINT)) AS time
        FROM range({rows})
    ) TO '{file}' (FORMAT parquet, ROW_GROUP_SIZE 500000)
"""


def main(sizes: Sequence[str] = MILLIONS) -> dict[str, Any]:
    """Measures sizes in turn, in millions or skewed, from the smallest on.

    What the process held at most is the most of all sizes so far.
    """
    from support.spark_cluster import can_run_spark, spark_cluster

    if not can_run_spark():
        print("Spark or Java is not installed")
        return {}
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        with spark_cluster(folder / "cluster", EXECUTOR_MB, java_options="") as cluster:
            os.environ.update(cluster.environment)
            compile_kernels(folder / "compiled")
            found = {}
            for size in sizes:
                place = folder / size
                title, rows = tireless(place) if size == SKEW else generate(place, float(size))
                found[title] = measure(place, rows, cluster.master)
                shutil.rmtree(place)
            return found | {"traces": measure_traces(folder / "traces", cluster.master)}


def remember(found: dict[str, Any]) -> None:
    """Adds what one run found to what earlier ones did: 270 million take a while."""
    RESULT.parent.mkdir(exist_ok=True)
    earlier = json.loads(RESULT.read_text()) if RESULT.is_file() else {}
    RESULT.write_text(json.dumps(earlier | found, indent=2) + "\n")


def measure(folder: Path, rows: int, master: str) -> dict[str, Any]:
    print(f"\n{rows:,} events\n{'':28}{'seconds':>9}{'rows/s':>12}{'x bare':>8}")
    here: dict[str, Any] = {}
    there: dict[str, Any] = {}
    results: dict[str, float] = {}

    def tell(name: str, work: Callable[[], object]) -> None:
        seconds = results[name] = timed(rows, work)
        bare = results.get(f"{name.split(',', maxsplit=1)[0]}, bare by person", seconds)
        print(f"{name:28}{seconds:9.1f}{rows / seconds:12,.0f}{seconds / bare:8.2f}", flush=True)

    tell("duckdb, bare by person", lambda: bare_duckdb(folder))
    tell("duckdb, trips", lambda: here.update(trips=trips(folder, None)))
    tell("duckdb, visits", lambda: here.update(visits=visits(folder, None)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    print(f"this process at most {peak:.2f} GB (bar {BAR_GB:g})", flush=True)
    greet(master)
    tell("cluster, bare by person", lambda: bare_spark(folder, master))
    tell("cluster, trips", lambda: there.update(trips=trips(folder, master)))
    tell("cluster, visits", lambda: there.update(visits=visits(folder, master)))
    alike = all(
        (here[k][0] == there[k][0]).all() and (here[k][1] == there[k][1]).all() for k in here
    )
    ratio = results["cluster, trips"] / results["cluster, bare by person"]
    print(f"same integers: {alike}; trips on the cluster {ratio:.2f} x its bare group-by")
    print(f"(bar {BAR_RATIO:g})")
    return {"seconds": results, "ratio": ratio, "same": alike, "peak_gb": peak}


def measure_traces(folder: Path, master: str) -> dict[str, Any]:
    """Matches traces to roads in one process with one thread, and on the cluster."""
    import movements as roads_of
    from hushway.families.links.city.simulate import simulate_traces

    folder.mkdir()
    city = simulate_traces(roads_of.city_roads(), roads_of.SEED, people=TRAVELLERS)
    city.write(folder)
    points = len(city.lon)
    # What is compiled does not count.
    for name in (None, master):
        traces(folder, name)
    seconds = {
        kind: timed(points, lambda name=name: traces(folder, name))
        for kind, name in (("one process", None), ("cluster", master))
    }
    print(f"\n{points:,} positions of {TRAVELLERS:,} people, matched to {roads_of.LINKS:,} links")
    rates = {
        "one process, one thread": points / seconds["one process"],
        "cluster, each of two workers": points / seconds["cluster"] / 2,
    }
    for kind, rate in rates.items():
        print(f"{kind:32}{rate:12,.0f} positions/s")
    return {"seconds": seconds, "rates": rates}


def traces(folder: Path, master: str | None) -> int:
    import movements as roads_of
    from hushway.engine.key import BoundingKey
    from hushway.families.links.public.universe import MovementCells, MovementLimits
    from hushway.families.links.rows.movements import TraceMovements
    from hushway.families.links.rows.rows import TraceColumns, TracesSource
    from hushway.privacy.query import Query

    universe = roads_of.universe_of()
    counter = TraceMovements(
        source=TracesSource(folder / "traces.parquet", TraceColumns(trip="trip")),
        universe=universe,
        limits=MovementLimits(max_items=roads_of.MAX_ITEMS),
        key=BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS)),
        settings=replace(settings(master), threads=1),
    )
    cells = MovementCells(universe=universe)
    return int(counter.count(Query(name="movements", cells=cells)).values.sum())


def timed(_rows: int, work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def generate(folder: Path, millions: float) -> tuple[str, int]:
    """Writes so many million events, and returns what results call them and how many they are."""
    import duckdb

    folder.mkdir()
    rows = int(millions * 1e6)
    person = f"floor({int(rows / EVENTS_OF_A_PERSON)} * pow(random(), 1.6))"
    connection = duckdb.connect(config={"memory_limit": "2GB"})
    connection.execute("SELECT setseed(0.5)")
    for i in range(FILES):
        file = folder / f"{i}.parquet"
        connection.execute(
            _GENERATE.format(person=person, places=PLACES, rows=rows // FILES, file=file)
        )
    return f"{millions:g} M", rows


def compile_kernels(folder: Path) -> None:
    """Counts a few rows: what is compiled once does not count."""
    generate(folder, 0.01)
    trips(folder, None)
    visits(folder, None)


def tireless(folder: Path) -> tuple[str, int]:
    """Writes one person with very many trips, on two files, among others; returns as above."""
    import duckdb

    folder.mkdir()
    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.3)")
    half = TIRELESS // 2
    files = (("7", half), ("7", half), ("floor(random() * 50000)", OTHERS))
    for i, (person, rows) in enumerate(files):
        file = folder / f"{i}.parquet"
        connection.execute(_GENERATE.format(person=person, places=PLACES, rows=rows, file=file))
    return f"{(TIRELESS + OTHERS) / 1e6:g} M, skewed", TIRELESS + OTHERS


def bare_duckdb(folder: Path) -> int:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "4GB", "temp_directory": str(folder)})
    query = f"SELECT person, count(*) AS n FROM '{folder}/*.parquet' GROUP BY person"  # noqa: S608
    return len(connection.execute(query).fetchnumpy()["n"])


def greet(master: str) -> int:
    """Lets the cluster start what it starts once."""
    return int(spark(master).range(1000).repartition(2).count())


def bare_spark(folder: Path, master: str) -> int:
    rows = spark(master).read.parquet(str(folder))
    return int(rows.groupBy("person").count().count())


def spark(master: str) -> Any:
    from hushway.engine.settings import Cluster
    from hushway.engine.spark.cluster import connected

    return connected(Cluster(master=master))


def settings(master: str | None) -> Any:
    from hushway.engine.settings import Cluster, EngineSettings

    if master is None:
        return EngineSettings(memory_limit="4GB")
    return EngineSettings(memory_limit="1GB", cluster=Cluster(master=master))


def trips(folder: Path, master: str | None) -> tuple[Any, Any]:
    from hushway.engine.key import BoundingKey
    from hushway.families.od.public.cells import ODCells
    from hushway.families.od.rows.counter import EngineTrips
    from hushway.families.od.rows.trips import TripColumns, TripsSource
    from hushway.privacy.bound import Unit
    from hushway.privacy.query import Query

    cells = ODCells(locations=places(), periods=week())
    counter = EngineTrips(
        source=TripsSource(folder, TripColumns(person="person")),
        cells=cells,
        unit=Unit.PERSON,
        max_trips=MAX_TRIPS,
        key=BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS)),
        settings=settings(master),
    )
    found = counter.count(Query(name="trips", cells=cells))
    return found.cells, found.values


def visits(folder: Path, master: str | None) -> tuple[Any, Any]:
    from hushway.engine.key import BoundingKey
    from hushway.families.density.public.visits import SiteHistogram, VisitLimits
    from hushway.families.density.rows.counter import EngineVisits
    from hushway.families.density.rows.rows import EventColumns, EventsSource
    from hushway.privacy.query import Query
    from visits_engine import town

    universe = replace(town("integers"), periods=replace(week(), cycle="window"))
    limits = VisitLimits(max_visits=MAX_VISITS, max_visits_in_total=MOST_COUNTED)
    counter = EngineVisits(
        source=EventsSource(folder, EventColumns(person="person", location="origin")),
        universe=universe,
        limits=limits,
        key=BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS)),
        settings=settings(master),
    )
    cells = SiteHistogram(universe=universe)
    found = counter.count(Query(name="people", cells=cells))
    return found.cells, found.values


def places() -> Any:
    from hushway.geography.locations import Location, Locations

    return Locations(
        tuple(Location(id=str(i), name="", lon=i / 100, lat=0.0, zone="") for i in range(PLACES))
    )


def week() -> Any:
    return whole_days("America/Detroit", date(2026, 3, 2), 7, minutes=60)


if __name__ == "__main__":
    # Positions are matched whatever else is asked for.
    asked = [word for word in sys.argv[1:] if word != "traces"]
    remember(main(asked if sys.argv[1:] else MILLIONS))
