"""Looking group by group has the law of a dense draw, whatever is looked at next and why.

The dense law is enumerated: every noisy vector of a few cells, and what a reader of it would see.
Readers look lower depending on what they saw, as a fit does. Draws come from fixed seeds; without
them, a test of a correct sampler would fail by bad luck at a rate of ENOUGH.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hushway.arrays import IntArray
from hushway.privacy.noise import grouped_draws, lazy
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.grouped_draws import EVERYTHING, NOTHING, Window, uniform_subsets
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector, ShownGroups
from hushway.privacy.randomness import SeededSource
from support.goodness_of_fit import chi_square

ENOUGH = 1e-7
REACH = 24  # values of noise that are enumerated; the chance of any beyond is below 1e-9

LAPLACE = DiscreteLaplace(Fraction(1))
GAUSSIAN = DiscreteGaussian(Fraction(2))
LAWS = pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])

# One town: cells 0, 2 and 4 are group 0, cells 1 and 3 are group 1.
TOWN = np.array([0, 1, 0, 1, 0])
EXACT = np.array([0, 0, 2, 0, 0])
CELLS = len(TOWN)


class Towns:
    """Many towns side by side, each with two groups of its own."""

    def __init__(self, towns: int) -> None:
        self.count = 2 * towns
        self.sizes = np.tile(np.bincount(TOWN), towns)

    def of(self, cells: IntArray) -> IntArray:
        return 2 * (cells // CELLS) + TOWN[cells % CELLS]

    def rank(self, cells: IntArray) -> IntArray:
        return cells % CELLS // 2

    def cell(self, group: IntArray, rank: IntArray) -> IntArray:
        return group // 2 * CELLS + 2 * rank + group % 2


def vector(law: NoiseLaw, towns: int, source: SeededSource) -> LazyVector:
    counts = np.tile(EXACT, towns)
    cells = np.flatnonzero(counts)
    return LazyVector(
        law=law,
        size=CELLS * towns,
        cells=cells,
        counts=counts[cells],
        source=source,
        groups=Towns(towns),
    )


def next_thresholds(shown: IntArray, thresholds: IntArray, step: int) -> IntArray:
    """What a curious reader does: looks deeper beside a group that shows little.

    Args:
        shown: How many cells each group of each town shows, one row for each town.
        thresholds: The thresholds of the groups, one row for each town.
        step: How often the reader has looked.
    """
    other = shown[:, ::-1]
    if step == 0:
        return np.where(other == 0, thresholds - 2, thresholds + 1)
    if step == 1:
        return np.where(shown >= 2, EVERYTHING, thresholds - 1)
    return np.minimum(thresholds, 0)


FIRST = (2, 1)
LOOKS = 3


def read(law: NoiseLaw, towns: int, source: SeededSource) -> IntArray:
    """Returns what each town shows at the end, every look checked against the one before."""
    seen = vector(law, towns, source)
    thresholds = np.tile(np.array(FIRST, dtype=np.int64), (towns, 1))
    known: dict[int, int] = {}
    for step in range(LOOKS + 1):
        shown = seen.reveal_groups(thresholds.ravel())
        now = dict(zip(shown.cells.tolist(), shown.values.tolist(), strict=True))
        assert all(now[cell] == known[cell] for cell in now.keys() & known.keys())
        known |= now
        if step < LOOKS:
            counts = np.diff(shown.start).reshape(towns, 2)
            thresholds = next_thresholds(counts, thresholds, step)
    return table(shown, towns)


HIDDEN = -REACH - 1


def table(shown: ShownGroups, towns: int) -> IntArray:
    values = np.full(CELLS * towns, HIDDEN)
    values[shown.cells] = shown.values
    return values.reshape(towns, CELLS)


def mass(law: NoiseLaw) -> NDArray[np.float64]:
    grid = np.arange(-REACH, REACH + 1)
    exponent = np.abs(grid) if isinstance(law, DiscreteLaplace) else grid**2 / 4
    weights = np.exp(-exponent.astype(np.float64))
    chances: NDArray[np.float64] = weights / weights.sum()
    return chances


# What is told apart of a value: hidden, or one of these steps. Fine enough to see a wrong window.
STEPS = np.array([-2, -1, 0, 1, 2, 3])


def codes(values: IntArray) -> IntArray:
    """Numbers what a town shows."""
    each = np.where(values == HIDDEN, 0, 1 + np.searchsorted(STEPS, values, side="right"))
    found: IntArray = each @ (len(STEPS) + 2) ** np.arange(CELLS)
    return found


def dense_law(law: NoiseLaw) -> NDArray[np.float64]:
    """Returns the chance of every code: of each dense vector, and what the reader sees of it.

    Vectors whose values differ by no threshold of the reader are looked at together.
    """
    noise, chance = np.arange(-REACH, REACH + 1), mass(law)
    per_cell = []
    for count in EXACT:
        # Thresholds lie between -2 and 3: below and above, one value stands for all.
        values = np.clip(noise + count, -4, 4)
        kept = np.arange(-4, 5)
        per_cell.append([(v, chance[values == v].sum()) for v in kept])
    grids = list(product(*per_cell))
    vectors = np.array([[value for value, _ in row] for row in grids])
    chances = np.array([[p for _, p in row] for row in grids]).prod(axis=1)
    thresholds = np.tile(np.array(FIRST, dtype=np.int64), (len(vectors), 1))
    for step in range(LOOKS):
        reached = vectors >= thresholds[:, TOWN]
        counts = np.stack([reached[:, group == TOWN].sum(axis=1) for group in (0, 1)], axis=1)
        thresholds = next_thresholds(counts, thresholds, step)
    values = np.where(vectors >= thresholds[:, TOWN], vectors, HIDDEN)
    joint = np.bincount(codes(values), weights=chances, minlength=(len(STEPS) + 2) ** CELLS)
    return joint.astype(np.float64)


def misfit(law: NoiseLaw, towns: int, vectors: int) -> float:
    source = SeededSource(71)
    expected = dense_law(law)
    observed = np.zeros(len(expected))
    for _ in range(vectors):
        observed += np.bincount(codes(read(law, towns, source)), minlength=len(expected))
    return chi_square(observed, expected)


@pytest.mark.long
@LAWS
def test_many_towns_in_one_vector_have_the_law_of_a_dense_draw(law: NoiseLaw) -> None:
    """Cells of all towns share binomial draws, and must be independent all the same."""
    assert misfit(law, 60_000, 1) > ENOUGH


@LAWS
def test_many_vectors_of_one_town_have_the_law_of_a_dense_draw(law: NoiseLaw) -> None:
    assert misfit(law, 1, 600) > ENOUGH


def shown_by_chance(law: NoiseLaw, threshold: int, vectors: int) -> IntArray:
    """Returns how many of 150 empty cells in many groups show, for each of several vectors."""
    source, nobody = SeededSource(75), np.empty(0, dtype=np.int64)
    found = []
    for _ in range(vectors):
        seen = LazyVector(
            law=law, size=150, cells=nobody, counts=nobody, source=source, groups=Towns(30)
        )
        seen.reveal_groups(np.tile([threshold + 1, NOTHING], 30))
        found.append(len(seen.reveal_groups(np.full(60, threshold)).cells))
    return np.array(found)


def binomial_misfit(law: NoiseLaw, threshold: int, vectors: int) -> float:
    chance = mass(law)[REACH + threshold :].sum()
    expected = stats.binom.pmf(np.arange(151), 150, chance)
    shown = shown_by_chance(law, threshold, vectors)
    return chi_square(np.bincount(shown, minlength=151), expected)


@pytest.mark.long
def test_how_many_empty_cells_show_is_binomial() -> None:
    assert binomial_misfit(LAPLACE, 2, 250) > ENOUGH


def test_a_number_of_cells_that_hardly_varies_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only many vectors can tell: within one, the mean is the best number of all."""

    def mean(_source: SeededSource, trials: int, chance: Callable[[int], tuple[int, int]]) -> int:
        return (trials * chance(64)[0] + (1 << 63)) >> 64

    monkeypatch.setattr(grouped_draws, "binomial", mean)
    assert binomial_misfit(LAPLACE, 2, 250) < ENOUGH


