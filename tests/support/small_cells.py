"""Small universes of trips, and keys that are the same on every run."""

from datetime import date
from typing import Any

import numpy as np

from hushway.engine.key import BoundingKey
from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from support.windows import window


def key_of(seed: int) -> BoundingKey:
    """A key that is the same on every run."""
    words = np.random.default_rng(seed).integers(0, 2**63, BoundingKey.WORDS)
    return BoundingKey.from_words([int(word) for word in words])


def cells_of(
    ids: tuple[str, ...] = ("1", "2", "3"), *, include_intrazonal: bool = False, **periods: Any
) -> ODCells:
    """Returns places beside each other in hours of two days."""
    settings: dict[str, Any] = {
        "zone": "America/Detroit",
        "first_day": date(2026, 3, 2),
        "last_day": date(2026, 3, 3),
        "opens": 360,
        "closes": 1320,
        "minutes": 60,
        **periods,
    }
    places = tuple(
        Location(id=key, name="", lon=i / 100, lat=0.0, zone="") for i, key in enumerate(ids)
    )
    return ODCells(
        locations=Locations(places),
        periods=Periods(**settings),
        include_intrazonal=include_intrazonal,
    )


def small_cells(places: int, *, periods: int = 3, include_intrazonal: bool = False) -> ODCells:
    """Returns a row of places in three zones, on one day of some hours."""
    return ODCells(
        locations=Locations(
            tuple(
                Location(id=f"p{i}", name="", lon=i / 100, lat=0.0, zone=f"z{i % 3}")
                for i in range(places)
            )
        ),
        periods=window(date(2026, 1, 5), closes=60 * periods),
        include_intrazonal=include_intrazonal,
    )
