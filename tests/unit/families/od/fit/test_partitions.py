import numpy as np
import pytest

from hushway.families.od.fit import partitions
from hushway.families.od.fit.partitions import Partition, fit_to_sums, stretches
from support.od_problems import partition

PERIODS, PAIRS = 11, 40


def halves() -> Partition:
    """Two classes of periods, out of order, times seven classes of pairs."""
    rng = np.random.default_rng(2)
    return Partition(
        period_class=(np.arange(PERIODS) % 2 == 0).astype(np.int32),
        pair_class=rng.integers(0, 7, PAIRS).astype(np.int32),
        periods=2,
        classes=7,
    )


def test_sums_are_those_of_the_cells_of_each_element() -> None:
    partition, table = halves(), np.random.default_rng(3).random((PERIODS, PAIRS))
    expected = np.zeros(partition.size)
    for row in range(PERIODS):
        for column in range(PAIRS):
            place = partition.period_class[row] * 7 + partition.pair_class[column]
            expected[place] += table[row, column]
    np.testing.assert_allclose(partition.sums(table), expected)


def test_every_cell_is_multiplied_by_the_factor_of_its_element() -> None:
    partition, table = halves(), np.ones((PERIODS, PAIRS))
    factors = np.arange(1.0, partition.size + 1)
    partition.multiply(table, factors)
    places = partition.period_class[:, None] * 7 + partition.pair_class
    np.testing.assert_array_equal(table, factors[places])


@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 1000])
def test_stretches_follow_each_other_and_leave_out_no_row(rows: int) -> None:
    cut = stretches(rows)
    assert np.concatenate([np.arange(rows)[part] for part in cut]).tolist() == list(range(rows))
    assert all(part.stop > part.start for part in cut)


def test_the_number_of_threads_never_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    partition, table = halves(), np.random.default_rng(4).random((PERIODS, PAIRS))
    monkeypatch.setattr(partitions, "_WORTH_A_THREAD", 0)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(partitions, "processors", lambda threads=threads: threads)
        found.append(partition.sums(table).tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("periods", [[0, 1, 2], [2, 0, 1], [0, 1, 0]])
def test_a_table_gets_the_sums_it_is_fitted_to_by_each_partition_in_turn(
    periods: list[int],
) -> None:
    rng = np.random.default_rng(1)
    parts = [partition(np.arange(12) // wide % 3, periods) for wide in (1, 4)]
    aim = rng.gamma(1.0, 1.0, (3, 12))
    targets = [(part, part.sums(aim)) for part in parts]
    found, expected = np.ones((3, 12)), np.ones((3, 12))
    fit_to_sums(found, targets, 5)
    for _ in range(5):
        for part, target in targets:
            part.multiply(expected, target / part.sums(expected))
    assert found.tobytes() == expected.tobytes()
    np.testing.assert_allclose(parts[1].sums(found), targets[1][1])
