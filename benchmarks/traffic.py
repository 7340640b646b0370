"""Traffic on roads by draws from a release, beside noisy tables and the true trips.

Two generated towns: roads, stations at their corners, and trips between these in two hours of a
morning, one trip protected. One town was looked at while this was built, the other was run once.
Volumes are compared with those of the true trips in equilibrium, in percent of their mean; bars are
those of issue 40. Run by hand: `python benchmarks/traffic.py [runs] [towns]`.
"""

import statistics
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

import numpy as np

from harness import keep, positional
from hushway.arrays import FloatArray
from hushway.families.links.city.road_city import road_city
from hushway.families.od.planning.trial import ODScene, TripArrays, run_once, trips_scene
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.families.od.synthetic.published import published_trips
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.numerics.chance import distances_m
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.transit.day_demand import DayDemand, one_day, published_day
from hushway.transit.traffic.day import DayTraffic, PlacesOnRoads, day_traffic
from hushway.transit.traffic.equilibrium import quickest_ways
from hushway.transit.traffic.judge import judge_traffic, percent_rmse, spread
from od_learning import learned

LOOKED_AT, HELD_OUT = "looked at", "held out"
TOWNS = {LOOKED_AT: 1, HELD_OUT: 7919}
LINKS, STATIONS, HOURS, TRIPS, DRAWS = 4_000, 60, 2, 20_000, 20
# So that roads fill: trips are those of a sample, or of some of the travellers.
VEHICLES = 1.5
EPSILONS = ("0.5", "1", "4")


@dataclass(frozen=True, kw_only=True, eq=False)
class Town:
    """Public roads and stations, and the trips between these."""

    scene: ODScene
    places: PlacesOnRoads
    truth: DayDemand


def town(seed: int) -> Town:
    rng = np.random.default_rng(seed)
    roads = road_city(seed, links=LINKS)
    at = rng.choice(roads.nodes, STATIONS, replace=False)
    zone = (roads.node_points[at] > 0) @ [1, 2]
    locations = Locations(
        tuple(
            Location(
                id=f"s{n}",
                name=f"Station {n}",
                lon=float(roads.node_lon[node]),
                lat=float(roads.node_lat[node]),
                zone=f"zone {zone[n]}",
            )
            for n, node in enumerate(at)
        )
    )
    day = date(2026, 3, 3)
    periods = Periods(
        zone="UTC", first_day=day, last_day=day, opens=360, closes=360 + 60 * HOURS, minutes=60
    )
    cells = ODCells(locations=locations, periods=periods)
    scene = morning(cells, roads.node_points[at], rng)
    places = PlacesOnRoads.of(roads, locations, vehicles_per_trip=VEHICLES)
    truth = one_day(cells, scene.truth.cells, scene.truth.values)
    return Town(scene=scene, places=places, truth=truth)


def morning(cells: ODCells, position_m: FloatArray, rng: np.random.Generator) -> ODScene:
    """Draws trips by gravity, with habits of every pair that no gravity explains."""
    homes, works = rng.lognormal(0, 1, (2, STATIONS))
    near = np.exp(-distances_m(position_m, position_m) / 2_500)
    habit = rng.lognormal(0, 0.8, (STATIONS, STATIONS))
    busy = np.array([0.8, 1.2])[:, None, None] * rng.lognormal(0, 0.3, (HOURS, STATIONS, 1))
    rate = busy * (homes[:, None] * works * near * habit)[None]
    rate[:, np.arange(STATIONS), np.arange(STATIONS)] = 0
    counts = rng.poisson(TRIPS * rate / rate.sum())
    period, origin, destination = (
        np.repeat(axis.ravel(), counts.ravel()) for axis in np.indices(counts.shape)
    )
    zones = place_pair_labels(cells, "zone", [place.zone for place in cells.locations.places])
    features = (total_feature(cells), period_feature(cells), pair_feature(cells, "zones", zones))
    trips = TripArrays(period=period, origin=origin, destination=destination)
    return trips_scene(cells, features, trips)


def noisy(here: Town, epsilon: float, seed: int) -> DayDemand:
    """What a practitioner does in three lines: Laplace noise on every cell, cut off at 0."""
    cells = here.scene.cells
    counts = np.zeros(cells.size)
    counts[here.scene.truth.cells] = here.scene.truth.values
    counts = np.maximum(counts + np.random.default_rng(seed).laplace(0, 1 / epsilon, cells.size), 0)
    # Sums of a demand are whole; thousandths of trips are near enough.
    return replace(
        one_day(cells, np.arange(cells.size), np.rint(1000 * counts).astype(np.int64)), days=1000
    )


