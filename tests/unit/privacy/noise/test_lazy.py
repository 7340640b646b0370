import threading
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from hushway.errors import PrivacyError
from hushway.privacy.calibration import expected_above, threshold_for
from hushway.privacy.noise import lazy
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector, Shown, check_showable
from hushway.privacy.randomness import SeededSource
from support.boxes import ints
from support.scripts import output_of

LAWS: list[NoiseLaw] = [DiscreteLaplace(Fraction(3)), DiscreteGaussian(Fraction(9))]


def vector(
    law: NoiseLaw = LAWS[0], *, size: int = 1000, seed: int = 1, count: int = 10**6
) -> LazyVector:
    cells = ints(3, 40, size - 1)
    counts = np.full(3, count, dtype=np.int64)
    return LazyVector(law=law, size=size, cells=cells, counts=counts, source=SeededSource(seed))


def pairs(shown: Shown) -> dict[int, int]:
    return dict(zip(shown.cells.tolist(), shown.values.tolist(), strict=True))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_looking_lower_adds_cells_and_changes_none(law: NoiseLaw) -> None:
    seen = vector(law)
    shown: dict[int, int] = {}
    for previous, threshold in pairwise((10**9, 9, 6, 4, 1, 0, -2, -9, -60)):
        lower = pairs(seen.reveal(threshold))
        assert shown.items() <= lower.items()
        new = {cell: value for cell, value in lower.items() if cell not in shown}
        assert all(threshold <= value < previous for value in new.values())
        shown = lower
    assert sorted(shown) == list(range(1000))


def test_cells_are_shown_in_ascending_order_whether_occupied_or_empty() -> None:
    shown = vector().reveal(1)
    assert {3, 40, 999} <= set(shown.cells.tolist())
    assert (np.diff(shown.cells) > 0).all()
    assert (shown.values >= 1).all()


def test_occupied_cells_are_shown_with_their_count_plus_noise() -> None:
    shown = pairs(vector(count=10**6).reveal(10**5))
    assert sorted(shown) == [3, 40, 999]
    assert all(abs(value - 10**6) < 200 for value in shown.values())
    assert len(set(shown.values())) > 1


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize(
    "looks", [(-(10**18),), (3, -(10**18)), (-2, -(10**30)), (10**30, -(10**6))]
)
def test_a_threshold_far_below_all_noise_shows_every_cell(
    law: NoiseLaw, looks: tuple[int, ...]
) -> None:
    """Its chance is nearer to 1 than any number of bits can tell."""
    seen = vector(law, size=300)
    shown = [pairs(seen.reveal(threshold)) for threshold in looks]
    assert sorted(shown[-1]) == list(range(300))
    assert shown[0].items() <= shown[-1].items()
    assert 100 < sum(value < 0 for value in shown[-1].values()) < 170


def test_a_trillion_cells_are_never_enumerated() -> None:
    law = DiscreteLaplace(Fraction(3))
    size = 10**12
    threshold = threshold_for(law, size, 500)
    seen = vector(law, size=size)
    shown = seen.reveal(threshold)
    assert 350 < len(shown.cells) < 650
    assert shown.cells[-1] == size - 1
    lower = seen.reveal(threshold - 3)
    assert pairs(shown).items() <= pairs(lower).items()


def test_nothing_may_show_and_nothing_may_be_occupied() -> None:
    empty = np.empty(0, dtype=np.int64)
    seen = LazyVector(law=LAWS[0], size=5, cells=empty, counts=empty, source=SeededSource(1))
    assert len(seen.reveal(500).cells) == 0
    assert len(seen.reveal(-500).cells) == 5


def test_a_universe_without_an_empty_cell_is_shown_like_any_other() -> None:
    seen = LazyVector(
        law=LAWS[0], size=3, cells=ints(0, 1, 2), counts=ints(50, 60, 70), source=SeededSource(1)
    )
    assert seen.reveal(-100).cells.tolist() == [0, 1, 2]


