"""Times the way from events in files to bounded counts of visits by site and bin.

A city like the Paris of the 2014 paper: 1,303 towers, the 168 hours of a week, 13.55 events of a
person with a standard deviation of 18. With --large 27 million events of 2 million people; without
it a quarter of them. Every job runs in a process of its own.

- Peer: DuckDB's bare `GROUP BY` of the same file by tower and hour. It knows no persons, and
  neither bounds nor checks anything.

Bars: the three counts in 8 times the bare count, the check in 3 times, and 2.5 GB.
"""

from pathlib import Path
from statistics import median
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

PEOPLE, MANY_PEOPLE = 500_000, 2_000_000
TOWERS, HOURS = 1_303, 168
MEAN_EVENTS, SPREAD_EVENTS = 13.55, 18.0
MAX_VISITS, MOST_COUNTED, QUANTA = 30, 60, 100
ROUNDS = 3
FIRST_DAY_US = 1_189_382_400_000_000  # Monday 2007-09-10
HOUR_US = 3_600_000_000
BAR_COUNT, BAR_CHECK, BAR_GB = 8.0, 3.0, 2.5

# name: kind of ids
JOBS = {
    "bare group by": "integers",
    "check": "integers",
    "visits": "integers",
    "bare group by, text ids": "text",
    "check, text ids": "text",
    "visits, text ids": "text",
}


def main(*, people: int = PEOPLE, rounds: int = ROUNDS) -> dict[str, Any]:
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        events = in_process(__file__, "generate", folder, people)["events"]
        print(f"{events:,} events of {people:,} people; medians of {rounds} interleaved rounds")
        runs = in_turns(JOBS, rounds, lambda job: in_process(__file__, job, folder, people))
    return {"events": events, **summary(runs)}


def summary(runs: dict[str, list[dict[str, float]]]) -> dict[str, Any]:
    print(f"{'':28}{'seconds':>9}{'CPU s':>9}{'peak GB':>9}{'x bare':>9}")
    results: dict[str, dict[str, float]] = {}
    for name, some in runs.items():
        result = medians(some)
        text = ", text ids" if "text" in name else ""
        # Rounds are compared one by one: what else this machine does changes from round to round.
        bare = runs[f"bare group by{text}"]
        pairs = zip(some, bare, strict=True)
        result["ratio"] = median(one["seconds"] / other["seconds"] for one, other in pairs)
        results[name] = result
        print(
            f"{name:28}{result['seconds']:9.2f}{result['cpu_s']:9.2f}{result['peak_gb']:9.2f}"
            f"{result['ratio']:9.1f}"
        )
    count, check = results["visits"]["ratio"], results["check"]["ratio"]
    peak = max(result["peak_gb"] for result in results.values())
    print(
        f"bars: counts {BAR_COUNT:g} times the bare count ({count:.1f}), check {BAR_CHECK:g} times "
        f"({check:.1f}), {BAR_GB:g} GB ({peak:.2f})"
    )
    return {"jobs": results, "count_ratio": count, "check_ratio": check, "peak_gb": peak}


def run_job(name: str, place: str, people: str) -> dict[str, float]:
    """Runs one measurement, or writes events."""
    folder = Path(place)
    if name == "generate":
        return {"events": generate(folder, int(people))}
    # What is loaded before does not count.
    import duckdb

    import hushway.families.density.rows.check
    import hushway.families.density.rows.counter  # noqa: F401

    # The first query with a parameter loads much else, which would make the bare count look slow.
    duckdb.connect().execute("SELECT ?", ["warm"]).fetchnumpy()
    file, kind = folder / f"{JOBS[name]}.parquet", JOBS[name]
    work = {"bare": bare, "check": check, "visits": visits}[name.replace(",", " ").split()[0]]
    return measured(lambda: work(file, kind))


