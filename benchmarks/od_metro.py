"""A generated metro: many stations of very different sizes, and few trips in most pairs of them."""

from datetime import date

import numpy as np

from harness import whole_days
from hushway.families.od.planning.trial import ODScene, TripArrays, trips_scene
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from od_defaults import features_of

STATIONS, TRIPS = 450, 220_000
KM_PER_DEGREE = 111.0


def generated_metro(seed: int = 7) -> ODScene:
    """Returns trips of a day in six periods: sizes times distance times each pair's own way."""
    rng = np.random.default_rng(seed)
    x, y = 8 * rng.normal(size=(2, STATIONS))
    places = Locations(
        tuple(
            Location(
                id=str(station),
                name=str(station),
                lon=x[station] / KM_PER_DEGREE,
                lat=y[station] / KM_PER_DEGREE,
                zone=f"{x[station] > 0} {y[station] > 0}",
            )
            for station in range(STATIONS)
        )
    )
    periods = whole_days("UTC", date(2024, 3, 5), 1, minutes=240)
    cells = ODCells(locations=places, periods=periods, include_intrazonal=False)
    size = np.exp(1.2 * rng.normal(size=STATIONS))
    near = np.exp(-np.hypot(x[:, None] - x, y[:, None] - y) / 6 + rng.normal(size=(STATIONS,) * 2))
    pairs = size[:, None] * size * near * ~np.eye(STATIONS, dtype=bool)
    times = rng.dirichlet(np.full(len(periods), 4.0), size=STATIONS).T
    rates = pairs * times[:, :, None] * times[::-1, None, :]
    trip = rng.choice(rates.size, TRIPS, p=(rates / rates.sum()).ravel())
    period, origin, destination = np.unravel_index(trip, rates.shape)
    trips = TripArrays(period=period, origin=origin, destination=destination)
    return trips_scene(cells, features_of(cells), trips)