def test_the_arrays_of_the_engine_are_not_kept() -> None:
    cells, counts = ints(1, 5), ints(7, 8)
    seen = LazyVector(law=LAWS[0], size=9, cells=cells, counts=counts, source=SeededSource(1))
    held = [*vars(seen).values(), *vars(seen._known).values()]
    for array in (x for x in held if isinstance(x, np.ndarray)):
        assert not np.shares_memory(array, cells)
        assert array.base is None
    before = pairs(seen.reveal(-50))
    cells[:], counts[:] = 0, 0
    assert pairs(seen.reveal(-50)) == before


def test_changing_what_was_shown_does_not_change_the_vector() -> None:
    seen = vector()
    shown = seen.reveal(2)
    before = pairs(shown)
    shown.cells[:], shown.values[:] = 0, 0
    assert pairs(seen.reveal(2)) == before


def test_threads_that_look_at_different_depths_see_one_vector() -> None:
    """Two draws of the same hidden cell would tell that it is empty."""
    seen = vector(size=5000, count=0)
    views: list[dict[int, int]] = []
    start = threading.Barrier(6)

    def look(threshold: int) -> None:
        start.wait()
        views.append(pairs(seen.reveal(threshold)))

    threads = [threading.Thread(target=look, args=(t,)) for t in (6, 5, 4, 3, 2, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    final = pairs(seen.reveal(1))
    assert all(view.items() <= final.items() for view in views)
    assert len(np.unique(seen._known.cells)) == len(seen._known.cells)


def test_a_forked_copy_shows_what_was_shown_and_nothing_more() -> None:
    """Else the cells on which parent and child agree would be the occupied ones."""
    printed = output_of(
        """
        import os
        from fractions import Fraction
        import numpy as np
        from hushway.errors import PrivacyError
        from hushway.privacy.noise.laplace import DiscreteLaplace
        from hushway.privacy.noise.lazy import LazyVector
        from hushway.privacy.randomness import os_source

        cells = np.arange(0, 60, 3)
        seen = LazyVector(law=DiscreteLaplace(Fraction(3)), size=60, cells=cells,
                          counts=np.ones(20, dtype=np.int64), source=os_source())
        shown = seen.reveal(2)
        seen._lock.acquire()  # as if another thread were looking at the moment of the fork
        child = os.fork()
        if child == 0:
            again = seen.reveal(2)
            assert (again.cells == shown.cells).all() and (again.values == shown.values).all()
            try:
                seen.reveal(1)
            except PrivacyError as error:
                os._exit(42 if "copy" in str(error) else 1)
            os._exit(2)
        seen._lock.release()
        seen.reveal(-100)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert printed.split() == ["42"]


def test_a_threshold_that_would_fill_the_memory_is_refused_from_public_numbers() -> None:
    with pytest.raises(PrivacyError, match="empty cells would reach"):
        check_showable(LAWS[0], 10**12, 5)
    with pytest.raises(PrivacyError, match="empty cells would reach"):
        vector(size=10**12).reveal(5)
    check_showable(LAWS[0], 10**12, 60)


def test_ranks_skip_the_cells_that_are_taken() -> None:
    generator = np.random.default_rng(3)
    for _ in range(200):
        size = int(generator.integers(1, 30))
        taken = np.flatnonzero(generator.random(size) < 0.4)
        free = np.setdiff1d(np.arange(size), taken)
        ranks = np.flatnonzero(generator.random(len(free)) < 0.5)
        assert (ranks + lazy._passed(ranks, taken)).tolist() == free[ranks].tolist()


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("size", [10, 10**6, 10**12])
@pytest.mark.parametrize("expected", [0.5, 100.0])
def test_the_forecast_threshold_is_the_lowest_that_few_enough_cells_reach(
    law: NoiseLaw, size: int, expected: float
) -> None:
    threshold = threshold_for(law, size, expected)
    assert expected_above(law, size, threshold) <= expected
    assert threshold == 1 or expected_above(law, size, threshold - 1) > expected


@pytest.mark.parametrize("expected", [0.0, -1.0, float("nan")])
def test_a_number_of_false_cells_that_is_not_positive_is_refused(expected: float) -> None:
    with pytest.raises(PrivacyError, match="at least"):
        threshold_for(LAWS[0], 100, expected)