def generate(folder: Path, people: int) -> int:
    """Writes the events twice, with ids as integers and as text, in the order of time."""
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(0)
    shape = MEAN_EVENTS**2 / (SPREAD_EVENTS**2 - MEAN_EVENTS)
    number = rng.negative_binomial(shape, shape / (shape + MEAN_EVENTS), people)
    person = np.repeat(rng.permutation(people), number)
    events = len(person)
    # Half of the events are at home, the others anywhere; days are busier than nights.
    home = np.repeat(rng.integers(0, TOWERS, people), number)
    popular = np.cumsum(np.arange(1, TOWERS + 1) ** -0.5)
    away = np.searchsorted(popular, rng.random(events) * popular[-1])
    tower = np.where(rng.random(events) < 0.5, home, away)
    busy = np.cumsum(np.tile(np.repeat([1.0, 4.0, 6.0], [7, 9, 8]), HOURS // 24))
    hour = np.searchsorted(busy, rng.random(events) * busy[-1])
    since = hour * HOUR_US + rng.integers(0, 3_600, events) * 1_000_000
    order = np.argsort(since, kind="stable")
    table = pa.table(
        {
            "person": person[order],
            "location": tower[order],
            "time": pa.array(FIRST_DAY_US + since[order], pa.timestamp("us")),
        }
    )
    integers, text = (folder / f"{kind}.parquet" for kind in ("integers", "text"))
    write_rows(table, integers, text, person="card-", location="tower-")
    return events


def bare(file: Path, _kind: str) -> int:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(file.parent)})
    connection.execute("SET preserve_insertion_order = false")
    found = connection.execute(
        "SELECT location, epoch_us(time) // 3600000000 AS hour, count(*) AS events "
        "FROM read_parquet(?) GROUP BY ALL",
        [str(file)],
    ).fetchnumpy()
    return int(found["events"].sum())


def check(file: Path, kind: str) -> int:
    from hushway.engine.settings import EngineSettings
    from hushway.families.density.rows.check import check_events
    from hushway.families.density.rows.rows import EventColumns, EventsSource
    from hushway.tables.check import Policy

    problems = check_events(
        EventsSource(file, EventColumns()),
        town(kind),
        Policy(),
        settings=EngineSettings(memory_limit="2GB"),
        notes=False,
    ).problems
    return len(problems)


def visits(file: Path, kind: str) -> int:
    import numpy as np

    from hushway.engine.key import BoundingKey
    from hushway.engine.settings import EngineSettings
    from hushway.families.density.public.visits import (
        ClusterSeries,
        SiteHistogram,
        VisitLimits,
        VisitTotal,
    )
    from hushway.families.density.rows.counter import EngineVisits
    from hushway.families.density.rows.rows import EventColumns, EventsSource
    from hushway.privacy.query import Query

    universe = town(kind)
    counter = EngineVisits(
        source=EventsSource(file, EventColumns()),
        universe=universe,
        limits=VisitLimits(max_visits=MAX_VISITS, max_visits_in_total=MOST_COUNTED),
        key=BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS)),
        settings=EngineSettings(memory_limit="2GB"),
    )
    every = np.arange(len(universe.cover))
    cells = (
        VisitTotal(universe=universe),
        SiteHistogram(universe=universe),
        ClusterSeries(universe=universe, cluster=every, quanta=QUANTA),
    )
    found = [int(counter.count(Query(name="visits", cells=each)).values.sum()) for each in cells]
    return found[-1] // QUANTA


def town(kind: str) -> Any:
    """Returns a public universe with an area for each tower; areas have no part in the counting."""
    from datetime import date

    import numpy as np
    import shapely

    from hushway.families.density.public.cover import Cover, Pieces
    from hushway.families.density.public.visits import DensityUniverse, Sites
    from hushway.geography.areas import Area, Areas
    from hushway.geography.locations import Location, Locations

    prefix = "tower-" if kind == "text" else ""
    every = np.arange(TOWERS)
    ids = [f"{prefix}{i}" for i in every]
    shapes = shapely.box(every / 100, 0.0, (every + 1) / 100, 0.01)
    places = tuple(Location(id=each, name="", lon=0.0, lat=0.0, zone="") for each in ids)
    pieces = Pieces(sites=TOWERS, areas=TOWERS, site=every, area=every, size=np.ones(TOWERS))
    return DensityUniverse(
        areas=Areas(
            areas=tuple(
                Area(id=each, name="", shape=shape) for each, shape in zip(ids, shapes, strict=True)
            )
        ),
        periods=whole_days("Europe/Paris", date(2007, 9, 10), 7, minutes=60, cycle="window"),
        sites=Sites(locations=Locations(places), site=every),
        cover=Cover(
            pieces=pieces,
            is_site=np.zeros(TOWERS, np.bool_),
            member=every,
            cell=every,
            centres=np.zeros((TOWERS, 2)),
        ),
    )


if __name__ == "__main__":
    serve_job(run_job)
    chosen = options(__doc__, large="four times as many people", rounds=ROUNDS, people=PEOPLE)
    main(people=MANY_PEOPLE if chosen.large else chosen.people, rounds=chosen.rounds)
