"""Which weights, split and features publish the best OD tables: what the defaults rest on.

Runs on the matched synthetic Ann Arbor and, if HUSHWAY_DATA names a folder that holds them, on real
trips: Bay Area bike share 2014 and New York green taxis. Errors are sums of absolute errors as a
share of all trips, for the cells and for every feature; less is better. Run by hand:
`python benchmarks/od_defaults.py [runs]`.
"""

import gzip
import itertools
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from harness import data, keep, positional, whole_days
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.city.places import WINDOW
from hushway.families.od.fit.weights import Weights
from hushway.families.od.mechanism.cbdp import od_cbdp
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.mechanism.shares import uniform_shares
from hushway.families.od.planning.trial import ODScene, TripArrays, trips_scene, try_out
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    pairs_of_matrix,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.families.od.study.reproduce import city_scene
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.privacy.bound import Unit
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.tables.locations import LocationColumns, read_locations

EPSILONS = ("1", "0.1")

# Shares of the cells, the total, the periods and all other features together.
SPLITS = {
    "cells .2": (0.20, 0.05, 0.10),
    "cells .3": (0.30, 0.04, 0.12),
    "cells .4": (0.40, 0.05, 0.10),
    "cells .5": (0.50, 0.04, 0.08),
    "cells .6": (0.60, 0.04, 0.06),
    "cells .7": (0.70, 0.03, 0.05),
}


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is tried: features, weights and split."""

    features: tuple[Feature, ...]
    weights: Weights
    split: str

    @property
    def words(self) -> str:
        """The choice as one line of a table."""
        titles = "+".join(feature.title for feature in self.features)
        return f"{titles:<26} {self.weights:<19} {self.split}"

    @property
    def shares(self) -> tuple[Fraction, ...]:
        """The shares of the features and, last, of the cells."""
        if self.split == "uniform":
            return uniform_shares(self.features)
        cells, total, period = SPLITS[self.split]
        others = [f for f in self.features if f.title not in ("total", "period")]
        rest = 1 - cells - total - period
        wanted = [
            {"total": total, "period": period}.get(f.title, rest / max(1, len(others)))
            for f in self.features
        ]
        whole = sum(wanted) + cells
        shares = [Fraction(round(10**6 * share / whole), 10**6) for share in wanted]
        return (*shares, 1 - sum(shares))


def misplaced(scene: ODScene, outcome: object) -> dict[str, float]:
    errors = outcome.errors  # type: ignore[attr-defined]
    trips = float(scene.truth.values.sum())
    found = {f.title: errors.margins_mae[f.title] * f.size / trips for f in scene.features}
    return found | {"cells": errors.cells_l1_share}


def bike_share(folder: Path, *, bikes: int | None = None) -> ODScene:
    """Trips of a year by hour of the day.

    Args:
        folder: The data.
        bikes: If a bike stands for a person, the most trips of one that are counted.
    """
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    rows = pacsv.read_csv(folder / "stations.csv").to_pylist()
    stations = {str(row["station_id"]): row for row in rows}
    places = Locations(
        tuple(
            Location(
                id=key, name=row["name"], lon=row["long"], lat=row["lat"], zone=row["landmark"]
            )
            for key, row in stations.items()
        )
    )
    periods = whole_days("America/Los_Angeles", date(2014, 1, 1), 365, minutes=60)
    cells = ODCells(locations=places, periods=periods, include_intrazonal=True)
    table = pq.read_table(folder / "trips.parquet")
    trips = trips_by_hour(table, places, "start_date", "start_terminal", "end_terminal")
    if bikes is None:
        return trips_scene(cells, features_of(cells), trips)
    bike = table["bike_id"].combine_chunks().dictionary_encode().indices.to_numpy()
    trips = replace(trips, person=bike.astype(np.int64))
    return trips_scene(cells, features_of(cells), trips, unit=Unit.PERSON, max_trips=bikes)


def green_taxi(folder: Path, zones: Path) -> ODScene:
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as temporary:
        plain = Path(temporary) / "zones.geojson"
        plain.write_bytes(gzip.decompress(zones.read_bytes()))
        places = read_locations(plain, LocationColumns(id="OBJECTID", name="zone", zone="borough"))
    window = date(2025, 11, 30) - date(2023, 1, 1)
    periods = whole_days("America/New_York", date(2023, 1, 1), window.days + 1, minutes=60)
    cells = ODCells(locations=places, periods=periods, include_intrazonal=True)
    table = pq.read_table(folder / "trips.parquet")
    trips = trips_by_hour(table, places, "lpep_pickup_datetime", "PULocationID", "DOLocationID")
    return trips_scene(cells, features_of(cells), trips)


def trips_by_hour(
    table: Any, places: Locations, time: str, origin: str, destination: str
) -> TripArrays:
    """Returns trips by hour of the day, from columns with times and whole numbers as ids."""
    start = table[time].to_numpy()
    hour = (start - start.astype("datetime64[D]")).astype("timedelta64[h]").astype(np.int64)
    index = np.full(1000, -1, dtype=np.int64)
    for key, position in places.index.items():
        index[int(key)] = position
    return TripArrays(
        period=hour,
        origin=index[table[origin].to_numpy()],
        destination=index[table[destination].to_numpy()],
    )


def features_of(cells: ODCells) -> tuple[Feature, ...]:
    """Total, period, zones, and bands of distance: a public label that crosses the zones."""
    places = cells.locations.places
    zones = place_pair_labels(cells, "zone", [place.zone for place in places])
    lon, lat = (np.array([getattr(place, part) for place in places]) for part in ("lon", "lat"))
    east = (lon[None, :] - lon[:, None]) * np.cos(np.radians(lat.mean()))
    km = pairs_of_matrix(cells, np.hypot(east, lat[None, :] - lat[:, None]) * 111.32)
    edges = np.array([0.5, 1, 2, 3, 5, 8, 12])
    bands = labels_of_codes("band", np.searchsorted(edges, km), [f"b{i}" for i in range(8)])
    return (
        total_feature(cells),
        period_feature(cells),
        pair_feature(cells, "zones", zones),
        pair_feature(cells, "bands", bands),
    )


def scenes() -> Iterator[tuple[str, ODScene]]:
    yield "Ann Arbor 8-10", city_scene(ann_arbor(seed=2018), periods=WINDOW)
    yield "Ann Arbor day", city_scene(ann_arbor(seed=2018))
    if bikes := data("bayarea_bikeshare14"):
        yield "bike share", bike_share(bikes)
    if taxis := data("nyc_green_taxi"):
        yield "green taxi", green_taxi(taxis, taxis.parent / "polygons/nyc_taxi_zones.geojson.gz")


def choices(scene: ODScene) -> Iterator[Choice]:
    """All weights with two splits, all splits with the best weights, and fewer features."""
    every = scene.features
    for weights, split in itertools.product(Weights, ("uniform", "cells .5")):
        yield Choice(features=every, weights=weights, split=split)
    for split in SPLITS:
        if split != "cells .5":
            yield Choice(features=every, weights=Weights.SIZE_OVER_VARIANCE, split=split)
    for some in subsets(every):
        yield Choice(features=some, weights=Weights.SIZE_OVER_VARIANCE, split="cells .5")


def subsets(features: Sequence[Feature]) -> Iterator[tuple[Feature, ...]]:
    for left_out in features:
        yield tuple(feature for feature in features if feature is not left_out)
    yield tuple(features[:2])
    yield tuple(features[:1])


def main(runs: int = 5) -> list[dict[str, object]]:
    """Prints one table a scene and budget, the best choice first, and returns all rows."""
    rows: list[dict[str, object]] = []
    for name, scene in scenes():
        for epsilon in EPSILONS:
            budget = PureLoss(Fraction(epsilon))
            tried = []
            laplace = DenseLaplace(spend=budget)
            for words, mechanism in [
                ("laplace", laplace),
                *(
                    (
                        choice.words,
                        od_cbdp(
                            scene.cells,
                            choice.features,
                            budget=budget,
                            shares=choice.shares,
                            weights=choice.weights,
                        ),
                    )
                    for choice in choices(scene)
                ),
            ]:
                found = [
                    misplaced(scene, try_out(mechanism, scene, SeededSource(run)).value)
                    for run in range(runs)
                ]
                mean = {key: statistics.mean(one[key] for one in found) for key in found[0]}
                tried.append((statistics.mean(mean.values()), words, mean))
            tried.sort(key=lambda one: one[0])
            print(f"\n{name}, epsilon {epsilon} ({runs} runs)", flush=True)
            titles = list(tried[0][2])
            print(
                f"{'features, weights, split':<56} {'mean':>8} "
                + " ".join(f"{t:>8}" for t in titles)
            )
            for score, words, mean in tried:
                print(f"{words:<56} {score:8.4f} " + " ".join(f"{mean[t]:8.4f}" for t in titles))
                rows.append(
                    {"scene": name, "epsilon": epsilon, "choice": words, "score": score, **mean}
                )
    return rows


if __name__ == "__main__":
    keep("od_defaults", main(int(positional("5")[0])))
