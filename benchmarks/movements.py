"""Times the way from GPS traces in a file to bounded counts of movements on roads.

A synthetic road city of 50,000 links, and people and fleets who drive there for some days. Read,
split into trips, matched to roads, and bounded by person; in a process of its own.

- Limit: `Matcher.match` alone on the same trips, already in memory. What is on top is reading,
  sorting, projecting, splitting, bounding and counting.

Bar: the whole in 1.5 times the matching.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness import in_process, measured, options, serve_job, whole_days

LINKS, PEOPLE, MANY_PEOPLE = 50_000, 5_000, 37_500
SEED = 1
MAX_ITEMS = 60
BAR = 1.5


def main(*, people: int = PEOPLE) -> dict[str, Any]:
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        size = in_process(__file__, "generate", folder, people)
        print(f"{size['trips']:,} trips, {size['points']:,} positions, {LINKS:,} links")
        limit = in_process(__file__, "match", folder, people)
        whole = in_process(__file__, "count", folder, people)
        check = in_process(__file__, "check", folder, people)
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


def run_job(name: str, place: str, people: str) -> dict[str, float]:
    """Runs one measurement, or writes traces."""
    folder = Path(place)
    if name == "generate":
        return generate(folder, int(people))
    # What is compiled and loaded before does not count.
    return measured({"match": match, "count": count, "check": check}[name](folder))


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

    roads, habits = city_roads(), Habits()
    return LinkUniverse(
        roads=roads,
        periods=whole_days(habits.zone, habits.first_day, 1, minutes=60),
        zone=np.zeros(roads.links, dtype=np.int64),
        zones=("all",),
    )


if __name__ == "__main__":
    serve_job(run_job)
    chosen = options(__doc__, large="about 100,000 trips", people=PEOPLE)
    main(people=MANY_PEOPLE if chosen.large else chosen.people)
