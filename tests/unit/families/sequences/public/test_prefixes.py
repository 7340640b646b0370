"""Candidates of a prefix tree: numbered without gaps, and each reached by one kind of record."""

from datetime import date

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse, first_prefixes
from hushway.families.sequences.public.taxonomy import Taxonomy, column_taxonomy
from hushway.geography.locations import Location, Locations, PlaceLabels, labels_of_codes
from hushway.geography.periods import Periods


@pytest.fixture
def town() -> Taxonomy:
    lines = PlaceLabels(column="line", values=tuple("babcab"))
    where = Locations(
        tuple(Location(id=str(i), name="", lon=i / 10, lat=0.0, zone="") for i in range(6)),
        (lines,),
    )
    return column_taxonomy(where, ["line"])


def whole(*values: int) -> IntArray:
    return np.array(values, dtype=np.int64)


def chain(town: Taxonomy, periods: int, steps: int) -> list[PrefixCells]:
    """Steps in which every candidate but the last becomes a node."""
    found = [first_prefixes(town, periods=periods)]
    for _ in range(steps - 1):
        found.append(found[-1].below(np.arange(found[-1].size - 1, dtype=np.int64)))
    return found


@pytest.mark.parametrize("periods", [1, 3])
def test_describing_a_candidate_and_finding_it_again_agree(town: Taxonomy, periods: int) -> None:
    for cells in chain(town, periods, 4):
        every = np.arange(cells.size, dtype=np.int64)
        node, period, group = cells.describe(every)
        # Some location of each group stands for it.
        codes = town.codes(cells.grain)
        member = whole(*(int(np.flatnonzero(codes == code)[0]) for code in group))
        assert (cells.cell(node, period, member) == every).all()
        assert (np.diff(node) >= 0).all()
        assert set(node.tolist()) == set(range(cells.nodes))


def test_the_steps_alternate_between_groups_and_locations(town: Taxonomy) -> None:
    steps = chain(town, 1, 4)
    assert [(cells.stop, cells.grain) for cells in steps] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert [cells.size for cells in steps[:3]] == [3, 5, 12]
    assert "line of stop 1" in steps[0].name
    assert "place of stop 2" in steps[3].name


def test_periods_go_on_from_that_of_the_stop_before(town: Taxonomy) -> None:
    first = first_prefixes(town, periods=3)
    assert first.size == 9
    lines = first.below(whole(1, 8))  # line b in period 0, line c in period 2
    assert lines.node_period.tolist() == [0, 2]
    assert lines.size == 3 + 1
    later = lines.below(whole(0, 3))
    assert later.start.tolist() == [0, 9, 12]
    _, period, _ = later.describe(np.arange(12, dtype=np.int64))
    assert period.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2]


def test_nothing_kept_leaves_no_candidates(town: Taxonomy) -> None:
    assert first_prefixes(town).below(whole()).size == 0


def test_the_digest_depends_on_everything_that_was_kept(town: Taxonomy) -> None:
    root = first_prefixes(town)
    seen = [
        root.digest,
        first_prefixes(town, periods=2).digest,
        root.below(whole(0)).digest,
        root.below(whole(0, 1)).digest,
        root.below(whole(0)).below(whole(0)).digest,
        root.below(whole(0, 1)).below(whole(0)).digest,
    ]
    assert len(set(seen)) == len(seen)
    assert root.below(whole(0)).digest == first_prefixes(town).below(whole(0)).digest


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
