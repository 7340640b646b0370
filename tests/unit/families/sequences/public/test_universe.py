from datetime import date

import numpy as np

from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.geography.periods import Periods

DAY = date(2024, 1, 15)
HOURS = Periods(zone="UTC", first_day=DAY, last_day=DAY, opens=480, closes=720, minutes=60)


def taxonomy() -> Taxonomy:
    places = (Location(id=str(i), name="", lon=0.0, lat=0.0, zone="") for i in range(5))
    lines = labels_of_codes("line", np.array([0, 1, 1, 0, 1], dtype=np.int32), ["red", "blue"])
    return Taxonomy(locations=Locations(tuple(places)), levels=(lines,))


def test_its_size_is_the_number_of_different_stops() -> None:
    assert SequenceUniverse(taxonomy=taxonomy()).size == 5
    assert SequenceUniverse(taxonomy=taxonomy(), periods=HOURS).size == 20


def test_its_digest_knows_the_taxonomy_and_the_periods() -> None:
    plain, timed = (
        SequenceUniverse(taxonomy=taxonomy()),
        SequenceUniverse(taxonomy=taxonomy(), periods=HOURS),
    )
    simple = SequenceUniverse(taxonomy=Taxonomy(locations=taxonomy().locations))
    assert plain.digest == SequenceUniverse(taxonomy=taxonomy()).digest
    assert len({plain.digest, timed.digest, simple.digest}) == 3


def test_a_tree_starts_with_the_coarsest_groups_of_every_period() -> None:
    cells = SequenceUniverse(taxonomy=taxonomy(), periods=HOURS).first_step()
    assert (cells.stop, cells.grain, cells.size) == (0, 0, 8)


def test_one_prefix_has_every_group_of_every_period_below_it() -> None:
    universe = SequenceUniverse(taxonomy=taxonomy(), periods=HOURS)
    *_, groups, below = universe.below_one_prefix(4)
    assert (groups.stop, groups.grain, groups.size) == (3, 0, 2 * 4)
    assert (below.stop, below.grain, below.size) == (3, 1, 5 * 4)
    assert below.name == "records by prefix of 3 stops and place of stop 4"
