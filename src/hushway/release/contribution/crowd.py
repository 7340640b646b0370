"""How many records people have, from a noisy histogram: a function of noisy values alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss

# Classes are believed if they are this many deviations of their noise, up to so many together, of
# which the last is this many by itself: what noise adds to those below would be taken for people.
_SURE, _TOGETHER, _LAST = 4.5, 3, 1.0
# The mean of a class may be off what is estimated by this part of its width.
_OFF_MIDDLE: Final = 0.1
# The last class has no end: people in it are taken to have so many times its begin.
_OPEN_END: Final = 1.25
_NOTHING: Final = 1e-9
# So many deviations of noise are chance.
_CHANCE: Final = 2.0
# Before anything is measured, people are taken to have up to so many records, and to be many.
USUAL_RECORDS: Final = 8
_USUAL_PEOPLE: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Crowd:
    """People by their number of records, as far as noise lets it be known.

    Attributes:
        ladder: The least number of records of each class.
        noisy: The noisy number of people in each class.
        variance: The variance of the noise of each.
    """

    ladder: tuple[int, ...]
    noisy: Sequence[int]
    variance: float

    @cached_property
    def records_each(self) -> FloatArray:
        """About how many records a person of each class has.

        In wide classes more people lie towards the neighbour that has more of them: their density
        is taken to go from half-way to one neighbour to half-way to the other, in a line.
        """
        width = np.diff([*self.ladder, 2 * self.ladder[-1]]).astype(np.float64)
        density = self.people / width
        around = np.concatenate([density[:1], density, [0.0]])
        left, right = around[:-2] + density, density + around[2:]
        lean = (right - left) / np.maximum(6 * (left + right), _NOTHING)
        each = np.array(self.ladder) + (width - 1) * (0.5 + lean)
        each[-1] = self.ladder[-1] * _OPEN_END
        return np.asarray(each)

    @cached_property
    def people(self) -> FloatArray:
        """Estimated people of each class; none where noise hides whether there are any."""
        noisy = np.array(self.noisy, dtype=np.float64)
        known = np.arange(len(noisy)) < self.known
        found = np.where(known, np.maximum(noisy, 0.0), 0.0)
        # Cutting off what is below 0 adds people; everybody else makes up for it.
        whole = max(float(noisy[known].sum()), 0.0)
        return np.asarray(found * min(1.0, whole / max(float(found.sum()), 1e-9)))

    @cached_property
    def known(self) -> int:
        """How many classes are known: up to the last that stands out of noise with some below."""
        noisy = np.array(self.noisy, dtype=np.float64)
        stands_out = noisy > _LAST * math.sqrt(self.variance)
        known = 0
        for width in range(1, _TOGETHER + 1):
            together = np.convolve(noisy, np.ones(width))[: len(noisy)]
            is_sure = together > _SURE * np.sqrt(self.variance * width)
            sure = np.flatnonzero(is_sure & stands_out)
            known = max(known, int(sure.max()) + 1 if len(sure) else 0)
        return known

    @cached_property
    def _tail_noise(self) -> FloatArray:
        """The standard deviation of the noise in people of each class and all above it."""
        return np.asarray(np.sqrt(self.variance * np.arange(len(self.noisy), 0, -1)))

    @property
    def cap(self) -> int | None:
        """Most records of a person in one cell; None if that has no limit of its own."""
        return None

    def counted(self, limit: int) -> float:
        """Returns how many records count in cells if at most `limit` of a person do."""
        return self.up_to(limit)

    def up_to(self, limit: float) -> float:
        """Returns how many records have ranks below `limit`."""
        return float(self.people @ np.minimum(self.records_each, limit))

    @property
    def records(self) -> float:
        """All records."""
        return float(self.people @ self.records_each)

    def hidden(self, limit: int, counted: float) -> float:
        """Returns which part of all counted records is of people whom noise hides, beyond chance.

        Args:
            limit: At most so many of a person's records count.
            counted: How many did.
        """
        each = np.minimum(self.records_each, limit)[: self.known]
        noise = _CHANCE * np.sqrt(self.variance * float(each @ each))
        return max(1 - (self.counted(limit) + float(noise)) / max(counted, _NOTHING), 0.0)

    def left_out(self, first: int, last: int | None = None) -> float:
        """Returns how many records a limit of cells leaves out, of ranks below `last` if given."""
        whole = self.records if last is None else self.up_to(last)
        return max(whole - self.counted(first), 0.0)

    def beyond(self, limit: int) -> float:
        """Returns how many records have ranks from `limit` on, which no question reaches."""
        return max(self.records - self.up_to(limit), 0.0)

    def beyond_variance(self, limit: int) -> float:
        """Returns the variance of `beyond`."""
        return Crowd.left_out_variance(self, limit)

    def left_out_variance(self, first: int, last: int | None = None) -> float:
        """Returns the variance of `left_out`: noise, classes as wide as they are, a hidden tail."""
        known, most = self.known, np.inf if last is None else last
        each = np.maximum(np.minimum(self.records_each, most) - first, 0.0)
        width = np.diff([*self.ladder, 2 * self.ladder[-1]])
        # Of a class that begins at or beyond `last`, all records that may count do.
        open_classes = (each > 0) & (np.array(self.ladder) < most)
        within = (_OFF_MIDDLE * width * self.people)[open_classes]
        hidden = self._tail_noise[known] * each[known] if known < len(each) else 0.0
        return float(self.variance * (each[:known] @ each[:known]) + within @ within + hidden**2)

    def weight_variance(self, limit: float) -> float:
        """Returns how much records for each counted one vary, over the records that count."""
        weight = np.maximum(self.records_each / limit, 1.0)
        counted = self.people * np.minimum(self.records_each, limit)
        mean = counted @ weight / max(float(counted.sum()), 1e-9)
        return float(counted @ (weight - mean) ** 2 / max(float(counted.sum()), 1e-9))


@dataclass(frozen=True, kw_only=True, eq=False)
class CappedCrowd(Crowd):
    """The same, where at most so many records of a person count in one cell.

    Attributes:
        most: How many.
        within: People by their number of records within that cap.
    """

    most: int
    within: Crowd

    @property
    def cap(self) -> int:
        """Most records of a person in one cell."""
        return self.most

    def counted(self, limit: int) -> float:
        """Returns how many records count in cells if at most `limit` of a person do."""
        return min(self.within.up_to(limit), self.up_to(limit))

    def left_out_variance(self, first: int, last: int | None = None) -> float:
        """Returns the variance of `left_out`, which two noisy histograms tell."""
        return self.within.left_out_variance(0, first) + super().left_out_variance(0, last)

    def weight_variance(self, limit: float) -> float:
        """Returns the same, as for a limit without a cap by which as many would count."""
        steps = [self.up_to(step) for step in self.ladder]
        alike = np.interp(self.counted(int(limit)), steps, self.ladder)
        return super().weight_variance(float(alike))


def crowd_of(
    people: Sequence[int] | None, spend: Loss, ladder: tuple[int, ...], limit: int | None
) -> Crowd:
    """Returns people as they were measured, or as they are usual before that.

    Args:
        people: The noisy number of people in each class; None before it is measured.
        spend: What the measurement costs. A person is in one class.
        ladder: The least number of records of each class.
        limit: The most that a steward lets count, if that is given.
    """
    variance = noise_for(spend, Bound(cells=1, each=1, total=1)).variance
    most = limit or USUAL_RECORDS
    usual = tuple(_USUAL_PEOPLE if step <= most else 0 for step in ladder)
    return Crowd(ladder=ladder, noisy=people or usual, variance=float(variance))


def capped_crowd(crowd: Crowd, cap: int, within: Crowd) -> CappedCrowd:
    """Returns people of whom at most `cap` records count in one cell.

    Args:
        crowd: People by all of their records.
        cap: How many.
        within: The same people by their records within the cap.
    """
    return CappedCrowd(
        ladder=crowd.ladder,
        noisy=crowd.noisy,
        variance=crowd.variance,
        most=cap,
        within=within,
    )
