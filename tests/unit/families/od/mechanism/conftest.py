from datetime import date

import numpy as np
import pytest

from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.geography.periods import Periods


@pytest.fixture
def cells() -> ODCells:
    """Six places in two zones, three periods: 90 cells."""
    places = (
        Location(id=f"p{i}", name="", lon=0.01 * i, lat=0.02 * i, zone="east" if i % 2 else "west")
        for i in range(6)
    )
    day = date(2024, 1, 15)
    periods = Periods(zone="UTC", first_day=day, last_day=day, opens=480, closes=660, minutes=60)
    return ODCells(locations=Locations(tuple(places)), periods=periods)


@pytest.fixture
def features(cells: ODCells) -> tuple[Feature, ...]:
    zones = place_pair_labels(cells, "zone", cells.locations.labels_in("zone"))
    modes = labels_of_codes("mode", np.arange(cells.pairs) % 3, ["bus", "shuttle", "both"])
    return (
        total_feature(cells),
        period_feature(cells),
        pair_feature(cells, "zones", zones),
        pair_feature(cells, "modes", modes),
    )
