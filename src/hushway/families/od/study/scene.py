"""A synthetic city with the features of the CBDP paper."""

from dataclasses import replace

import numpy as np

from hushway.families.od.city.city import City
from hushway.families.od.planning.trial import ODScene, TripArrays, trips_scene
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    pair_table_labels,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.privacy.bound import Unit


def city_scene(
    city: City,
    *,
    periods: range | None = None,
    unit: Unit = Unit.TRIP,
    max_trips: int = 1,
) -> ODScene:
    """Returns a synthetic city with the paper's features.

    Args:
        city: The city.
        periods: The periods of the day to keep; all of them unless given.
        unit: Who is protected.
        max_trips: Most trips of one rider that are counted.
    """
    whole = city.cells.periods
    kept = range(len(whole)) if periods is None else periods
    cells = replace(
        city.cells,
        periods=whole.only_parts(kept),
    )
    trips = city.trips
    inside = (trips.period >= kept.start) & (trips.period < kept.stop)
    arrays = TripArrays(
        person=trips.rider[inside],
        period=trips.period[inside] - kept.start,
        origin=trips.origin[inside],
        destination=trips.destination[inside],
    )
    features = city_features(city, cells)
    return trips_scene(cells, features, arrays, unit=unit, max_trips=max_trips)


def city_features(city: City, cells: ODCells) -> tuple[Feature, ...]:
    """Returns the four coarse features of the paper: F2 to F5."""
    zones = place_pair_labels(cells, "zone", [p.zone for p in cells.locations.places])
    modes = pair_table_labels(cells, "mode", city.mode_of.astype(np.int32), city.modes)
    return (
        total_feature(cells),
        period_feature(cells),
        pair_feature(cells, "zones", zones),
        pair_feature(cells, "modes", modes),
    )