def forgotten_condition(window: Window, bits: int) -> tuple[int, int]:
    return window.law.mass_from(max(window.low, -50), bits)


def noise_without_upper_end(window: Window, source: SeededSource, count: int) -> IntArray:
    return window.law.draw_between(source, count, max(window.low, -50), None)


def everyone_stays(_window: Window, _source: SeededSource, count: int) -> NDArray[np.bool_]:
    return np.ones(count, dtype=np.bool_)


def drawn_again(
    vector: LazyVector, thresholds: IntArray, real: Callable[[LazyVector, IntArray], None]
) -> None:
    """Looks lower as if nobody had looked before: hidden cells may pass the old threshold."""
    vector._looked = np.where(thresholds < vector._looked, NOTHING, vector._looked)
    real(vector, thresholds)


@pytest.mark.parametrize(
    ("name", "mistake"),
    [("chance", forgotten_condition), ("noise", noise_without_upper_end), ("stay", everyone_stays)],
)
def test_a_mistake_in_a_conditional_draw_is_seen(
    name: str, mistake: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Window, name, mistake)
    assert misfit(LAPLACE, 20_000, 1) < ENOUGH


def test_looking_as_if_for_the_first_time_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = LazyVector._look_lower
    monkeypatch.setattr(LazyVector, "_look_lower", lambda v, t: drawn_again(v, t, real))
    assert misfit(LAPLACE, 20_000, 1) < ENOUGH


