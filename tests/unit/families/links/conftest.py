"""Towns of roads small enough to know everything about."""

import pytest

from support.link_towns import Town, town_of


@pytest.fixture(scope="session")
def town() -> Town:
    return town_of(2000)
