import ast
import copy
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.errors import BudgetError, PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.feature_structure import groups_of
from hushway.families.od.public.features import pair_feature, place_pair_labels
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods
from hushway.privacy import curator as curator_module
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.curator import MOST_CELLS, MOST_DENSE_CELLS, Curator
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent, SelectEvent
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss
from hushway.privacy.noise.exponential import exponential_choice
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.public_facts import public_facts
from hushway.privacy.query import ExactCounts, Partition, PartitionQuery, Query, WeightedQuery
from hushway.privacy.randomness import SeededSource
from support.boxes import Boxes, ints

EPSILON = PureLoss(Fraction(1, 2))
RHO = ZCDPLoss(Fraction(1, 8))
BOUND = Bound(cells=2, each=1, total=2)


@dataclass
class Diary:
    """Plays counter and budget, and writes down who was called when."""

    counts: ExactCounts = field(
        default_factory=lambda: ExactCounts(
            cells=ints(1, 4, 9), values=ints(70_001, 80_002, 90_003)
        )
    )
    budget_limit: int = 10**9
    pages: list[str] = field(default_factory=list)
    unit: Unit = Unit.PERSON

    def bound(self, query: Query) -> Bound:
        assert query.cells.size > 0
        return BOUND

    def count(self, query: Query) -> ExactCounts:
        self.pages.append(f"count {query.name}")
        return self.counts

    def charge(self, event: Event) -> None:
        if sum(page.startswith("charge") for page in self.pages) >= self.budget_limit:
            raise BudgetError("The account is empty.")
        self.pages.append(f"charge {event.kind}")


def curator_of(diary: Diary, seed: int = 1) -> Curator:
    return Curator(counter=diary, budget=diary, source=SeededSource(seed))


def query(size: int = 12) -> Query:
    return Query(name="trips", cells=Boxes(size))


def totals(size: int = 12) -> WeightedQuery:
    """Sums of even and of odd cells, the even ones twice."""
    cells = np.arange(size, dtype=np.int64)
    return WeightedQuery(
        name="totals",
        base=query(size),
        cells=Boxes(2),
        rows=cells % 2,
        columns=cells,
        weights=2 - cells % 2,
    )


@dataclass(frozen=True)
class Three:
    """Three elements that some rule puts cells into."""

    size: int = 3
    name: str = "thirds"
    digest: str = "sha256:1"


