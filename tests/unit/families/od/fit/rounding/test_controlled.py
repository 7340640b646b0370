from itertools import product

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.families.od.fit.rounding.controlled import round_cells, round_plainly, round_totals
from hushway.families.od.fit.rounding.network import grouped_margin, two_chains


def city(periods: int, zone_pairs: int, modes: int) -> list[IntArray]:
    """The margins of a city: total, period, zone pair by period, mode by period."""
    period, zone_pair, mode = np.indices((periods, zone_pairs, modes)).reshape(3, -1)
    return [0 * period, period, period * zone_pairs + zone_pair, period * modes + mode]


def sums(values: FloatArray | IntArray, element: IntArray) -> FloatArray:
    return np.bincount(element, values).astype(np.float64)


def assert_all_floor_or_ceiling(
    totals: FloatArray, rounded: IntArray, elements: list[IntArray]
) -> None:
    # The real values are eighths, so floats add them without an error and many sums are whole.
    for element in [np.arange(len(totals)), *elements]:
        real, whole = sums(totals, element), sums(rounded, element)
        assert np.all((whole == np.floor(real)) | (whole == np.ceil(real)))


def eighths(seed: int, count: int) -> FloatArray:
    return np.random.default_rng(seed).integers(0, 80, count) / 8


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 7, 1), (3, 4, 5), (48, 16, 12)])
def test_every_sum_of_a_citys_margins_is_floor_or_ceiling(
    seed: int, shape: tuple[int, int, int]
) -> None:
    elements = city(*shape)
    totals = eighths(seed, len(elements[0]))
    rounded = round_totals(totals, elements)
    assert_all_floor_or_ceiling(totals, rounded.totals, elements)
    assert rounded.exact
    assert rounded.totals.dtype == np.int64


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_groups_and_the_numbers_of_elements_do_not_matter_to_exactness(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    margins = city(6, 5, 4)
    mixed = rng.permutation(len(margins[0]))
    elements = [(7 * element + 3)[mixed] for element in margins]
    totals = eighths(seed, len(mixed))
    rounded = round_totals(totals, elements)
    assert_all_floor_or_ceiling(totals, rounded.totals, elements)
    assert rounded.exact


def test_the_shifts_are_the_largest_distances_from_the_real_values() -> None:
    elements = city(4, 3, 5)
    totals = np.random.default_rng(0).gamma(0.5, 20, len(elements[0]))
    rounded = round_totals(totals, elements)
    moved = rounded.totals - totals
    expected = [np.abs(sums(moved, element)).max() for element in elements]
    np.testing.assert_allclose(rounded.shifts, expected, atol=1e-9)
    np.testing.assert_allclose(rounded.group_shift, np.abs(moved).max(), atol=1e-9)
    assert max(rounded.shifts) < 1


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_nearly_as_near_as_the_best_solution_allows(seed: int) -> None:
    elements = city(4, 4, 6)
    totals = np.random.default_rng(seed).gamma(0.5, 20, len(elements[0]))
    fractions = totals - np.floor(totals)
    rows = np.vstack([element == np.unique(element)[:, None] for element in elements])
    best = milp(
        1 - 2 * fractions,
        integrality=np.ones(len(totals)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(
            rows.astype(float), np.floor(rows @ fractions), np.ceil(rows @ fractions)
        ),
    )
    squares = np.square(round_totals(totals, elements).totals - totals).sum()
    least = best.fun + np.square(fractions).sum()
    # No push costs anything, so the sum stays below that of the real flow.
    most = (fractions * (1 - fractions)).sum()
    assert least - 1e-9 <= squares <= most
    assert squares - least < 0.5 * (most - least)


def test_whole_groups_stay() -> None:
    elements = city(3, 3, 3)
    totals = eighths(1, 27)
    rounded = round_totals(totals, elements).totals
    whole = totals == np.floor(totals)
    assert 0 < whole.sum() < 27
    np.testing.assert_array_equal(rounded[whole], totals[whole])


def test_whole_totals_come_back_unmoved() -> None:
    rounded = round_totals(np.array([3.0, 0.0, 5.0]), [np.array([0, 0, 1])])
    np.testing.assert_array_equal(rounded.totals, [3, 0, 5])
    assert rounded.exact
    assert (rounded.shifts, rounded.group_shift) == ((0.0,), 0.0)


def test_nothing_is_rounded_to_nothing() -> None:
    nothing = np.empty(0)
    rounded = round_totals(nothing, [nothing.astype(np.int64)])
    assert len(rounded.totals) == 0
    assert rounded.exact


def test_without_margins_the_total_is_still_rounded() -> None:
    rounded = round_totals(np.full(1000, 0.25), [])
    assert rounded.totals.sum() == 250
    assert rounded.shifts == ()


@pytest.mark.parametrize("count", [4, 300, 30_000])
def test_sums_that_are_whole_but_for_the_errors_of_floats_stay(count: int) -> None:
    # Rows of three equal thirds, a little less than whole and a little more in turns; the cheapest
    # table that took these errors seriously would lower the former and raise the latter.
    place = np.arange(3 * count)
    row = place // 3
    totals = np.where(row % 2, 2 / 3 + 1e-9, 1 / 3 - 1e-9)
    elements = [row, row // 2, (place % 3) * count + row // 4]
    rounded = round_totals(5 + totals, elements)
    np.testing.assert_array_equal(sums(rounded.totals, row), np.tile([16, 17], count // 2))
    assert rounded.exact


def test_a_total_that_is_whole_but_for_the_errors_of_floats_stays() -> None:
    totals = np.array([2.9999999, 4.0000001, 0.5, 0.5])
    np.testing.assert_array_equal(round_totals(totals, []).totals[:2], [3, 4])


def test_fractions_of_a_million_groups_may_add_up_beyond_64_bits() -> None:
    count = 1 << 20
    elements = [np.arange(count) // 2, np.zeros(count, dtype=np.int64)]
    totals = np.full(count, 0.999)
    rounded = round_totals(totals, elements)
    assert rounded.exact
    assert abs(rounded.totals.sum() - 0.999 * count) < 1
    assert set(np.unique(sums(rounded.totals, elements[0]))) == {1, 2}


def test_three_margins_that_no_whole_table_fits_are_reported_as_such() -> None:
    # Each pair of the three halves would have to hold exactly one.
    elements = [np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0, 1, 0])]
    rounded = round_totals(np.full(3, 0.5), elements)
    assert not rounded.exact
    assert max(rounded.shifts) == 1
    assert set(rounded.totals) <= {0, 1}


@pytest.mark.parametrize("seed", range(20))
def test_three_crossing_margins_are_exact_only_when_brute_force_agrees(seed: int) -> None:
    rng = np.random.default_rng(seed)
    totals = rng.integers(0, 8, 9) / 8
    elements = [rng.integers(0, 4, 9) for _ in range(3)]
    rounded = round_totals(totals, elements)
    limits = [(np.floor(sums(totals, e)), np.ceil(sums(totals, e)), e) for e in elements]

    def fits(table: IntArray) -> bool:
        return all(
            np.all((low <= sums(table, e)) & (sums(table, e) <= top)) for low, top, e in limits
        )

    assert rounded.exact == fits(rounded.totals)
    if rounded.exact:
        choices = product(*[{int(np.floor(x)), int(np.ceil(x))} for x in totals])
        assert tuple(rounded.totals) in set(choices)


def test_margins_outside_the_two_chains_are_kept_near_their_real_values() -> None:
    first, second, third = np.indices((12, 12, 12)).reshape(3, -1)
    elements = [first * 12 + second, first * 12 + third, second * 12 + third]
    totals = np.random.default_rng(3).gamma(0.5, 20, 12**3)
    shifts = round_totals(totals, elements).shifts
    without = round_totals(totals, elements[:2]).totals
    ignored = np.abs(sums(without - totals, elements[2])).max()
    assert sorted(shifts)[1] < 1
    assert max(shifts) < 2 < ignored


def test_margins_outside_the_two_chains_do_not_drive_groups_off() -> None:
    first, second, third = np.indices((4, 60, 60)).reshape(3, -1)
    totals = np.random.default_rng(6).random(first.size) ** 4
    elements = [first * 20 + third % 20, second, third]
    rounded = round_totals(totals, elements)
    by_chance = np.sum(totals * (1 - totals))
    assert np.sum((rounded.totals - totals) ** 2) < 0.7 * by_chance
    assert max(rounded.shifts) < 2


def test_the_margins_of_a_city_fall_into_two_chains() -> None:
    margins = [grouped_margin(element) for element in city(4, 3, 5)]
    assert set(two_chains(margins)) == {(1, 2), (3,)} or set(two_chains(margins)) == {(2,), (1, 3)}


@pytest.mark.parametrize("totals", [[-0.5], [np.nan], [np.inf], [1e17]])
def test_what_is_not_a_count_is_not_rounded(totals: list[float]) -> None:
    with pytest.raises(ReleaseError, match="can be rounded"):
        round_totals(np.array(totals), [])
    with pytest.raises(ReleaseError, match="can be rounded"):
        round_cells(np.array(totals), np.array([0]), np.array([1]))


@pytest.mark.parametrize("element", [[0], [0, -1]])
def test_a_margin_must_place_every_group(element: list[int]) -> None:
    with pytest.raises(ReleaseError, match="every group"):
        round_totals(np.array([0.5, 0.5]), [np.array(element)])


def test_cells_with_the_largest_fractions_are_rounded_up() -> None:
    values = np.array([1.2, 0.7, 3.6, 0.5, 2.0])
    rounded = round_cells(values, np.array([0, 0, 0, 1, 1]), np.array([6, 2]))
    np.testing.assert_array_equal(rounded, [1, 1, 4, 0, 2])
    assert rounded.dtype == np.int64


def test_equal_fractions_are_rounded_up_evenly_along_their_order() -> None:
    # The fractions are 0.7 but for the last bits, which differ with the whole part.
    values = np.array([2.7, 100000.7, 0.7, 5.7, 0.9])
    rounded = round_cells(values, np.zeros(5, dtype=np.int64), np.array([100010]))
    np.testing.assert_array_equal(rounded, [2, 100001, 0, 6, 1])


def test_no_part_of_a_large_group_of_ties_gains_from_its_place() -> None:
    values = np.full(10_000, 0.3)
    rounded = round_cells(values, np.zeros(10_000, dtype=np.int64), np.array([3000]))
    by_hundred = rounded.reshape(100, 100).sum(axis=1)
    assert by_hundred.min() >= 29
    assert by_hundred.max() <= 31


def test_the_cells_of_a_group_may_stand_anywhere() -> None:
    values = np.array([0.5, 0.25, 0.6, 0.75, 0.0])
    rounded = round_cells(values, np.array([2, 0, 2, 0, 2]), np.array([1, 0, 1]))
    np.testing.assert_array_equal(rounded, [0, 0, 1, 1, 0])


@pytest.mark.parametrize("total", [1, 5])
def test_a_total_out_of_reach_is_refused(total: int) -> None:
    with pytest.raises(ReleaseError, match="cannot be reached"):
        round_cells(np.array([2.5, 0.5, 1.0]), np.zeros(3, dtype=np.int64), np.array([total + 1]))


@pytest.mark.parametrize("groups", [[0], [0, 1], [0, -1]])
def test_every_cell_needs_a_group_with_a_total(groups: list[int]) -> None:
    with pytest.raises(ReleaseError, match="no group"):
        round_cells(np.array([0.5, 0.5]), np.array(groups), np.array([1]))


def test_plain_rounding_takes_the_nearest_number() -> None:
    rounded = round_plainly(np.array([0.4, 0.6, 7.0]))
    np.testing.assert_array_equal(rounded, [0, 1, 7])
    assert rounded.dtype == np.int64
