"""When people travel: the peaks of the day, and how long they stay before they travel on."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.city.figures import OPENS_MINUTE, PERIOD_MINUTES, PERIODS, WINDOW, Day


class Leg(IntEnum):
    """The four trips that a rider of a corridor makes."""

    OUT = 0  # home to the usual destination
    BACK = 1  # the usual destination to home
    ASIDE = 2  # the usual destination to the side place
    ASIDE_BACK = 3  # the side place to home


_HOURS = (OPENS_MINUTE + PERIOD_MINUTES * (np.arange(PERIODS) + 0.5)) / 60

# Peaks as (hour, spread in hours, height) over a small floor: outwards in the morning, homewards in
# the evening.
_Peaks = tuple[tuple[float, float, float], ...]
_PEAKS: dict[Day, dict[Leg, _Peaks]] = {
    "weekday": {
        Leg.OUT: ((7.6, 0.8, 1.0), (9.2, 1.0, 0.4), (12.8, 2.2, 0.42), (17.5, 1.2, 0.08)),
        Leg.BACK: ((17.0, 1.1, 1.0), (13.0, 2.2, 0.5), (9.5, 1.0, 0.12)),
        Leg.ASIDE: ((12.5, 1.0, 1.0), (16.5, 1.5, 0.8)),
        Leg.ASIDE_BACK: ((13.5, 1.5, 0.7), (18.0, 1.2, 1.0)),
    },
    "weekend": {
        Leg.OUT: ((9.5, 1.7, 1.0), (13.5, 2.0, 0.5)),
        Leg.BACK: ((16.0, 2.5, 1.0), (12.0, 1.5, 0.3), (9.5, 0.8, 0.1)),
        Leg.ASIDE: ((13.5, 2.0, 1.0),),
        Leg.ASIDE_BACK: ((16.0, 2.0, 1.0),),
    },
}
_FLOOR = 0.03

# Stays at the usual destination, as peaks over hours: an errand, a class or a shift in hospital, a
# day's work.
_STAYS: dict[Day, _Peaks] = {
    "weekday": ((1.5, 0.8, 0.5), (4.0, 1.5, 0.7), (9.0, 1.3, 1.0)),
    "weekend": ((1.5, 0.8, 0.8), (3.5, 1.5, 1.0)),
}
_SHORT_STAY_HOURS = 1.5

# Outward first trips are the rule; the others came by some other way and only ride home.
_BACK_FIRST = 0.12


def profile(day: Day, leg: Leg) -> FloatArray:
    """Returns how likely a leg is made in each half-hour, up to a factor."""
    return _bumps(_HOURS, _PEAKS[day][leg])


@dataclass(frozen=True, kw_only=True)
class Rhythm:
    """The law of the half-hours in which riders travel outside the matched window.

    Attributes:
        first: Cumulative weights of the first trip, one row for each leg (only OUT and BACK are
            first).
        back_first: Probability that the first trip is a way back.
        onward: Cumulative weights of the next trip's half-hour, rows (hurried, leg, half-hour
            before).
    """

    first: FloatArray
    back_first: float
    onward: FloatArray

    def start(self, leg: IntArray, latest: IntArray, uniform: FloatArray) -> IntArray:
        """Draws the half-hour of first trips, none later than `latest`."""
        return _invert(self.first, leg, latest, uniform)

    def go_on(
        self,
        hurried: IntArray,
        leg: IntArray,
        before: IntArray,
        latest: IntArray,
        uniform: FloatArray,
    ) -> IntArray:
        """Draws the half-hour of next trips: after `before`, none later than `latest`."""
        row = (hurried * len(Leg) + leg) * PERIODS + before
        return _invert(self.onward, row, latest, uniform)


@cache
def rhythm_of(day: Day) -> Rhythm:
    """Returns the rhythm of a kind of day."""
    outside = np.ones(PERIODS)
    # Trips inside the window are placed by the match and by nothing else, or its figures would not
    # hold.
    outside[WINDOW.start : WINDOW.stop] = 0
    first = np.stack([profile(day, leg) * outside for leg in (Leg.OUT, Leg.BACK)])
    lag_hours = (np.arange(PERIODS)[None, :] - np.arange(PERIODS)[:, None]) * PERIOD_MINUTES / 60
    later = (lag_hours > 0) * outside
    short = np.exp(-np.abs(lag_hours) / _SHORT_STAY_HOURS)
    long = _bumps(lag_hours, _STAYS[day])
    stays = {Leg.OUT: short, Leg.BACK: long, Leg.ASIDE: short, Leg.ASIDE_BACK: short}
    relaxed = [profile(day, leg) * stays[leg] * later for leg in Leg]
    hurried = [profile(day, leg) * short * later for leg in Leg]
    onward = np.concatenate(relaxed + hurried)
    return Rhythm(first=_cumulative(first), back_first=_BACK_FIRST, onward=_cumulative(onward))


def _bumps(at: FloatArray, peaks: _Peaks) -> FloatArray:
    height = np.full(at.shape, _FLOOR)
    for centre, spread, weight in peaks:
        height += weight * np.exp(-0.5 * ((at - centre) / spread) ** 2)
    return height


def _cumulative(weights: FloatArray) -> FloatArray:
    total = weights.sum(axis=1, keepdims=True)
    return np.asarray(np.cumsum(weights / np.where(total > 0, total, 1), axis=1))


def _invert(
    cumulative: FloatArray, row: IntArray, latest: IntArray, uniform: FloatArray
) -> IntArray:
    """Inverts one row of cumulative weights for each draw, cut off after `latest`."""
    # All rows become one increasing line, so that a single search serves every draw.
    line = (np.minimum(cumulative, 1.0) + np.arange(len(cumulative))[:, None]).ravel()
    found = np.searchsorted(line, row + uniform * cumulative[row, latest], side="right")
    # Rounding may step over the last half-hour that is allowed; it is never a half-hour of the
    # window.
    return np.asarray(np.minimum(found - row * PERIODS, latest), dtype=np.int64)