@public_facts
@dataclass(frozen=True)
class Thirds(Three):
    """Cells 0, 3, 6, ..., then 1, 4, 7, ..., then 2, 5, 8, ..."""

    def of(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        return cells % 3


@public_facts
@dataclass(frozen=True)
class Rows:
    """Groups of three cells in a row."""

    size: int

    @property
    def count(self) -> int:
        return self.size // 3

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.full(self.count, 3)

    def of(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        return cells // 3

    def rank(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        return cells % 3

    def cell(self, group: NDArray[np.int64], rank: NDArray[np.int64]) -> NDArray[np.int64]:
        return 3 * group + rank


def thirds(cells: Partition | None = None) -> PartitionQuery:
    return PartitionQuery(name="thirds", base=query(), cells=Thirds() if cells is None else cells)


VERBS: dict[str, Callable[[Curator], object]] = {
    "counts": lambda curator: curator.counts(query(), EPSILON),
    "counts, gaussian": lambda curator: curator.counts(query(), RHO),
    "counts, partition": lambda curator: curator.counts(thirds(), EPSILON),
    "counts_lazily": lambda curator: curator.counts_lazily(query(), Rows(12), EPSILON),
    "counts_lazily, gaussian": lambda curator: curator.counts_lazily(query(), Rows(12), RHO),
    "counts_above": lambda curator: curator.counts_above(query(), 3, EPSILON),
    "counts_above, gaussian": lambda curator: curator.counts_above(query(), 3, RHO),
    "weighted": lambda curator: curator.weighted(totals(), EPSILON),
    "select": lambda curator: curator.select(query(), EPSILON),
    "select, weighted": lambda curator: curator.select(totals(), EPSILON),
}
verbs = pytest.mark.parametrize("ask", VERBS.values(), ids=VERBS.keys())


@verbs
def test_the_budget_is_charged_before_anything_is_counted(ask: Callable[[Curator], object]) -> None:
    diary = Diary()
    curator = curator_of(diary)
    ask(curator)
    assert [page.split()[0] for page in diary.pages] == ["charge", "count"]
    assert len(curator.events) == 1


@verbs
def test_a_refused_charge_leaves_the_counter_and_the_events_untouched(
    ask: Callable[[Curator], object],
) -> None:
    diary = Diary(budget_limit=0)
    curator = curator_of(diary)
    with pytest.raises(BudgetError):
        ask(curator)
    assert diary.pages == []
    assert curator.events == ()


@verbs
def test_a_charge_stays_when_counting_fails(ask: Callable[[Curator], object]) -> None:
    class Broken(Diary):
        def count(self, query: Query) -> ExactCounts:
            raise RuntimeError(query.name)

    diary = Broken()
    curator = curator_of(diary)
    with pytest.raises(RuntimeError):
        ask(curator)
    assert len(curator.events) == len(diary.pages) == 1


@verbs
@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (ints(1, 12), ints(1, 1)),
        (ints(-1, 3), ints(1, 1)),
        (ints(3, 1), ints(1, 1)),
        (ints(3, 3), ints(1, 1)),
        (ints(12, 3), ints(1, 1)),
        (ints(3), ints(1, 1)),
        (ints(3, 4), ints(1)),
        (ints(3), ints(1).astype(np.float64)),
        (np.array([4, 3], dtype=np.uint64), ints(1, 1)),
        (ints(3, 4).reshape(1, 2), ints(1, 1).reshape(1, 2)),
    ],
)
def test_an_engine_that_counts_outside_the_public_cells_is_refused(
    ask: Callable[[Curator], object], cells: NDArray[np.int64], values: NDArray[np.int64]
) -> None:
    diary = Diary(counts=ExactCounts(cells=cells, values=values))
    with pytest.raises(PrivacyError, match="not in the public list") as refusal:
        ask(curator_of(diary))
    assert not any(digit in str(refusal.value) for digit in "0123456789")


def test_a_universe_that_is_too_large_or_empty_is_refused_before_anything_is_charged() -> None:
    diary = Diary()
    curator = curator_of(diary)
    for size in (0, MOST_DENSE_CELLS + 1):
        with pytest.raises(PrivacyError, match="cells; this measurement"):
            curator.counts(query(size), EPSILON)
        with pytest.raises(PrivacyError, match="cells; this measurement"):
            curator.select(query(size), EPSILON)
    for size in (0, MOST_CELLS + 1):
        with pytest.raises(PrivacyError, match="cells; this measurement"):
            curator.counts_above(query(size), 3, EPSILON)
        with pytest.raises(PrivacyError, match="cells; this measurement"):
            curator.counts_lazily(query(size), Rows(12), EPSILON)
    assert diary.pages == []
    assert curator.events == ()


@pytest.mark.parametrize(
    "ask",
    [
        lambda curator: curator.counts(query(), PureLoss(Fraction(1, 10**9))),
        lambda curator: curator.counts_above(query(), 3, ZCDPLoss(Fraction(1, 10**20))),
        lambda curator: curator.counts_above(query(), 3, ZCDPLoss(Fraction(1, 10**11))),
        lambda curator: curator.counts_above(query(10**12), 0, EPSILON),
        lambda curator: curator.counts_lazily(query(), Rows(12), ZCDPLoss(Fraction(1, 10**11))),
        lambda curator: curator.counts_lazily(query(), Rows(15), EPSILON),
        lambda curator: curator.select(query(), RHO),
    ],
    ids=[
        "scale",
        "sigma",
        "sparse sigma",
        "too many to show",
        "lazy sigma",
        "groups of another universe",
        "rho",
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_charged(
    ask: Callable[[Curator], object],
) -> None:
    diary = Diary()
    with pytest.raises(PrivacyError):
        ask(curator_of(diary))
    assert diary.pages == []


@pytest.mark.parametrize("threshold", [2.5, "3", None])
def test_a_threshold_that_is_not_a_whole_number_is_refused_before_anything_is_charged(
    threshold: int,
) -> None:
    diary = Diary()
    with pytest.raises(TypeError):
        curator_of(diary).counts_above(query(), threshold, EPSILON)
    assert diary.pages == []


@pytest.mark.parametrize(
    ("spend", "law"),
    [(EPSILON, DiscreteLaplace(Fraction(4))), (RHO, DiscreteGaussian(Fraction(8)))],
    ids=str,
)
def test_a_dense_measurement_is_the_exact_count_plus_noise_of_the_stated_law(
    spend: Loss, law: DiscreteLaplace | DiscreteGaussian
) -> None:
    diary = Diary()
    measured = curator_of(diary, seed=5).counts(query(), spend)
    expected = law.draw(SeededSource(5), 12)
    expected[diary.counts.cells] += diary.counts.values
    assert measured.values.tolist() == expected.tolist()
    assert measured.variance == law.variance
    assert measured.event.loss == spend


def test_a_weighted_measurement_is_the_exact_sum_plus_noise() -> None:
    diary = Diary()
    measured = curator_of(diary, seed=6).weighted(totals(), EPSILON)
    noise = DiscreteLaplace(Fraction(8)).draw(SeededSource(6), 2)
    assert measured.values.tolist() == (ints(2 * 80_002, 70_001 + 90_003) + noise).tolist()
    assert measured.event.bound == Bound(cells=2, each=4, total=4)


def test_a_measured_partition_is_the_exact_sum_plus_noise() -> None:
    diary = Diary()
    measured = curator_of(diary, seed=8).counts(thirds(), EPSILON)
    noise = DiscreteLaplace(Fraction(4)).draw(SeededSource(8), 3)
    exact = ints(90_003, 70_001 + 80_002, 0)
    assert measured.values.tolist() == (exact + noise).tolist()
    assert measured.query == thirds()
    assert measured.event.bound == Bound(cells=2, each=2, total=2)
    assert measured.event.cells == 3
    assert measured.event.loss == EPSILON


def test_gaussian_noise_of_a_partition_covers_records_that_fall_together() -> None:
    measured = curator_of(Diary()).counts(thirds(), RHO)
    assert measured.variance == Fraction(2**2) / (2 * RHO.rho)


def test_elements_without_a_record_get_noise_like_all_others() -> None:
    values = curator_of(Diary()).counts(thirds(Thirds(size=3000)), EPSILON).values
    assert len(values) == 3000
    assert np.count_nonzero(values[3:]) > 2400
    assert values[3:].std() == pytest.approx(4 * 2**0.5, rel=0.2)


def test_a_partition_that_has_no_element_for_an_occupied_cell_is_refused_and_stays_paid() -> None:
    @public_facts
    @dataclass(frozen=True)
    class Gap(Three):
        def of(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.where(cells == 4, 3, cells % 3)

    @public_facts
    @dataclass(frozen=True)
    class Failing(Three):
        def of(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
            if (cells == 4).any():
                raise IndexError(4)
            return cells % 3

    for partition in (Gap(), Failing()):
        diary = Diary()
        curator = curator_of(diary)
        with pytest.raises(PrivacyError, match="in which of its elements") as refusal:
            curator.counts(thirds(partition), EPSILON)
        assert not any(digit in str(refusal.value) for digit in "0123456789")
        assert [page.split()[0] for page in diary.pages] == ["charge", "count"]
        assert len(curator.events) == 1


def test_a_partition_that_writes_into_what_it_is_given_does_not_change_the_counts() -> None:
    @public_facts
    @dataclass(frozen=True)
    class Careless(Three):
        def of(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
            cells %= 3
            return cells

    diary = Diary()
    curator_of(diary).counts(thirds(Careless()), EPSILON)
    assert diary.counts.cells.tolist() == [1, 4, 9]


def places(count: int) -> ODCells:
    day = date(2024, 1, 15)
    stops = (Location(id=str(i), name="", lon=0.0, lat=0.0, zone="ab"[i % 2]) for i in range(count))
    periods = Periods(zone="UTC", first_day=day, last_day=day, opens=480, closes=600, minutes=60)
    return ODCells(locations=Locations(tuple(stops)), periods=periods)


def test_features_and_groups_of_places_can_be_measured() -> None:
    cells = places(4)
    zones = place_pair_labels(cells, "zone", ["a", "b", "a", "b"])
    feature = pair_feature(cells, "zones", zones)
    base = Query(name="trips", cells=cells)
    curator = curator_of(Diary(), seed=9)
    measured = curator.counts(PartitionQuery(name="zones", base=base, cells=feature), EPSILON)
    noise = DiscreteLaplace(Fraction(4)).draw(SeededSource(9), feature.size)
    exact = np.zeros(feature.size, dtype=np.int64)
    np.add.at(exact, feature.of(ints(1, 4, 9)), ints(70_001, 80_002, 90_003))
    assert (measured.values - exact).tolist() == noise.tolist()
    groups = groups_of(cells, [feature])
    shown = curator.counts_lazily(base, groups, EPSILON).reveal_groups(np.full(groups.count, 9999))
    assert sorted(shown.cells.tolist()) == [1, 4, 9]


def test_the_privacy_code_does_not_know_what_places_are() -> None:
    imported = {
        node.module or ""
        for path in Path(curator_module.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    }
    assert "hushway.privacy.bound" in imported
    # Days are no places: the ledger keeps them apart by the same clock that rows are counted by.
    assert {name for name in imported if name.startswith("hushway.geography")} <= {
        "hushway.privacy.public_facts",
        "hushway.geography.periods",
    }


def test_a_choice_is_the_one_of_the_exponential_mechanism() -> None:
    exact = np.zeros(12, dtype=np.int64)
    diary = Diary(counts=ExactCounts(cells=ints(1, 4, 9), values=ints(3, 1, 2)))
    exact[diary.counts.cells] = diary.counts.values
    chosen = [curator_of(diary, seed=s).select(query(), EPSILON) for s in range(40)]
    sources = [SeededSource(s) for s in range(40)]
    assert chosen == [exponential_choice(source, exact, Fraction(1, 4)) for source in sources]
    assert all(type(choice) is int for choice in chosen)


def test_a_sparse_measurement_shows_counts_plus_noise() -> None:
    diary = Diary()
    shown = curator_of(diary, seed=7).counts_above(query(10**12), 10**4, EPSILON).reveal()
    noise = DiscreteLaplace(Fraction(4)).draw(SeededSource(7), 3)
    assert shown.cells.tolist() == [1, 4, 9]
    assert shown.values.tolist() == (diary.counts.values + noise).tolist()


def test_a_lazy_measurement_shows_counts_plus_noise_and_has_no_threshold() -> None:
    diary = Diary()
    answer = curator_of(diary, seed=7).counts_lazily(query(12), Rows(12), EPSILON)
    shown = answer.reveal_groups(np.full(4, 10**4))
    noise = DiscreteLaplace(Fraction(4)).draw(SeededSource(7), 3)
    assert shown.cells.tolist() == [1, 4, 9]
    assert shown.values.tolist() == (diary.counts.values + noise).tolist()
    assert shown.start.tolist() == [0, 1, 2, 2, 3]
    assert answer.threshold is None
    assert answer.event.loss == EPSILON


def test_events_describe_what_was_done_in_order() -> None:
    curator = curator_of(Diary())
    curator.counts(query(), EPSILON)
    curator.counts_above(query(), 1, RHO)
    curator.weighted(totals(), RHO)
    curator.select(query(), EPSILON)
    kinds = tuple(type(event) for event in curator.events)
    assert kinds == (LaplaceEvent, GaussianEvent, GaussianEvent, SelectEvent)
    assert [event.loss for event in curator.events] == [EPSILON, RHO, RHO, EPSILON]
    assert [event.cells for event in curator.events] == [12, 12, 2, 12]


def test_the_events_cannot_be_changed_from_outside() -> None:
    curator = curator_of(Diary())
    curator.counts(query(), EPSILON)
    assert isinstance(curator.events, tuple)
    with pytest.raises(AttributeError):
        curator.events = ()


def test_the_bound_of_a_query_is_public() -> None:
    diary = Diary()
    curator = curator_of(diary)
    assert curator.bound(query()) == BOUND
    assert curator.bound(totals()) == totals().bound(BOUND)
    assert curator.bound(thirds()) == thirds().bound(BOUND)
    assert diary.pages == []


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, pickle.dumps, partial(pickle.dumps, protocol=0)]
)
def test_a_curator_cannot_be_copied(duplicate: Callable[[object], object]) -> None:
    with pytest.raises(PrivacyError, match="copied"):
        duplicate(curator_of(Diary()))


def test_a_curator_that_is_gone_leaves_no_rows_behind() -> None:
    gc.collect()
    before = len(curator_module._VAULTS)
    curator = curator_of(Diary())
    assert len(curator_module._VAULTS) == before + 1
    del curator
    gc.collect()
    assert len(curator_module._VAULTS) == before


def parts_of(thing: Any) -> Iterator[Any]:
    """Everything one step away: attributes, slots, items, closures, defaults, weak references."""
    if isinstance(thing, Mapping):
        yield from thing.keys()
        yield from thing.values()
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from thing
    elif isinstance(thing, np.ndarray):
        yield thing.base
    elif isinstance(thing, weakref.ref):
        yield from (thing(), thing.__callback__)
    elif isinstance(thing, MethodType | BuiltinFunctionType | MethodWrapperType):
        yield thing.__self__
    elif isinstance(thing, partial):
        yield from (thing.func, thing.args, thing.keywords)
    elif isinstance(thing, FunctionType):
        yield from (thing.__defaults__, thing.__kwdefaults__, thing.__dict__)
        yield from (cell.cell_contents for cell in thing.__closure__ or ())
    else:
        for name in dir(thing):
            try:
                yield getattr(thing, name)
            except Exception:  # noqa: BLE001, S112  what cannot be read does not lead anywhere
                continue


ENDS = (type, ModuleType, str, int, bytes, np.generic, np.dtype, Fraction)


def reachable(start: Any) -> list[Any]:
    """Everything that attributes lead to; classes and modules are everyone's, and end a path."""
    found: dict[int, Any] = {}
    waiting = [start]
    while waiting:
        thing = waiting.pop()
        if id(thing) in found or isinstance(thing, ENDS):
            continue
        found[id(thing)] = thing
        waiting.extend(parts_of(thing))
    return list(found.values())


def secrets_in(things: list[Any], diary: Diary) -> list[Any]:
    exact = (diary.counts.cells, diary.counts.values)

    def secret(thing: Any) -> bool:
        if isinstance(thing, np.ndarray):
            same = any(np.array_equal(thing, part) for part in exact)
            return same or any(np.shares_memory(thing, part) for part in exact)
        return thing is diary or thing is diary.counts

    return [thing for thing in things if secret(thing)]


@verbs
def test_nothing_that_a_curator_or_its_answer_leads_to_is_exact(
    ask: Callable[[Curator], object],
) -> None:
    diary = Diary()
    curator = curator_of(diary)
    answer = ask(curator)
    if hasattr(answer, "reveal"):
        answer.reveal(-50)
    for start in (curator, answer, curator.events, curator.counts, curator.counts_above):
        things = reachable(start)
        assert secrets_in(things, diary) == []
        assert not any(isinstance(thing, SeededSource) for thing in things)


def test_the_walk_finds_what_is_there_to_be_found() -> None:
    """Each of these hides the diary in a place that a careless curator might use."""
    diary = Diary()

    class Attribute:
        def __init__(self) -> None:
            self.hidden = {"rows": [diary]}

    class Slot:
        __slots__ = ("_deep",)

        def __init__(self) -> None:
            self._deep = (Attribute(),)

    holders: list[Any] = [
        Attribute(),
        Slot(),
        lambda: diary,
        partial(print, diary),
        diary.count,
        weakref.ref(diary),
        [diary.counts.values[:0]],
    ]
    registry: weakref.WeakKeyDictionary[Any, Diary] = weakref.WeakKeyDictionary()
    keyed = Attribute()
    keyed.hidden = {}
    registry[keyed] = diary
    for holder in [*holders, keyed]:
        assert secrets_in(reachable(holder), diary)