def test_places_that_ignore_the_group_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same number of cells comes to light, but always the first hidden ones."""
    real = grouped_draws.draw_newly_shown

    def first_ones(
        law: NoiseLaw, source: SeededSource, hidden: IntArray, old: IntArray, new: IntArray
    ) -> tuple[IntArray, IntArray]:
        numbers, values = real(law, source, hidden, old, new)
        ends = np.cumsum(hidden)
        group = np.searchsorted(ends, numbers, side="right")
        first = np.searchsorted(group, group)
        return (ends - hidden)[group] + np.arange(len(numbers)) - first, values

    monkeypatch.setattr(lazy, "draw_newly_shown", first_ones)
    assert misfit(LAPLACE, 20_000, 1) < ENOUGH


@LAWS
@pytest.mark.parametrize(
    ("low", "high"),
    [(1, NOTHING), (-2, NOTHING), (0, 3), (-3, 1), (-4, -1), (EVERYTHING, -1), (EVERYTHING, 2)],
)
def test_the_noise_of_a_window_has_the_conditional_law(law: NoiseLaw, low: int, high: int) -> None:
    noise = np.arange(-REACH, REACH + 1)
    inside = np.where((noise >= low) & (noise < high), mass(law), 0)
    drawn = Window(law, low, high).noise(SeededSource(72), 50_000)
    assert drawn.min() >= max(low, -REACH)
    assert drawn.max() < min(high, REACH)
    observed = np.bincount(drawn + REACH, minlength=len(noise))
    assert chi_square(observed, inside / inside.sum()) > ENOUGH


@LAWS
@pytest.mark.parametrize(("low", "high"), [(1, NOTHING), (0, 3), (-1, 0), (-2, 4)])
def test_candidates_stay_as_often_as_their_chance_says(law: NoiseLaw, low: int, high: int) -> None:
    noise, chances = np.arange(-REACH, REACH + 1), mass(law)
    chance = chances[(noise >= low) & (noise < high)].sum() / chances[noise < high].sum()
    window = Window(law, low, high)
    stay = window.stay(SeededSource(73), 100_000)
    share = chance * 2**window.level
    assert chi_square([(~stay).sum(), stay.sum()], [1 - share, share]) > ENOUGH


def subsets(counts: Sequence[int], ranges: Sequence[int]) -> list[tuple[int, ...]]:
    starts = np.cumsum([0, *ranges])
    parts = [
        list(combinations(range(start, start + size), count))
        for start, count, size in zip(starts, counts, ranges, strict=False)
    ]
    return [sum(choice, ()) for choice in product(*parts)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("counts", "ranges"), [((2,), (5,)), ((1, 2), (3, 4)), ((3, 0, 1), (4, 2, 3)), ((2, 2), (2, 4))]
)
def test_subsets_of_several_ranges_are_all_equally_likely(
    counts: Sequence[int], ranges: Sequence[int]
) -> None:
    source = SeededSource(74)
    index = {subset: i for i, subset in enumerate(subsets(counts, ranges))}
    observed = np.zeros(len(index))
    for _ in range(2000):
        observed[index[tuple(uniform_subsets(source, counts, ranges).tolist())]] += 1
    assert chi_square(observed, np.full(len(index), 1 / len(index))) > ENOUGH
