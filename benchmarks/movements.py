"""Times the way from GPS traces in a file to bounded counts of movements on roads.

A synthetic road city of 50,000 links, and people and fleets who drive there for some days. Read,
split into trips, matched to roads, and bounded by person; in a process of its own.

- Limit: `Matcher.match` alone on the same trips, already in memory. What is on top is reading,
  sorting, projecting, splitting, bounding and counting.

Bar: the whole in 1.5 times the matching.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

LINKS, PEOPLE, MANY_PEOPLE = 50_000, 5_000, 37_500
SEED = 1
MAX_ITEMS = 60
BAR = 1.5


def main(*, people: int = PEOPLE) -> dict[str, Any]:
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        size = in_process("generate", folder, people)
        print(f"{size['trips']:,} trips, {size['points']:,} positions, {LINKS:,} links")
        limit = in_process("match", folder, people)
        whole = in_process("count", folder, people)
        check = in_process("check", folder, people)
    print(f"{'':28}{'seconds':>9}{'CPU s':>9}{'peak GB':>9}{'points/s':>11}")
    for job, found in (("matching alone", limit), ("everything", whole), ("check", check)):
        rate = size["points"] / found["seconds"]
        print(
            f"{job:28}{found['seconds']:9.2f}{found['cpu_s']:9.2f}{found['peak_gb']:9.2f}"
            f"{rate:11,.0f}"
        )
    # Processor seconds: what else the machine does changes from job to job.
    ratio = whole["cpu_s"] / limit["cpu_s"]
    print(f"bar: {BAR:g} times the matching ({ratio:.2f} in processor seconds)")
    return {"size": size, "match": limit, "count": whole, "check": check, "ratio": ratio}


def in_process(job: str, folder: Path, people: int) -> dict[str, Any]:
    """Runs a job in a process of its own; this one stays small, for a child starts at its peak."""
    command = [sys.executable, __file__, "--job", job, "--folder", str(folder)]
    command += ["--people", str(people)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(answer)
    return result


def run_job(name: str, folder: Path, people: int) -> dict[str, float]:
    """Runs one measurement, or writes traces."""
    import resource

    if name == "generate":
        return generate(folder, people)
    work = {"match": match, "count": count, "check": check}[name]
    # What is compiled and loaded before does not count.
    run = work(folder)
    before, begin = resource.getrusage(resource.RUSAGE_SELF), perf_counter()
    found = run()
    seconds, after = perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": seconds,
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_gb": after.ru_maxrss * 1024 / 1e9,
        "found": found,
    }


def generate(folder: Path, people: int) -> dict[str, float]:
    """Writes the traces, and those of a few people to warm up with."""
    import numpy as np

    from hushway.families.links.city.simulate import simulate_traces

    few = simulate_traces(city_roads(), SEED + 1, people=50)
    (folder / "few").mkdir()
    few.write(folder / "few")
    city = simulate_traces(city_roads(), SEED, people=people)
    city.write(folder)
    np.savez(folder / "trips.npz", start=city.start, lon=city.lon, lat=city.lat, s=city.seconds)
    return {"trips": len(city), "points": len(city.lon)}


def city_roads() -> Any:
    from hushway.families.links.city.road_city import road_city

    return road_city(SEED, links=LINKS)


def match(folder: Path) -> Any:
    import numpy as np

    from hushway.families.links.matching.matcher import Matcher
    from hushway.families.links.rows.rows import PeoplePositions
    from hushway.families.links.rows.trips import Splitting, split_trips

    roads = city_roads()
    data = np.load(folder / "trips.npz")
    matcher = Matcher(roads)
    # One trip a person, so that the same trips come out of the same splitting and cleaning.
    positions = PeoplePositions(
        start=data["start"],
        salt=np.zeros(len(data["start"]) - 1, dtype=np.int64),
        trip=np.zeros(len(data["lon"]), dtype=np.int64),
        since_us=np.rint(data["s"] * 1e6).astype(np.int64),
        lon=data["lon"],
        lat=data["lat"],
    )
    traces = split_trips(positions, roads.plane, Splitting())
    matcher.match(traces.only(np.arange(50)).traces)
    return lambda: len(matcher.match(traces.traces).link)


def count(folder: Path) -> Any:
    from hushway.engine.key import BoundingKey
    from hushway.engine.settings import EngineSettings
    from hushway.families.links.matching.matcher import Matcher
    from hushway.families.links.public.universe import MovementCells, MovementLimits
    from hushway.families.links.rows.movements import TraceMovements
    from hushway.families.links.rows.rows import TraceColumns, TracesSource
    from hushway.privacy.query import Query

    universe = universe_of()
    matcher = Matcher(universe.roads)

    def counted(file: Path) -> int:
        counter = TraceMovements(
            source=TracesSource(file, TraceColumns(trip="trip")),
            universe=universe,
            limits=MovementLimits(max_items=MAX_ITEMS),
            key=BoundingKey.from_words(range(10**18, 10**18 + BoundingKey.WORDS)),
            settings=EngineSettings(memory_limit="2GB"),
            matcher=matcher,
        )
        query = Query(name="movements", cells=MovementCells(universe=universe))
        return int(counter.count(query).values.sum())

    counted(folder / "few" / "traces.parquet")
    return lambda: counted(folder / "traces.parquet")


def check(folder: Path) -> Any:
    from hushway.engine.settings import EngineSettings
    from hushway.families.links.matching.matcher import Matcher
    from hushway.families.links.rows.check import check_traces
    from hushway.families.links.rows.rows import TraceColumns, TracesSource
    from hushway.tables.check import Policy

    universe = universe_of()
    matcher = Matcher(universe.roads)

    def checked(file: Path) -> int:
        source = TracesSource(file, TraceColumns(trip="trip"))
        settings = EngineSettings(memory_limit="2GB")
        return len(
            check_traces(source, universe, Policy(), settings=settings, matcher=matcher).problems
        )

    checked(folder / "few" / "traces.parquet")
    return lambda: checked(folder / "traces.parquet")


def universe_of() -> Any:
    import numpy as np

    from hushway.families.links.city.plans import Habits
    from hushway.families.links.public.universe import LinkUniverse
    from hushway.geography.periods import Periods

    roads, habits = city_roads(), Habits()
    return LinkUniverse(
        roads=roads,
        periods=Periods(
            zone=habits.zone,
            first_day=habits.first_day,
            last_day=habits.first_day,
            opens=0,
            closes=1440,
            minutes=60,
        ),
        zone=np.zeros(roads.links, dtype=np.int64),
        zones=("all",),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="about 100,000 trips")
    parser.add_argument("--people", type=int, default=PEOPLE, help=argparse.SUPPRESS)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.job:
        print(json.dumps(run_job(chosen.job, chosen.folder, chosen.people)))
    else:
        main(people=MANY_PEOPLE if chosen.large else chosen.people)
