"""Shifts against every plan of small days, and against whole-number programming on long ones."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from hushway.errors import PlanError
from hushway.transit.shifts import fewest_shifts


def every_shift(periods: int, lengths: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(s, k) for k in lengths for s in range(periods - k + 1)]


def best_by_trying(requirement: np.ndarray, lengths: tuple[int, ...]) -> tuple[int, int]:
    """The least pay, and the fewest drivers for it, over all plans."""
    shifts = every_shift(len(requirement), lengths)
    best = (10**9, 10**9)
    for counts in product(range(int(requirement.max()) + 1), repeat=len(shifts)):
        duty = np.zeros(len(requirement), dtype=np.int64)
        for (start, length), count in zip(shifts, counts, strict=True):
            duty[start : start + length] += count
        if (duty >= requirement).all():
            pay = sum(k * count for (_, k), count in zip(shifts, counts, strict=True))
            best = min(best, (pay, sum(counts)))
    return best


@pytest.mark.parametrize("seed", range(24))
def test_no_plan_is_cheaper_and_none_as_cheap_has_fewer_drivers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    periods = int(rng.integers(3, 5))
    lengths = tuple(int(k) for k in rng.choice([1, 2, 3], size=2, replace=False))
    requirement = rng.integers(0, 3, periods)
    shifts = fewest_shifts(requirement, lengths)
    assert (shifts.on_duty(periods) >= requirement).all()
    found = (shifts.paid_periods, shifts.total)
    assert found == best_by_trying(requirement, lengths)


@pytest.mark.parametrize("seed", range(5))
def test_a_day_of_quarter_hours_is_planned_as_well_as_by_whole_number_programming(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    requirement = rng.integers(0, 60, 96)
    lengths = (16, 24, 32, 40)
    shifts = fewest_shifts(requirement, lengths)
    kinds = every_shift(96, lengths)
    covers = np.zeros((96, len(kinds)))
    for column, (start, length) in enumerate(kinds):
        covers[start : start + length, column] = 1
    oracle = milp(
        np.array([length for _, length in kinds]),
        constraints=LinearConstraint(covers, lb=requirement),
        integrality=np.ones(len(kinds)),
        bounds=Bounds(lb=0),
    )
    assert shifts.paid_periods == round(oracle.fun)
    assert (shifts.on_duty(96) >= requirement).all()


def test_of_plans_that_pay_the_same_the_one_with_fewer_drivers_is_taken() -> None:
    shifts = fewest_shifts(np.array([3, 3, 3, 3]), (1, 2, 4))
    assert (shifts.total, shifts.paid_periods) == (3, 12)


def test_shifts_are_listed_once_by_start_and_length_and_only_if_worked() -> None:
    shifts = fewest_shifts(np.array([2, 1, 0, 0, 1]), (2, 1))
    assert shifts.starts.tolist() == [0, 0, 4]
    assert shifts.lengths.tolist() == [1, 2, 1]
    assert shifts.drivers.tolist() == [1, 1, 1]
    assert shifts.on_duty(5).tolist() == [2, 1, 0, 0, 1]


def test_a_day_without_work_needs_nobody() -> None:
    shifts = fewest_shifts(np.zeros(6, dtype=np.int64), (3,))
    assert (shifts.total, shifts.paid_periods) == (0, 0)
    assert shifts.on_duty(6).tolist() == [0] * 6


@pytest.mark.parametrize(
    ("requirement", "lengths"),
    [([1, 1], ()), ([1, 1], (1, 1)), ([1, 1], (0,)), ([1, -1], (1,)), ([1, 1], (3, 4)), ([], (1,))],
)
def test_what_cannot_be_planned_is_refused(
    requirement: list[int], lengths: tuple[int, ...]
) -> None:
    with pytest.raises(PlanError):
        fewest_shifts(np.array(requirement, dtype=np.int64), lengths)