def on_shortest_paths(places: PlacesOnRoads, demand: DayDemand) -> FloatArray:
    volumes = np.zeros(places.roads.links)
    for hours, asked in places.by_period(demand):
        volumes += hours * quickest_ways(places.supply, asked, places.supply.free_s)[0]
    return volumes


def stations_held(draws: list[DayDemand], truth: DayDemand) -> float:
    """Returns which part of station totals, by origin and destination, lies within its interval."""

    def totals(demand: DayDemand) -> FloatArray:
        _, *ends = demand.universe.decode(demand.cells)
        return np.concatenate([np.bincount(end, demand.mean_trips, STATIONS) for end in ends])

    return float(np.mean(spread([totals(one) for one in draws]).holds(totals(truth))))


def measured(here: Town, true: DayTraffic, epsilon: str, run: int) -> dict[str, float]:
    table = run_once(
        learned(here.scene, PureLoss(Fraction(epsilon))), here.scene, SeededSource(run)
    )
    demand = published_day(published_trips(table))
    verdict = judge_traffic(
        demand, here.places, truth=here.truth, draws=DRAWS, progress=lambda *_: None
    ).value
    if verdict.truth is None or demand.another is None:
        raise TypeError
    used = (true.volumes > 0) | (verdict.volumes.mean > 0)
    plain = noisy(here, float(Fraction(epsilon)), run)
    sizes = {f"held, {one.name}": 100 * one.held for one in verdict.truth.sizes}
    rmses = {f"RMSE, {one.name}": one.rmse_percent for one in verdict.truth.sizes}
    equally = day_traffic(here.places, plain)
    return {
        **rmses,
        "RMSE of a single draw": statistics.mean(
            percent_rmse(day.volumes[used], true.volumes[used]) for day in verdict.days
        ),
        "RMSE, published table": percent_rmse(
            day_traffic(here.places, demand).volumes[used], true.volumes[used]
        ),
        "RMSE, noisy on shortest paths": percent_rmse(
            on_shortest_paths(here.places, plain)[used], true.volumes[used]
        ),
        "RMSE, noisy in equilibrium": percent_rmse(equally.volumes[used], true.volumes[used]),
        "vehicle hours off": 100 * abs(float(verdict.vehicle_hours.mean) / true.vehicle_hours - 1),
        "vehicle hours off, noisy": 100 * abs(equally.vehicle_hours / true.vehicle_hours - 1),
        "speeds off (km/h)": verdict.truth.speed_rmse_kmh,
        **sizes,
        "held, station totals": 100
        * stations_held([demand.another(seed) for seed in range(DRAWS)], here.truth),
    }


def main(runs: int = 5, which: str = LOOKED_AT) -> list[dict[str, object]]:
    """Prints a table for each town, and returns its rows."""
    rows: list[dict[str, object]] = []
    for name in which.split(","):
        here = town(TOWNS[name])
        true = day_traffic(here.places, here.truth)
        free = float(true.volumes @ here.places.supply.free_s) / 3600
        print(
            f"\n**Town {name}** ({runs} runs, {DRAWS} draws, {int(here.truth.sums.sum()):,} trips, "
            f"{here.places.roads.links:,} links, {true.vehicle_hours:,.0f} vehicle hours; empty "
            f"roads: {free:,.0f})\n",
            flush=True,
        )
        found = {
            epsilon: [measured(here, true, epsilon, run) for run in range(runs)]
            for epsilon in EPSILONS
        }
        print("| percent | " + " | ".join(f"ε = {epsilon}" for epsilon in EPSILONS) + " |")
        print("|---|" + "---|" * len(EPSILONS))
        for figure in found[EPSILONS[0]][0]:
            means = [statistics.mean(one[figure] for one in found[eps]) for eps in EPSILONS]
            print(f"| {figure} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
            rows += [
                {"town": name, "figure": figure, "epsilon": eps, "mean": mean}
                for eps, mean in zip(EPSILONS, means, strict=True)
            ]
    return rows


if __name__ == "__main__":
    how_often, chosen = positional("5", f"{LOOKED_AT},{HELD_OUT}")
    keep("traffic", main(int(how_often), chosen))
