"""What cleaning noisy series gains on real trips: what the default of densities rests on.

Runs if HUSHWAY_DATA names a folder that holds them: Bay Area bike share 2014 (every station an
area) and New York green taxis (every taxi zone an area), all weeks laid over each other. Each trip
is a person with one visit, where and when it starts. Errors are taken over the areas with more than
0.1 % of all trips, as emptier ones are noise whatever is done. Run by hand:
`python benchmarks/density_real.py [runs]`.
"""

import statistics
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from harness import data, keep, positional, whole_days
from hushway.arrays import FloatArray
from hushway.engine.key import BoundingKey
from hushway.families.density.mechanism.series import density_series
from hushway.families.density.planning.trial import BoundedCity, budget_of
from hushway.families.density.public.geometry import density_universe
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.rows.counts import PeopleVisits, VisitRule, ranked_people
from hushway.families.density.study.gains import measure_gains
from hushway.geography.areas import Area, Areas
from hushway.geography.periods import Periods
from hushway.privacy.randomness import SeededSource
from hushway.tables.areas import read_areas
from hushway.tables.areas_shapefile import AreaColumns

BUDGETS = (("0.3", "0.000002"), ("1", "0.000001"))
SMALLEST_SHARE = 0.001
ONE_VISIT = VisitLimits(max_visits=1, max_visits_in_total=1)
FIGURES = ("mre", "pearson", "rsse")
HOURS = 168
# Half the side of the square around a station, in degrees: about ten metres.
AROUND = 1e-4


def week(zone: str) -> Periods:
    """Any week will do: the hours of all weeks are laid over each other."""
    return whole_days(zone, date(2024, 1, 1), 7, minutes=60, cycle="window")


def city_of(
    universe: DensityUniverse, times: Any, names: Any
) -> tuple[BoundedCity, FloatArray, int]:
    """Returns the trips that start in an area, their exact counts, and how many start in none."""
    hours = times.astype("datetime64[h]").astype(np.int64)
    # The first of January 1970 was a Thursday.
    hour = (hours + 3 * 24) % HOURS
    index = np.full(1000, -1, dtype=np.int64)
    for key, position in universe.areas.index.items():
        index[int(key)] = position
    site = index[names]
    inside = site >= 0
    code = (hour * universe.site_count + site)[inside].astype(np.int32)
    people = PeopleVisits(
        start=np.arange(len(code) + 1), code=code, salt=np.arange(len(code), dtype=np.int64)
    )
    rule = VisitRule.of(universe, ONE_VISIT.ladder, BoundingKey.draw(SeededSource(0)))
    found = ranked_people(people, rule)
    truth = np.ascontiguousarray(found.series[0].T, dtype=np.float64)
    city = BoundedCity(universe=universe, limits=ONE_VISIT, found=found)
    return city, truth, int((~inside).sum())


def bike_share(folder: Path) -> tuple[BoundedCity, FloatArray, int]:
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    stations = {
        str(row["station_id"]): row for row in pacsv.read_csv(folder / "stations.csv").to_pylist()
    }
    areas = Areas(
        areas=tuple(
            Area(
                id=key,
                name=row["name"],
                shape=shapely.box(
                    row["long"] - AROUND,
                    row["lat"] - AROUND,
                    row["long"] + AROUND,
                    row["lat"] + AROUND,
                ),
            )
            for key, row in stations.items()
        )
    )
    universe = density_universe(areas, week("America/Los_Angeles"), None)
    table = pq.read_table(folder / "trips.parquet")
    times, names = table["start_date"].to_numpy(), table["start_terminal"].to_numpy()
    return city_of(universe, times, names)


def green_taxi(folder: Path, zones: Path) -> tuple[BoundedCity, FloatArray, int]:
    import pyarrow.parquet as pq

    areas = read_areas(zones, AreaColumns(id="LocationID", name="zone"), dissolve=True)
    universe = density_universe(areas, week("America/New_York"), None)
    table = pq.read_table(folder / "trips.parquet")
    times, names = table["lpep_pickup_datetime"].to_numpy(), table["PULocationID"].to_numpy()
    return city_of(universe, times, names)


def cities() -> Iterator[tuple[str, tuple[BoundedCity, FloatArray, int]]]:
    if bikes := data("bayarea_bikeshare14"):
        yield "bike share", bike_share(bikes)
    if taxis := data("nyc_green_taxi"):
        yield "green taxi", green_taxi(taxis, taxis.parent / "polygons/nyc_taxi_zones.geojson.gz")


def main(runs: int = 10) -> list[dict[str, object]]:
    """Prints one table a city, budget and clustering; returns all rows."""
    rows: list[dict[str, object]] = []
    for name, (city, truth, outside) in cities():
        totals = truth.sum(axis=1)
        busy = np.flatnonzero(totals > SMALLEST_SHARE * totals.sum())
        for epsilon, delta in BUDGETS:
            for clustering in (True, False):
                mechanism = density_series(
                    city.limits, budget=budget_of(epsilon, delta), clustering=clustering
                )
                scores = measure_gains(city, mechanism, truth, range(runs), counted=busy).value
                print(
                    f"\n{name}: {totals.sum():,.0f} trips ({outside:,} in no area), {len(busy)} of "
                    f"{len(truth)} areas, epsilon {epsilon}, delta {delta}, "
                    f"{'clusters' if clustering else 'no clusters'}, {runs} runs",
                    flush=True,
                )
                print(f"{'fit':<42}" + "".join(f"{figure:>20}" for figure in FIGURES))
                for fit, found in scores.items():
                    line = f"{fit:<42}"
                    for figure in FIGURES:
                        values = [float(getattr(score, figure)) for score in found]
                        mean = statistics.mean(values)
                        error = statistics.stdev(values) / len(values) ** 0.5
                        line += f"{mean:12.4g} ±{error:7.2g}"
                        rows.append(
                            {
                                "city": name,
                                "epsilon": epsilon,
                                "delta": delta,
                                "clustering": clustering,
                                "fit": fit,
                                "figure": figure,
                                "mean": mean,
                                "standard_error": error,
                            }
                        )
                    print(line)
    return rows


if __name__ == "__main__":
    if results := main(int(positional("10")[0])):
        keep("density_real", results)
    else:
        print("HUSHWAY_DATA names no folder with real trips: nothing to do.")
