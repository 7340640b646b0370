"""Attacks on a curator by what it is asked: all fail, with nothing charged and nothing counted."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.errors import PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import groups_of
from hushway.families.od.public.features import Feature, period_feature, total_feature
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.calibration import loss_of_cuts
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import PureLoss
from hushway.privacy.query import CutQuery, ExactCounts, PartitionQuery, Query, WeightedQuery
from hushway.privacy.randomness import SeededSource
from support.scripts import output_of

IntArray = NDArray[np.int64]

EPSILON = PureLoss(Fraction(1, 2))
RHO = loss_of_cuts(Fraction(1, 7))
OCCUPIED = np.array([1, 4, 9], dtype=np.int64)


def od_cells() -> ODCells:
    day = date(2024, 1, 15)
    stops = (Location(id=str(i), name="", lon=0.0, lat=0.0, zone="a") for i in range(3))
    periods = Periods(zone="UTC", first_day=day, last_day=day, opens=480, closes=600, minutes=60)
    return ODCells(locations=Locations(tuple(stops)), periods=periods)


CELLS = od_cells()
BASE = Query(name="trips", cells=CELLS)


@dataclass
class Diary:
    """Plays counter and budget, and writes down that it was called."""

    pages: list[str] = field(default_factory=list)
    unit: Unit = Unit.PERSON

    def bound(self, _query: Query) -> Bound:
        return Bound(cells=2, each=1, total=2)

    def count(self, _query: Query) -> ExactCounts:
        self.pages.append("count")
        return ExactCounts(cells=OCCUPIED.copy(), values=np.array([7, 8, 9], dtype=np.int64))

    def charge(self, _event: Event) -> None:
        self.pages.append("charge")


@dataclass
class Spy:
    """Keeps everything that it is shown."""

    seen: list[Any] = field(default_factory=list)

    def __call__(self, *shown: Any) -> Any:
        self.seen.extend(shown)
        return np.zeros_like(shown[0])

    def saw_nothing_private(self) -> bool:
        return not any(np.isin(OCCUPIED, shown).all() for shown in self.seen)


def refused(ask: Callable[[Curator], object], reason: str) -> None:
    """Checks that a question is refused, unpaid and uncounted."""
    diary = Diary()
    curator = Curator(counter=diary, budget=diary, source=SeededSource(1))
    with pytest.raises(PrivacyError, match=reason):
        ask(curator)
    assert diary.pages == []
    assert curator.events == ()


def cuts() -> CutQuery:
    return CutQuery(name="cuts", base=BASE, length=CELLS.size, noise=Fraction(3))


def sums() -> WeightedQuery:
    all_cells = np.arange(CELLS.size, dtype=np.int64)
    return WeightedQuery(
        name="sums",
        base=BASE,
        cells=total_feature(CELLS),
        rows=np.zeros_like(all_cells),
        columns=all_cells,
        weights=np.ones_like(all_cells),
    )


def partition(cells: Any) -> PartitionQuery:
    return PartitionQuery(name="elements", base=BASE, cells=cells)


class LooksLikeCuts:
    """Has all that `Curator.cuts` asks of a query."""

    name, base, cells = "cuts", BASE, CELLS

    def __init__(self, spy: Spy) -> None:
        self.scores = spy
        self.kept = int


class LooksLikeAPartition:
    """One element, as an honest partition would say."""

    name, size, digest = "all", 1, "sha256:0"

    def __init__(self, spy: Spy) -> None:
        self.of = spy


class LooksLikeGroups:
    """One group, as an honest grouping would say."""

    count, sizes = 1, np.array([CELLS.size])

    def __init__(self, spy: Spy) -> None:
        self.of = spy
        self._spy = spy

    def rank(self, cells: IntArray) -> IntArray:
        self._spy(cells)
        return cells

    def cell(self, _group: IntArray, rank: IntArray) -> IntArray:
        return rank


class SpyingArray(np.ndarray):
    """An array that is asked whenever it meets another one."""

    spy = Spy()

    def __array_function__(self, _what: Any, _types: Any, shown: Any, _how: Any) -> Any:
        self.spy(*shown)


class SpyingUniverse:
    """Says how many pairs there are, with a number that is asked whenever it divides."""

    periods, digest = (0, 1), CELLS.digest

    class Pairs(int):
        spy = Spy()

        def __rdivmod__(self, shown: Any) -> Any:
            return self.spy(shown), self.spy(shown)

    pairs = Pairs(CELLS.pairs)


def test_a_look_alike_of_cuts_sees_no_count() -> None:
    spy = Spy()
    asked: Any = LooksLikeCuts(spy)
    refused(lambda curator: curator.cuts(asked, RHO), "takes CutQuery")
    assert spy.seen == []


def test_a_look_alike_of_a_partition_sees_no_occupied_cell() -> None:
    spy = Spy()
    asked = partition(LooksLikeAPartition(spy))
    refused(lambda curator: curator.counts(asked, EPSILON), "not declared public")
    assert spy.saw_nothing_private()


def test_look_alikes_of_groups_see_no_occupied_cell() -> None:
    spy = Spy()
    groups: Any = LooksLikeGroups(spy)
    refused(lambda curator: curator.counts_lazily(BASE, groups, EPSILON), "not declared public")
    assert spy.saw_nothing_private()


@pytest.mark.parametrize("kind", [Query, PartitionQuery, WeightedQuery, CutQuery, Feature, ODCells])
def test_queries_and_cells_have_no_subclasses(kind: type) -> None:
    with pytest.raises(PrivacyError, match="would change"):
        type("Sly", (kind,), {"of": Spy()})


@pytest.mark.parametrize(
    ("asked", "verb", "method"),
    [
        (cuts, lambda curator, query: curator.cuts(query, RHO), "scores"),
        (sums, lambda curator, query: curator.weighted(query, EPSILON), "apply"),
        (sums, lambda curator, query: curator.select(query, EPSILON), "apply"),
        (
            lambda: partition(period_feature(CELLS)),
            lambda curator, query: curator.counts(query, EPSILON),
            "apply",
        ),
    ],
    ids=["cuts", "weighted", "select", "counts"],
)
def test_a_query_with_a_method_of_its_own_is_refused(
    asked: Callable[[], Any], verb: Callable[[Curator, Any], object], method: str
) -> None:
    query, spy = asked(), Spy()
    object.__setattr__(query, method, spy)
    refused(lambda curator: verb(curator, query), "do not belong")
    assert spy.seen == []


def test_cells_with_a_method_of_their_own_are_refused() -> None:
    spy = Spy()
    feature, groups = period_feature(CELLS), groups_of(CELLS, [period_feature(CELLS)])
    object.__setattr__(feature, "of", spy)
    object.__setattr__(groups, "rank", spy)
    refused(lambda curator: curator.counts(partition(feature), EPSILON), "do not belong")
    refused(lambda curator: curator.counts_lazily(BASE, groups, EPSILON), "do not belong")
    assert spy.saw_nothing_private()


def test_public_cells_made_of_something_else_are_refused() -> None:
    universe: Any = SpyingUniverse()
    feature = Feature(title="all", universe=universe, pairs=None, periods=None)
    refused(lambda curator: curator.counts(partition(feature), EPSILON), "not declared public")
    assert SpyingUniverse.Pairs.spy.saw_nothing_private()


def test_weights_that_answer_by_themselves_are_refused() -> None:
    query = sums()
    object.__setattr__(query, "columns", query.columns.view(SpyingArray))
    refused(lambda curator: curator.weighted(query, EPSILON), "not declared public")
    assert SpyingArray.spy.saw_nothing_private()


def test_a_query_is_built_on_a_query() -> None:
    query = cuts()
    object.__setattr__(query, "base", sums())
    refused(lambda curator: curator.cuts(query, RHO), "base")


def test_a_spend_is_exactly_a_loss() -> None:
    class Cheaper(PureLoss):
        pass

    spend = Cheaper(Fraction(1, 2))
    for ask in (
        lambda curator: curator.counts(BASE, spend),
        lambda curator: curator.weighted(sums(), spend),
        lambda curator: curator.counts_above(BASE, 3, spend),
        lambda curator: curator.counts_lazily(BASE, groups_of(CELLS, []), spend),
        lambda curator: curator.select(BASE, spend),
        lambda curator: curator.cuts(cuts(), spend),
    ):
        refused(ask, "spend")


VERBS: dict[str, Callable[[Curator], object]] = {
    "bound": lambda curator: curator.bound(BASE),
    "counts": lambda curator: curator.counts(BASE, EPSILON),
    "partition": lambda curator: curator.counts(partition(period_feature(CELLS)), EPSILON),
    "weighted": lambda curator: curator.weighted(sums(), EPSILON),
    "counts_above": lambda curator: curator.counts_above(BASE, 3, EPSILON),
    "counts_lazily": lambda curator: curator.counts_lazily(BASE, groups_of(CELLS, []), EPSILON),
    "select": lambda curator: curator.select(BASE, EPSILON),
    "cuts": lambda curator: curator.cuts(cuts(), RHO),
}
verbs = pytest.mark.parametrize("ask", VERBS.values(), ids=VERBS.keys())


@verbs
def test_honest_questions_are_answered(ask: Callable[[Curator], object]) -> None:
    diary = Diary()
    ask(Curator(counter=diary, budget=diary, source=SeededSource(1)))
    assert diary.pages in ([], ["charge", "count"])


@pytest.mark.parametrize("name", [name for name in VERBS if name != "partition"])
def test_every_verb_refuses_kinds_that_it_does_not_know(name: str) -> None:
    others = {"weighted": BASE, "counts": sums(), "select": partition(period_feature(CELLS))}
    wrong = others.get(name, cuts() if name != "cuts" else BASE)
    arguments = {"counts_above": (3, EPSILON), "counts_lazily": (groups_of(CELLS, []), EPSILON)}
    rest: Any = arguments.get(name, () if name == "bound" else (EPSILON,))
    refused(lambda curator: getattr(curator, name)(wrong, *rest), "This verb of a curator takes")


@verbs
def test_a_curator_answers_only_in_the_process_that_made_it(
    ask: Callable[[Curator], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    diary = Diary()
    curator = Curator(counter=diary, budget=diary, source=SeededSource(1))
    here = os.getpid()
    monkeypatch.setattr("os.getpid", lambda: here + 1)
    with pytest.raises(PrivacyError, match="copy of its process") as refusal:
        ask(curator)
    assert "process that made it" in refusal.value.advice
    assert diary.pages == []


def test_a_forked_child_cannot_measure_and_its_parent_can() -> None:
    printed = output_of(
        """
        import os
        from fractions import Fraction
        import numpy as np
        from dataclasses import dataclass
        from hushway.errors import PrivacyError
        from hushway.privacy.bound import Bound
        from hushway.privacy.curator import Curator
        from hushway.privacy.loss import PureLoss
        from hushway.privacy.query import ExactCounts, Query
        from hushway.privacy.randomness import os_source
        from hushway.privacy.public_facts import public_facts

        @public_facts
        @dataclass(frozen=True)
        class Box:
            name: str = "box"
            size: int = 1
            digest: str = "sha256:0"

        class Played:
            def bound(self, query): return Bound(cells=1, each=1, total=1)
            def count(self, query):
                return ExactCounts(cells=np.zeros(1, int), values=np.ones(1, int))
            def charge(self, event): print("charged", flush=True)

        played = Played()
        curator = Curator(counter=played, budget=played, source=os_source())
        child = os.fork()
        try:
            curator.counts(Query(name="box", cells=Box()), PureLoss(Fraction(1)))
        except PrivacyError:
            os._exit(42)
        if child == 0:
            os._exit(2)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert printed.split() == ["charged", "42"]
