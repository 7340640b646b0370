"""Drivers' shifts that cover every period of a day at the least pay, by linear programming.

Every shift covers periods in a row, so in the table of periods by shifts the ones of each column
are consecutive. Such a table is totally unimodular: with whole requirements, all corners of the
linear programme are whole, and a simplex method, which ends in a corner, finds whole drivers.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

from hushway.arrays import IntArray
from hushway.errors import HushwayError, PlanError

# How far from whole a number of drivers may be by rounding errors of the solver alone.
_WHOLE = 1e-6


@dataclass(frozen=True, kw_only=True, eq=False)
class Shifts:
    """Shifts to be driven, each kind once, by start and then by length."""

    starts: IntArray
    lengths: IntArray
    drivers: IntArray

    @property
    def total(self) -> int:
        """How many drivers work that day."""
        return int(self.drivers.sum())

    @property
    def paid_periods(self) -> int:
        """For how many periods they are paid, all drivers together."""
        return int((self.drivers * self.lengths).sum())

    def on_duty(self, periods: int) -> IntArray:
        """Returns the drivers on duty in each period of a day with so many periods."""
        change = np.zeros(periods + 1, dtype=np.int64)
        np.add.at(change, self.starts, self.drivers)
        np.subtract.at(change, self.starts + self.lengths, self.drivers)
        return np.cumsum(change)[:-1]


def fewest_shifts(requirement: IntArray, lengths: tuple[int, ...]) -> Shifts:
    """Returns shifts that cover a day for the least pay, and with the fewest drivers for that pay.

    Drivers are paid by the period.

    Args:
        requirement: Drivers needed in each period of the day.
        lengths: How many periods a shift may last. It may start in any period, and ends with the
            day at the latest.
    """
    _check(requirement, lengths)
    starts, lasting = _every_shift(len(requirement), lengths)
    # In a cheapest plan every shift is needed in some period, so drivers are no more than all
    # requirements together, and one unit of pay outweighs all drivers.
    weight = int(requirement.sum()) + 1
    drivers = _whole_drivers(starts, lasting, requirement, weight * lasting + 1)
    used = drivers > 0
    shifts = Shifts(starts=starts[used], lengths=lasting[used], drivers=drivers[used])
    if (shifts.on_duty(len(requirement)) < requirement).any():
        raise HushwayError(
            "The shifts that were found do not cover the day.",
            advice="Please report this as a bug of the solver.",
        )
    return shifts


def _check(requirement: IntArray, lengths: tuple[int, ...]) -> None:
    if not lengths or len(set(lengths)) != len(lengths):
        raise PlanError("Lengths of shifts are missing or twice.", advice="Give each length once.")
    if min(lengths) < 1:
        raise PlanError("A shift has no length.", advice="Give whole numbers of 1 or more.")
    if (requirement < 0).any():
        raise PlanError("The required number of drivers is negative.", advice="Give 0 or more.")
    if min(lengths) > len(requirement):
        raise PlanError(
            f"No shift fits into a day of {len(requirement)} periods.",
            advice="Give a length that is no longer than the day.",
        )


def _every_shift(periods: int, lengths: tuple[int, ...]) -> tuple[IntArray, IntArray]:
    """Returns start and length of every shift that fits."""
    every = [
        (start, length)
        for start in range(periods)
        for length in sorted(lengths)
        if start + length <= periods
    ]
    starts, lasting = np.array(every, dtype=np.int64).T
    return starts, lasting


def _whole_drivers(
    starts: IntArray, lasting: IntArray, requirement: IntArray, pay: IntArray
) -> IntArray:
    covers = csc_matrix(
        (
            np.ones(int(lasting.sum())),
            np.concatenate(
                [
                    np.arange(start, start + length)
                    for start, length in zip(starts, lasting, strict=True)
                ]
            ),
            np.concatenate([[0], np.cumsum(lasting)]),
        ),
        shape=(len(requirement), len(starts)),
    )
    found = linprog(pay, A_ub=-covers, b_ub=-requirement, method="highs-ds")
    if not found.success or np.abs(found.x - np.rint(found.x)).max() > _WHOLE:
        raise HushwayError(
            "The solver found no whole numbers of drivers.",
            advice="Give pay and requirements of ordinary size.",
        )
    return np.asarray(np.rint(found.x), dtype=np.int64)
