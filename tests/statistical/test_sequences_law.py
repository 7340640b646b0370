"""A prefix tree has the law of a tree in which every candidate is drawn one by one.

That law is enumerated from the definition: a candidate is a node if its count plus noise reaches
the threshold, and only then its children are candidates. Nothing here uses the tree's own
numbering.
Seeds are fixed, and a chance below 1e-6 is the alarm.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from hushway.families.sequences.fit.table import Nodes, nodes_of
from hushway.families.sequences.mechanism.steps import PaperThresholds, StepAnswer
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Location, Locations, labels_of_codes
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import PureLoss
from hushway.privacy.query import ExactCounts, Query
from hushway.privacy.randomness import SeededSource
from support.goodness_of_fit import chi_square
from support.long import often

Record = tuple[tuple[int, int], ...]
# A node is the list of its steps: a period, and the locations of a group (or one location).
Node = tuple[tuple[int, frozenset[int]], ...]

ALARM = 1e-6
RUNS = 800


@dataclass(frozen=True)
class City:
    """Groups of each granularity as sets of locations; records as (period, location)."""

    grains: tuple[tuple[frozenset[int], ...], ...]
    moments: int
    height: int
    records: tuple[Record, ...]

    def universe(self) -> SequenceUniverse:
        finest = self.grains[-1]
        places = tuple(
            Location(id=str(i), name="", lon=0.0, lat=0.0, zone="") for i in range(len(finest))
        )
        levels = tuple(
            labels_of_codes(
                f"level{number}",
                np.array(
                    [
                        next(g for g, group in enumerate(groups) if i in group)
                        for i in range(len(finest))
                    ],
                    dtype=np.int32,
                ),
                [str(g) for g in range(len(groups))],
            )
            for number, groups in enumerate(self.grains[:-1])
        )
        day = date(2024, 1, 15)
        periods = Periods(
            zone="UTC", first_day=day, last_day=day, opens=0, closes=60 * self.moments, minutes=60
        )
        return SequenceUniverse(
            taxonomy=Taxonomy(locations=Locations(places), levels=levels),
            periods=periods if self.moments > 1 else None,
        )

    def count(self, node: Node) -> int:
        return sum(self._is_below(record, node) for record in self.records)

    def _is_below(self, record: Record, node: Node) -> bool:
        stops = [(step // len(self.grains), *entry) for step, entry in enumerate(node)]
        return all(
            stop < len(record) and record[stop][0] == period and record[stop][1] in places
            for stop, period, places in stops
        )

    def children(self, node: Node) -> list[Node]:
        grain = len(node) % len(self.grains)
        if len(node) == self.height * len(self.grains):
            return []
        if grain == 0:
            now = node[-1][0] if node else 0
            return [
                (*node, (period, group))
                for period in range(now, self.moments)
                for group in self.grains[0]
            ]
        period, whole = node[-1]
        return [(*node, (period, group)) for group in self.grains[grain] if group <= whole]


class Town:
    """Counts the records of a city one by one, and spends on everything."""

    unit = Unit.PERSON

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def bound(self, query: Query) -> Bound:
        assert query.cells.size > 0
        return Bound(cells=1, each=1, total=1)

    def count(self, query: Query) -> ExactCounts:
        assert isinstance(query.cells, PrefixCells)
        found = Counter(_cell(record, query.cells) for record in self._records)
        del found[-1]
        cells = np.array(sorted(found), dtype=np.int64)
        values = np.array([found[int(cell)] for cell in cells], dtype=np.int64)
        return ExactCounts(cells=cells, values=values)

    def charge(self, event: Event) -> None:
        assert event.cells > 0


def _cell(record: Record, cells: PrefixCells) -> int:
    if cells.stop >= len(record):
        return -1
    node = 0
    if cells.above is not None:
        above = _cell(record, cells.above)
        if above not in cells.kept:
            return -1
        node = int(np.searchsorted(cells.kept, above))
    return int(cells.cell(*(np.array([x]) for x in (node, *record[cells.stop])))[0])


def tree_of(city: City, epsilons: Sequence[Fraction]) -> PrefixTree:
    spends = tuple(PureLoss(epsilon) for epsilon in epsilons) * city.height
    return PrefixTree(
        universe=city.universe(), spends=spends, thresholds=PaperThresholds(), supercritical=True
    )


def grow(tree: PrefixTree, city: City, source: SeededSource) -> Nodes:
    town = Town(city.records)
    curator = Curator(counter=town, budget=town, source=source)
    answers = [StepAnswer.of(answer) for answer in tree.measure(curator, tree.universe)]
    return nodes_of([(answer.cells, answer.shown) for answer in answers])


def named(nodes: Nodes, city: City, taxonomy: Taxonomy) -> list[Node]:
    names: list[Node] = []
    for i, parent in enumerate(nodes.parent.tolist()):
        codes = taxonomy.codes(int(nodes.step[i]) % taxonomy.grains)
        places = frozenset(np.flatnonzero(codes == nodes.code[i]).tolist())
        above = names[parent] if parent >= 0 else ()
        names.append((*above, (int(nodes.period[i]), places)))
    assert all(names[i] in city.children(names[i][:-1]) for i in range(len(names)))
    return names


def passing(distance: int, epsilon: float) -> float:
    """P(Z >= distance) of discrete Laplace noise of scale 1/epsilon."""
    ratio = math.exp(-epsilon)
    return (
        ratio**distance / (1 + ratio) if distance > 0 else 1 - ratio ** (1 - distance) / (1 + ratio)
    )


def enumerated(
    city: City, node: Node, chance: Callable[[Node], float]
) -> dict[frozenset[Node], float]:
    """The probability of every set of nodes that can be kept below a node."""
    law: dict[frozenset[Node], float] = {frozenset(): 1.0}
    for child in city.children(node):
        passes = chance(child)
        below = {kept | {child}: passes * p for kept, p in enumerated(city, child, chance).items()}
        one = {frozenset[Node](): 1 - passes, **below}
        law = {kept | more: p * q for kept, p in law.items() for more, q in one.items()}
    return law


def singles(places: int) -> tuple[frozenset[int], ...]:
    return tuple(frozenset([i]) for i in range(places))


def at_once(*sequences: Sequence[int]) -> tuple[Record, ...]:
    return tuple(tuple((0, place) for place in sequence) for sequence in sequences)


UNEVEN = (frozenset([0, 2]), frozenset([1]))
CASES = {
    "simple, two stops": (
        City((singles(2),), 1, 2, at_once(*[[0, 1]] * 5, *[[1, 0]] * 4, [0])),
        [Fraction(3, 4)],
    ),
    "uneven groups, two stops": (
        City((UNEVEN, singles(3)), 1, 2, at_once(*[[0, 1]] * 5, *[[2, 2]] * 3, *[[1, 0]] * 6)),
        [Fraction(1), Fraction(3, 4)],
    ),
    "with times": (
        City(
            (singles(2),),
            2,
            2,
            (((0, 0), (1, 1)), ((0, 0), (1, 1)), ((0, 0), (0, 0)), *[((1, 1), (1, 0))] * 2),
        ),
        [Fraction(3, 2)],
    ),
    "two levels, one stop": (
        City(
            (
                (frozenset([0, 1, 3]), frozenset([2])),
                (frozenset([0, 3]), frozenset([1]), frozenset([2])),
                singles(4),
            ),
            1,
            1,
            at_once(*[[0]] * 5, *[[3]] * 3, [2]),
        ),
        [Fraction(1), Fraction(1), Fraction(1, 2)],
    ),
    "nobody": (City((singles(3),), 1, 2, ()), [Fraction(1, 2)]),
}


@pytest.mark.parametrize("case", often((case,) for case in CASES.values()), ids=CASES.keys())
def test_the_kept_nodes_have_the_law_of_explicit_enumeration(
    case: tuple[City, list[Fraction]],
) -> None:
    city, epsilons = case
    tree = tree_of(city, epsilons)

    def chance(node: Node) -> float:
        grain = (len(node) - 1) % len(city.grains)
        deviations = 2 if grain == len(city.grains) - 1 else 4
        epsilon = float(epsilons[grain])
        threshold = math.ceil(deviations * math.sqrt(2) / epsilon)
        return passing(threshold - city.count(node), epsilon)

    law = enumerated(city, (), chance)
    source = SeededSource(17)
    seen = Counter(
        frozenset(named(grow(tree, city, source), city, tree.universe.taxonomy))
        for _ in range(RUNS)
    )
    assert set(seen) <= set(law)
    outcomes = list(law)
    assert chi_square([seen[kept] for kept in outcomes], [law[kept] for kept in outcomes]) > ALARM


@pytest.mark.long
def test_counts_of_a_prefix_that_nobody_took_are_geometric_above_the_threshold() -> None:
    city = City((singles(60),), 1, 2, at_once(*[[0]] * 80))
    tree = tree_of(city, [Fraction(1, 4)])
    threshold = math.ceil(2 * math.sqrt(2) * 4)
    source = SeededSource(23)
    excess: list[int] = []
    for _ in range(200):
        nodes = grow(tree, city, source)
        second = nodes.step == 1
        excess += (nodes.measured[second] - threshold).tolist()
    assert len(excess) > 500
    ratio = math.exp(-1 / 4)
    longest = max(excess)
    law = [(1 - ratio) * ratio**j for j in range(longest)]
    seen = np.bincount(excess, minlength=longest + 1)
    assert chi_square(seen, [*law, 1 - sum(law)]) > ALARM
