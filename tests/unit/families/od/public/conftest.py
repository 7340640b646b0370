"""Small universes to label."""

from collections.abc import Callable
from datetime import date

import pytest

from hushway.families.od.public.cells import ODCells
from hushway.geography.locations import Location, Locations
from support.windows import window

MakeCells = Callable[..., ODCells]


def small_cells(places: int, *, periods: int = 3, include_intrazonal: bool = False) -> ODCells:
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


@pytest.fixture
def make_cells() -> MakeCells:
    return small_cells
