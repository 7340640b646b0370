from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.errors import PlanError
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.memory import ArraySequences
from hushway.families.sequences.study.paper import PaperRelease, paper_prefix_tree
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.privacy.bound import Unit
from hushway.privacy.randomness import SeededSource


def universe_of(locations: int, groups: int | None = None) -> SequenceUniverse:
    places = Locations(
        tuple(Location(id=str(i), name="", lon=0.0, lat=0.0, zone="") for i in range(locations))
    )
    if groups is None:
        return SequenceUniverse(taxonomy=Taxonomy(locations=places))
    codes = np.arange(locations, dtype=np.int32) % groups
    line = labels_of_codes("line", codes, [str(g) for g in range(groups)])
    return SequenceUniverse(taxonomy=Taxonomy(locations=places, levels=(line,)))


def release(
    universe: SequenceUniverse,
    records: Sequence[Sequence[int]],
    *,
    epsilon: Fraction,
    height: int = 3,
    most_nodes: int = 10**6,
) -> PaperRelease:
    counter = ArraySequences(
        taxonomy=universe.taxonomy,
        unit=Unit.RECORD,
        max_records=1,
        max_stops=height,
        key=BoundingKey.draw(SeededSource(1)),
        start=np.cumsum([0, *map(len, records)]),
        stops=np.array([stop for record in records for stop in record], dtype=np.int64),
    )
    return paper_prefix_tree(
        counter,
        universe,
        epsilon=epsilon,
        height=height,
        source=SeededSource(6),
        most_nodes=most_nodes,
    ).value


def counted(found: PaperRelease) -> dict[tuple[int, ...], int]:
    data = found.sequences
    cut = np.split(data.stops, data.start[1:-1])
    return {tuple(part.tolist()): int(n) for part, n in zip(cut, data.weights, strict=True)}


@pytest.mark.long
@pytest.mark.parametrize("groups", [None, 2])
def test_with_a_large_budget_the_paper_s_release_is_the_truth(groups: int | None) -> None:
    rng = np.random.default_rng(3)
    records = [rng.integers(0, 8, size=rng.integers(1, 4)).tolist() for _ in range(120)]
    found = release(universe_of(8, groups), records, epsilon=Fraction(300))
    assert counted(found) == Counter(map(tuple, records))


def test_the_noise_of_the_simple_tree_multiplies_until_it_is_stopped() -> None:
    found = release(universe_of(500), [], epsilon=Fraction(1), height=8, most_nodes=3000)
    # About 15 false children each: 15, then 220, and 3200 would be too many.
    assert found.steps == 2
    assert 100 < found.nodes < 500


def test_the_noise_of_the_hybrid_tree_dies_out() -> None:
    found = release(universe_of(500, 25), [[0, 25]] * 4000, epsilon=Fraction(2), height=8)
    assert found.steps < 16
    assert max(counted(found), key=counted(found).__getitem__) == (0, 25)


@pytest.mark.parametrize("groups", [4, 8])
def test_groups_of_two_leave_nothing_for_locations_and_are_refused(groups: int) -> None:
    with pytest.raises(PlanError, match="more than two places"):
        release(universe_of(8, groups), [[1]], epsilon=Fraction(1))
