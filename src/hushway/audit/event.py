"""Events that tell two samples apart: found on one half of the runs, counted on the other."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.bounds import epsilon_shown

# A law of large scale has as many values as runs; a few hundred thresholds lose nothing.
_MOST_CANDIDATES = 400


class Side(StrEnum):
    """Which values belong to an event."""

    AT_LEAST = "at least"
    AT_MOST = "at most"
    EXACTLY = "exactly"


@dataclass(frozen=True)
class Event:
    """A set of outcomes: all at least, at most or exactly some value."""

    side: Side
    value: int

    def __str__(self) -> str:
        return f"{self.side} {self.value}"

    def count(self, outcomes: IntArray) -> int:
        """Returns how many outcomes belong to the event."""
        if self.side is Side.AT_LEAST:
            return int(np.count_nonzero(outcomes >= self.value))
        if self.side is Side.AT_MOST:
            return int(np.count_nonzero(outcomes <= self.value))
        return int(np.count_nonzero(outcomes == self.value))


def most_telling(likely: IntArray, rare: IntArray, delta: Fraction) -> Event:
    """Returns the event that proves the largest epsilon on these runs, as many on each side.

    The event is chosen by what it proves, not by its ratio, or a rare event would win by luck.
    """
    runs = len(likely)
    values = _candidates(np.concatenate([likely, rare]))
    best, found = -1.0, Event(Side.AT_LEAST, int(values[0]))
    for side in Side:
        counts = [_counts(side, np.sort(outcomes), values) for outcomes in (likely, rare)]
        shown = epsilon_shown(counts[0], counts[1], runs, delta)
        winner = int(np.argmax(shown))
        if shown[winner] > best:
            best, found = float(shown[winner]), Event(side, int(values[winner]))
    return found


def _candidates(outcomes: IntArray) -> IntArray:
    values = np.unique(outcomes)
    if len(values) <= _MOST_CANDIDATES:
        return values
    places = np.linspace(0, len(outcomes) - 1, _MOST_CANDIDATES).astype(np.int64)
    return np.unique(np.sort(outcomes)[places])


def _counts(side: Side, ascending: IntArray, values: IntArray) -> IntArray:
    """Returns how many outcomes belong to the event of each value."""
    below = np.searchsorted(ascending, values, side="left")
    through = np.searchsorted(ascending, values, side="right")
    if side is Side.AT_LEAST:
        return len(ascending) - below
    return through if side is Side.AT_MOST else through - below
