from datetime import date

import pytest

from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
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
