"""Limits on contributions that nobody has to guess: chosen from a noisy histogram of records.

Privacy:
    A function of noisy values and public numbers, so that anybody who has these can repeat it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss
from hushway.release.contribution.crowd import Crowd

# Share of the budget that measures how many records people have.
HISTOGRAM: Final = Fraction(5, 100)
# Share that measures what the limit leaves out, for each share of the records that is left out.
_FOR_LEFT_OUT, _MOST_FOR_LEFT_OUT = 0.25, 0.1
# Less than this share of all records is not worth a question.
_LITTLE: Final = 0.005
# Sums of left-out records reach up to where less than this share of all records is beyond.
_BEYOND: Final = 0.05
# What the one sum of all that is left out gets of their share.
WHOLE: Final = Fraction(2, 5)
_STEPS: Final = 10_000
# The size of counts that limits are compared by, in deviations of the noise of the least limit.
_TYPICAL: Final = 4.0
# By how much the share that is left out differs between cells, as a variance in parts of it.
CELLS_DIFFER: Final = 0.2
# Scores are compared to so many digits: the last ones differ from machine to machine.
_DIGITS: Final = 9
_NOTHING: Final = 1e-9


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How many records of a person count.

    Attributes:
        cells: In every cell and sum.
        sums: In sums of what is left out, besides; the same as `cells` if these are not asked for.
        share: The share of the budget that these sums get.
        cap: In any one cell; None if that has no limit of its own.
        whole: In the one sum of all that is left out, besides; None if that is not asked for.
    """

    cells: int
    sums: int
    share: Fraction
    cap: int | None = None
    whole: int | None = None

    @property
    def most(self) -> int:
        """In all questions together."""
        return max(self.sums, self.whole or 0)

    @property
    def each(self) -> int:
        """Most records of a person in one cell."""
        return self.cells if self.cap is None else min(self.cap, self.cells)

    @property
    def asks_left_out(self) -> bool:
        """Whether anything is asked of records beyond the limit."""
        return self.sums > self.cells


# Returns the variance of the noise of one cell if a person counts with so many records.
CellNoise = Callable[[int], float]
# The same, if at most so many of them count in one cell; None if all may.
CappedNoise = Callable[[int, int | None], float]
# Returns what a share of the budget is.
Part = Callable[[Fraction], Loss]


def chosen_limits(
    crowd: Crowd,
    cell_noise: CellNoise,
    given: int | None,
    *,
    typical: float | None = None,
    part: Part | None = None,
) -> Limits:
    """Returns the limits that let the least error be expected.

    Args:
        crowd: How many records people have.
        cell_noise: The noise that a limit costs.
        given: The limit of cells, if the steward has chosen it.
        typical: The variance of noise that typical counts stand out from; that of the least limit,
            for as many records as people have, if None.
        part: What a share of the budget is, if the sum of all that is left out is asked for.
    """
    cells = _best(crowd, cell_noise, typical=typical)[1] if given is None else given
    share = crowd.left_out(cells) / max(crowd.records, _NOTHING)
    none = Limits(cells=cells, sums=cells, share=Fraction(0), cap=crowd.cap)
    if share < _LITTLE:
        return none
    enough = (
        limit
        for limit in crowd.ladder
        if limit > cells and crowd.beyond(limit) <= _BEYOND * crowd.records
    )
    sums = next(enough, crowd.ladder[-1])
    if sums <= cells:
        return none
    wanted = min(_FOR_LEFT_OUT * share, _MOST_FOR_LEFT_OUT)
    steps = Fraction(math.ceil(wanted * _STEPS), _STEPS)
    found = Limits(cells=cells, sums=sums, share=steps, cap=crowd.cap)
    return found if part is None else replace(found, whole=_whole(crowd, found, part))


def _whole(crowd: Crowd, limits: Limits, part: Part) -> int:
    """Returns the limit of the one sum of all that is left out that lets its error be the least.

    It may reach where noise hides whether there is anybody: a single sum bears more noise than one
    for each period or place.
    """
    spend = part(limits.share * WHOLE)

    def score(limit: int) -> float:
        noise = noise_for(spend, Bound.of_records(limit - limits.each)).variance
        return _rounded(float(noise) + crowd.beyond_variance(limit))

    return min((score(limit), limit) for limit in crowd.ladder if limit > limits.cells)[1]


def chosen_crowd(crowds: Sequence[Crowd], cell_noise: CappedNoise, given: int | None) -> Crowd:
    """Returns the crowd whose cap lets the least error be expected; the first of equal ones.

    Args:
        crowds: The same people with different caps.
        cell_noise: The noise that a limit and a cap cost.
        given: The limit of cells, if the steward has chosen it.
    """
    return min(
        crowds,
        key=lambda crowd: _best(crowd, lambda limit: cell_noise(limit, crowd.cap), given)[0],
    )


def _best(
    crowd: Crowd, cell_noise: CellNoise, given: int | None = None, typical: float | None = None
) -> tuple[float, int]:
    """Returns the least error to expect of a typical count, and the limit of cells that has it.

    Noise grows with the limit, and counts are scaled up by what it leaves out, with their noise. A
    count of t records of which one in r counts varies by t (r - 1), since chance decides which; and
    what is left out differs from cell to cell. The error of a typical count is compared.
    """
    if crowd.records <= 0:
        return 0.0, crowd.ladder[0]
    everybody = crowd.records / crowd.up_to(1)
    stands_out = cell_noise(1) * everybody**2 if typical is None else typical
    count = _TYPICAL * math.sqrt(stands_out)

    def score(limit: int) -> float:
        scale = crowd.records / max(crowd.counted(limit), _NOTHING)
        left_out = count * (1 - 1 / scale)
        noise = cell_noise(limit) * scale**2
        return _rounded(noise + count * (scale - 1) + CELLS_DIFFER * left_out**2)

    return min((score(limit), limit) for limit in (crowd.ladder if given is None else (given,)))


def _rounded(score: float) -> float:
    return float(f"{score:.{_DIGITS}g}")
