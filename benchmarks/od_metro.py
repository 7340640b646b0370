"""Generated metros: many stations of very different sizes, and few trips in most pairs of them."""

from datetime import date

import numpy as np

from harness import whole_days
from hushway.families.od.planning.trial import ODScene, TripArrays, trips_scene
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from od_defaults import features_of

KM_PER_DEGREE = 111.0


def generated_metro(
    stations: int = 450, trips: int = 220_000, minutes: int = 240, seed: int = 7
) -> ODScene:
    """Returns the trips of a day: sizes times distance times each pair's own way."""
    rng = np.random.default_rng(seed)
    x, y = 8 * rng.normal(size=(2, stations))
    places = Locations(
        tuple(
            Location(
                id=str(station),
                name=str(station),
                lon=x[station] / KM_PER_DEGREE,
                lat=y[station] / KM_PER_DEGREE,
                zone=f"{x[station] > 0} {y[station] > 0}",
            )
            for station in range(stations)
        )
    )
    periods = whole_days("UTC", date(2024, 3, 5), 1, minutes=minutes)
    cells = ODCells(locations=places, periods=periods, include_intrazonal=False)
    size = np.exp(1.2 * rng.normal(size=stations))
    near = np.exp(-np.hypot(x[:, None] - x, y[:, None] - y) / 6 + rng.normal(size=(stations,) * 2))
    pairs = size[:, None] * size * near * ~np.eye(stations, dtype=bool)
    times = rng.dirichlet(np.full(len(periods), 4.0), size=stations).T
    rates = pairs * times[:, :, None] * times[::-1, None, :]
    trip = rng.choice(rates.size, trips, p=(rates / rates.sum()).ravel())
    period, origin, destination = np.unravel_index(trip, rates.shape)
    arrays = TripArrays(period=period, origin=origin, destination=destination)
    return trips_scene(cells, features_of(cells), arrays)
