"""A city small enough to count by hand."""

import pytest

from hushway.families.sequences.public.prefixes import SequenceUniverse
from support.sequence_towns import universe_of


@pytest.fixture
def hybrid() -> SequenceUniverse:
    """Seven locations in three groups of uneven size, not in the order of their numbers."""
    return universe_of(7, [1, 0, 1, 2, 0, 1, 1])
