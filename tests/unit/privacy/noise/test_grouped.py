import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushway.errors import PrivacyError
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.grouped import Grouping, Layout, OneGroup
from hushway.privacy.noise.grouped_draws import EVERYTHING, NOTHING, Window, uniform_subsets
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector, ShownGroups
from hushway.privacy.randomness import SeededSource
from support.boxes import ints
from support.scripts import output_of

IntArray = NDArray[np.int64]

LAPLACE = DiscreteLaplace(Fraction(3))
GAUSSIAN = DiscreteGaussian(Fraction(9))
LAWS = pytest.mark.parametrize("law", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
SIZE = 1000


class Labelled:
    """A grouping of few cells, given by the group of each."""

    def __init__(self, group: IntArray, count: int) -> None:
        self.count = count
        self.group = group
        self.sizes = np.bincount(group, minlength=count)
        self.order = np.argsort(group, kind="stable")
        self.start = np.cumsum(self.sizes) - self.sizes
        self.place = np.empty(len(group), dtype=np.int64)
        self.place[self.order] = np.arange(len(group))

    def of(self, cells: IntArray) -> IntArray:
        return self.group[cells]

    def rank(self, cells: IntArray) -> IntArray:
        return self.place[cells] - self.start[self.group[cells]]

    def cell(self, group: IntArray, rank: IntArray) -> IntArray:
        return self.order[self.start[group] + rank]


def scattered(count: int = 7, size: int = SIZE) -> Labelled:
    """Groups whose cells lie all over the universe; the last group has none."""
    return Labelled(np.random.default_rng(4).integers(0, count - 1, size), count)


def vector(
    law: NoiseLaw = LAPLACE, groups: Grouping | None = None, *, seed: int = 1, size: int = SIZE
) -> LazyVector:
    return LazyVector(
        law=law,
        size=size,
        cells=ints(3, 40, 41, size - 1),
        counts=ints(500, 2, 1, 10**6),
        source=SeededSource(seed),
        groups=scattered(size=size) if groups is None else groups,
    )


def pairs(shown: ShownGroups) -> dict[int, int]:
    return dict(zip(shown.cells.tolist(), shown.values.tolist(), strict=True))


@LAWS
def test_however_it_is_looked_at_it_is_one_vector(law: NoiseLaw) -> None:
    groups = scattered()
    generator = np.random.default_rng(5)
    for seed in range(8):
        seen = vector(law, groups, seed=seed)
        looks = [generator.integers(-8, 12, groups.count) for _ in range(6)]
        views = [pairs(seen.reveal_groups(look)) for look in looks]
        whole = pairs(seen.reveal_groups(np.full(groups.count, EVERYTHING)))
        assert sorted(whole) == list(range(SIZE))
        for look, view in zip(looks, views, strict=True):
            expected = {c: v for c, v in whole.items() if v >= look[groups.group[c]]}
            assert view == expected


@LAWS
def test_one_threshold_for_all_and_one_for_each_show_the_same_vector(law: NoiseLaw) -> None:
    groups = scattered()
    seen = vector(law, groups)
    first = seen.reveal(6)
    lower = np.array([2, 9, -3, 6, 0, 1, 5])
    second = pairs(seen.reveal_groups(lower))
    third = seen.reveal(3)
    assert (np.diff(third.cells) > 0).all()
    flat = dict(zip(third.cells.tolist(), third.values.tolist(), strict=True))
    whole = pairs(seen.reveal_groups(np.full(7, EVERYTHING)))
    assert dict(zip(first.cells.tolist(), first.values.tolist(), strict=True)) == {
        c: v for c, v in whole.items() if v >= 6
    }
    assert second == {c: v for c, v in whole.items() if v >= lower[groups.group[c]]}
    assert flat == {c: v for c, v in whole.items() if v >= 3}


def test_what_is_shown_lies_group_by_group_in_the_order_of_ranks() -> None:
    groups = scattered()
    shown = vector(LAPLACE, groups).reveal_groups(np.arange(7) - 3)
    assert shown.start[0] == 0
    assert shown.start[-1] == len(shown.cells) == len(shown.values)
    assert len(shown.start) == 8
    for group in range(7):
        cells = shown.cells[shown.start[group] : shown.start[group + 1]]
        assert (groups.of(cells) == group).all()
        assert (np.diff(groups.rank(cells)) > 0).all()
    assert shown.start[6] == shown.start[7]


def test_one_group_can_show_every_cell_while_the_others_show_none() -> None:
    groups = scattered()
    thresholds = np.full(7, NOTHING)
    thresholds[2] = EVERYTHING
    seen = vector(LAPLACE, groups)
    shown = seen.reveal_groups(thresholds)
    assert shown.cells.tolist() == np.flatnonzero(groups.group == 2).tolist()
    assert shown.values.min() < -3
    assert len(seen.reveal_groups(np.full(7, NOTHING)).cells) == 0


@LAWS
def test_cells_that_all_come_to_light_stay_below_the_old_threshold(law: NoiseLaw) -> None:
    for old in (4, 1, 0, -1, -4):
        seen = vector(law)
        before = pairs(seen.reveal_groups(np.full(7, old)))
        after = pairs(seen.reveal_groups(np.full(7, EVERYTHING)))
        assert before.items() <= after.items()
        assert len(after) == SIZE
        assert all(value < old for cell, value in after.items() if cell not in before)


def test_one_group_of_all_cells_is_no_grouping() -> None:
    with_groups = vector(LAPLACE, OneGroup(SIZE))
    without = LazyVector(
        law=LAPLACE,
        size=SIZE,
        cells=ints(3, 40, 41, SIZE - 1),
        counts=ints(500, 2, 1, 10**6),
        source=SeededSource(1),
    )
    for threshold in (9, 4, -2):
        shown = pairs(with_groups.reveal_groups(ints(threshold)))
        flat = without.reveal(threshold)
        assert shown == dict(zip(flat.cells.tolist(), flat.values.tolist(), strict=True))


def test_thresholds_that_are_changed_afterwards_change_nothing() -> None:
    seen = vector()
    thresholds = np.full(7, 4)
    before = pairs(seen.reveal_groups(thresholds))
    thresholds[:] = -50
    assert pairs(seen.reveal_groups(np.full(7, 4))) == before
    assert len(pairs(seen.reveal_groups(np.full(7, EVERYTHING)))) == SIZE


@pytest.mark.parametrize(
    "thresholds",
    [ints(1), np.zeros(8, dtype=np.int64), np.zeros(7), np.zeros((7, 1), dtype=np.int64)],
)
def test_thresholds_that_are_not_one_whole_number_a_group_are_refused(thresholds: IntArray) -> None:
    with pytest.raises(PrivacyError, match="one whole number for each group"):
        vector().reveal_groups(thresholds)


class Halves:
    """Two halves of a universe of any size."""

    count = 2

    def __init__(self, size: int) -> None:
        self.half = size // 2
        self.sizes = ints(self.half, self.half)

    def of(self, cells: IntArray) -> IntArray:
        return cells // self.half

    def rank(self, cells: IntArray) -> IntArray:
        return cells % self.half

    def cell(self, group: IntArray, rank: IntArray) -> IntArray:
        return group * self.half + rank


def test_a_trillion_cells_are_never_enumerated() -> None:
    seen = vector(LAPLACE, Halves(10**12), size=10**12)
    first = pairs(seen.reveal_groups(ints(70, 64)))
    second = pairs(seen.reveal_groups(ints(60, 64)))
    assert first.items() <= second.items()
    assert 400 < sum(cell < 5 * 10**11 for cell in second) < 1000


def test_too_many_cells_are_refused_by_public_numbers_whichever_group_they_are_in() -> None:
    seen = vector(LAPLACE, Halves(10**12), size=10**12)
    for thresholds in (ints(0, 200), ints(200, EVERYTHING), ints(-5, -5)):
        with pytest.raises(PrivacyError, match="empty cells would reach"):
            seen.reveal_groups(thresholds)
    assert sorted(pairs(seen.reveal_groups(ints(300, 300)))) == [3, 10**12 - 1]


def test_threads_that_look_at_different_groups_see_one_vector() -> None:
    """Two draws of the same hidden cell would tell that it is empty."""
    groups = scattered(size=5000)
    seen = vector(LAPLACE, groups, size=5000)
    views: list[dict[int, int]] = []

    def look(group: int) -> None:
        thresholds = np.full(7, 5)
        for threshold in (4, 2, 0):
            thresholds[group] = threshold
            views.append(pairs(seen.reveal_groups(thresholds)))

    threads = [threading.Thread(target=look, args=(group,)) for group in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = pairs(seen.reveal_groups(np.full(7, EVERYTHING)))
    assert len(views) == 18
    assert all(view.items() <= whole.items() for view in views)


def test_a_forked_copy_shows_no_group_further() -> None:
    printed = output_of(
        """
        import os
        from fractions import Fraction
        import numpy as np
        from hushway.errors import PrivacyError
        from hushway.privacy.noise.grouped import OneGroup
        from hushway.privacy.noise.laplace import DiscreteLaplace
        from hushway.privacy.noise.lazy import LazyVector
        from hushway.privacy.randomness import os_source

        class Halves:
            count, sizes = 2, np.array([30, 30])
            def of(self, cells): return cells // 30
            def rank(self, cells): return cells % 30
            def cell(self, group, rank): return 30 * group + rank

        cells = np.arange(0, 60, 3)
        seen = LazyVector(law=DiscreteLaplace(Fraction(3)), size=60, cells=cells,
                          counts=np.ones(20, dtype=np.int64), source=os_source(), groups=Halves())
        shown = seen.reveal_groups(np.array([2, 4]))
        child = os.fork()
        if child == 0:
            again = seen.reveal_groups(np.array([2, 4]))
            assert (again.cells == shown.cells).all() and (again.values == shown.values).all()
            assert len(seen.reveal_groups(np.array([5, 4])).cells) <= len(shown.cells)
            try:
                seen.reveal_groups(np.array([5, 3]))
            except PrivacyError as error:
                os._exit(42 if "copy" in str(error) else 1)
            os._exit(2)
        assert len(seen.reveal_groups(np.array([-500, -500])).cells) == 60
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert printed.split() == ["42"]


def changed(**parts: object) -> Grouping:
    groups = Halves(SIZE)
    for name, part in parts.items():
        setattr(groups, name, part)
    return groups


HALF = SIZE // 2
REAL = Halves(SIZE)
WRONG: dict[str, Grouping] = {
    "another universe": Halves(SIZE + 2),
    "sizes that do not add up": changed(sizes=ints(HALF, HALF - 1)),
    "a negative size": changed(sizes=ints(SIZE + 1, -1)),
    "sizes that overflow": changed(count=3, sizes=np.full(3, 1 << 62)),
    "sizes that are not whole": changed(sizes=np.array([500.0, 500.0])),
    "too few sizes": changed(sizes=ints(SIZE)),
    "no groups": changed(count=0, sizes=ints()),
    "a group that does not exist": changed(of=lambda cells: cells // 400),
    "a negative group": changed(of=lambda cells: cells // HALF - 1),
    "groups that are not whole": changed(of=lambda cells: cells / HALF),
    "cells in the wrong group": changed(of=lambda cells: 1 - cells // HALF),
    "a rank beyond the group": changed(rank=lambda cells: cells),
    "ranks that repeat": changed(rank=lambda cells: cells % HALF // 2),
    "cells outside the universe": changed(cell=lambda group, rank: group * HALF + rank + 1),
    "cells of another group": changed(cell=lambda group, rank: (1 - group) * HALF + rank),
    "an index that fails": changed(of=lambda cells: np.zeros(5, dtype=np.int64)[cells]),
}


@pytest.mark.parametrize("groups", WRONG.values(), ids=WRONG.keys())
def test_groups_that_are_no_partition_are_refused_by_public_numbers(groups: Grouping) -> None:
    with pytest.raises(PrivacyError, match="not a partition"):
        Layout(groups, SIZE)


def at_odds(cell: int, answer: int) -> Callable[[IntArray], IntArray]:
    """Returns ranks that are right, but for one cell."""
    return lambda cells: np.where(cells == cell, answer, REAL.rank(cells))


def test_groups_that_are_wrong_about_an_occupied_cell_are_refused_without_naming_it() -> None:
    groups = changed(rank=at_odds(41, 17))
    Layout(groups, SIZE)
    with pytest.raises(PrivacyError, match="not a partition") as refusal:
        vector(LAPLACE, groups)
    assert not any(digit in str(refusal.value) for digit in "0123456789")


def test_groups_that_fail_at_an_occupied_cell_do_not_name_it() -> None:
    def of(cells: IntArray) -> IntArray:
        if (cells == 41).any():
            raise IndexError(41)
        return REAL.of(cells)

    with pytest.raises(PrivacyError, match="not a partition") as refusal:
        vector(LAPLACE, changed(of=of))
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_groups_that_are_wrong_about_a_cell_that_comes_to_light_are_refused() -> None:
    seen = vector(LAPLACE, changed(rank=at_odds(700, 17)))
    with pytest.raises(PrivacyError, match="not a partition"):
        seen.reveal_groups(ints(EVERYTHING, EVERYTHING))


def test_sizes_that_are_changed_later_do_not_matter() -> None:
    groups = Halves(SIZE)
    seen = vector(LAPLACE, groups)
    groups.sizes[:] = 0
    assert len(seen.reveal_groups(ints(EVERYTHING, EVERYTHING)).cells) == SIZE


@LAWS
@pytest.mark.parametrize(
    ("low", "high"), [(1, NOTHING), (60, NOTHING), (-3, NOTHING), (2, 3), (-4, 0), (-9, -5)]
)
def test_the_level_is_the_next_power_of_two_above_the_chance(
    law: NoiseLaw, low: int, high: int
) -> None:
    noise = np.arange(-400, 401)
    exponent = np.abs(noise) / 3 if law is LAPLACE else noise**2 / 18
    weights = np.exp(-exponent.astype(np.float64))
    chance = weights[(noise >= low) & (noise < high)].sum() / weights[noise < high].sum()
    window = Window(law, low, high)
    found = window.chance(200)[0] / 2**200
    assert found == pytest.approx(chance, rel=1e-9)
    least = max(chance, 2.0**-64)
    assert least * (1 - 1e-9) <= 2.0**-window.level < 2 * least * (1 + 1e-9)


def test_a_word_that_the_enclosure_leaves_open_draws_more_bits(
    scripted: Callable[[Sequence[int], int], Any],
) -> None:
    window = Window(LAPLACE, 2, NOTHING)
    low, high = window.chance(63 + 64 + window.level)
    first, rest = divmod(low, 1 << 64)
    assert low >> 64 == high >> 64
    for second, stays in ((rest - 2, True), (rest + 3, False)):
        source = scripted([first << 1, second], 0)
        assert window.stay(source, 1).tolist() == [stays]
        assert source.asked == 2
    for word, stays in ((first - 1, True), (first + 1, False)):
        source = scripted([word << 1], 0)
        assert window.stay(source, 1).tolist() == [stays]
        assert source.asked == 1


def test_every_candidate_stays_where_everything_shows() -> None:
    window = Window(LAPLACE, EVERYTHING, 3)
    assert window.level == 0
    assert window.stay(SeededSource(1), 5000).all()


def test_subsets_stay_inside_their_ranges_and_have_their_sizes() -> None:
    generator = np.random.default_rng(6)
    for seed in range(100):
        ranges = generator.integers(0, 30, 5).tolist()
        counts = [int(generator.integers(0, size + 1)) for size in ranges]
        drawn = uniform_subsets(SeededSource(seed), counts, ranges)
        assert (np.diff(drawn) > 0).all()
        bounds = np.cumsum([0, *ranges])
        assert np.diff(np.searchsorted(drawn, bounds)).tolist() == counts
