"""Cities small enough to know everything about: a little Paris, and towns of rectangles."""

import numpy as np
import pytest

from hushway.families.density.city.paris import paris
from hushway.families.density.public.geometry import density_universe
from support.density_towns import City, bins_of, town_of


@pytest.fixture(scope="session")
def towers_town() -> City:
    """Twelve areas and seven towers whose cells cross their borders."""
    spots = np.random.default_rng(8).random((7, 2))
    return town_of(towers=[(float(x), float(y)) for x, y in spots])


@pytest.fixture(scope="session")
def little_paris() -> City:
    """20,000 people with their week, 60 towers and 40 areas."""
    made = paris(1, people=20_000, towers=60, areas=40)
    universe = density_universe(made.areas, bins_of(), made.towers)
    assert universe.sites is not None
    return City(
        universe=universe,
        person=made.person.astype(np.int64),
        site=universe.sites.site[made.tower.astype(np.int64)],
        bin=made.second.astype(np.int64) // 3600,
    )
