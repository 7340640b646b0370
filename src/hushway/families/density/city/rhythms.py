"""When and where the kinds of people in the synthetic Paris call, hour by hour of the week.

All of it is invented. Shares of places are shares of calls, not of people.
"""

from enum import IntEnum
from typing import Final

import numpy as np

from hushway.arrays import FloatArray

HOURS = 168
_CLOCK: Final = np.arange(24.0)


class Kind(IntEnum):
    """The kinds of people."""

    WORKER = 0
    COMMUTER = 1
    STUDENT = 2
    AT_HOME = 3
    NIGHT_WORKER = 4
    VISITOR = 5


class Place(IntEnum):
    """The places of a person. Commuters live outside: the home of theirs is a station."""

    HOME = 0
    WORK = 1
    OUT = 2
    NEAR = 3
    TRACK = 4
    ANYWHERE = 5


SHARE_OF_KIND: Final = np.array([0.36, 0.22, 0.12, 0.14, 0.04, 0.12])

# Bumps of calling: hour, width in hours, weight. Weekdays, Saturday, Sunday.
_Bumps = tuple[tuple[float, float, float], ...]
_CALLS: Final[dict[Kind, tuple[_Bumps, _Bumps, _Bumps]]] = {
    Kind.WORKER: (
        ((9.5, 1.8, 0.7), (12.6, 1.3, 0.8), (16.0, 2.2, 0.7), (19.0, 1.6, 1.0), (21.3, 1.3, 0.5)),
        ((11.5, 1.8, 0.7), (15.5, 2.6, 0.8), (19.5, 1.8, 0.8), (23.0, 1.6, 0.4)),
        ((12.0, 1.8, 0.5), (16.0, 2.4, 0.5), (19.8, 1.8, 0.7)),
    ),
    Kind.COMMUTER: (
        ((8.8, 0.9, 0.8), (12.6, 1.3, 1.0), (15.5, 2.0, 0.8), (18.2, 1.1, 1.2)),
        ((15.0, 2.2, 0.35), (20.0, 2.4, 0.2)),
        ((15.5, 2.2, 0.15), (19.0, 1.5, 0.12)),
    ),
    Kind.STUDENT: (
        ((10.3, 1.5, 0.4), (12.8, 1.2, 0.9), (16.8, 1.8, 0.9), (20.0, 2.0, 0.9), (23.0, 1.5, 0.5)),
        ((14.0, 2.2, 0.8), (19.0, 2.2, 1.0), (23.5, 2.0, 0.9)),
        ((14.5, 2.2, 0.6), (20.0, 2.0, 0.8)),
    ),
    Kind.AT_HOME: (
        ((10.3, 1.5, 1.0), (14.8, 2.2, 0.8), (18.7, 1.8, 0.8)),
        ((10.8, 1.5, 0.9), (15.5, 2.4, 0.6), (19.0, 1.7, 0.6)),
        ((11.3, 1.5, 0.8), (16.5, 2.4, 0.6), (19.2, 1.7, 0.7)),
    ),
    Kind.NIGHT_WORKER: (
        ((1.5, 2.5, 0.5), (5.5, 1.5, 0.4), (15.5, 2.0, 0.8), (19.5, 1.8, 0.9), (22.5, 1.4, 0.6)),
        ((1.5, 2.5, 0.5), (15.5, 2.0, 0.7), (20.0, 2.2, 0.9)),
        ((2.5, 2.0, 0.5), (15.5, 2.0, 0.6), (20.0, 2.2, 0.7)),
    ),
    Kind.VISITOR: (
        ((10.5, 1.6, 0.8), (14.0, 2.2, 0.7), (18.3, 1.7, 0.9), (21.5, 1.6, 0.4)),
        ((11.0, 1.8, 0.9), (15.5, 2.4, 1.0), (19.5, 2.0, 1.0), (23.0, 1.6, 0.4)),
        ((11.5, 1.8, 0.8), (15.5, 2.0, 0.9), (18.5, 1.6, 0.7)),
    ),
}
_NEVER_STILL = 0.022
# Mondays start slowly, Fridays are lively.
_DAYS: Final = np.array([0.94, 0.99, 1.0, 1.03, 1.1, 1.0, 1.0])
# People who call a lot do so at more even hours, and later.
_EVENNESS = 0.8


def calling(kind: Kind, *, heavy: bool) -> FloatArray:
    """Returns how much a kind of people calls in each hour of the week."""
    weekday, saturday, sunday = (_day(bumps) for bumps in _CALLS[kind])
    week = np.concatenate([weekday] * 5 + [saturday, sunday]) * np.repeat(_DAYS, 24)
    if kind is not Kind.NIGHT_WORKER:
        # The first hours of Saturday and Sunday belong to the nights before.
        for night, louder in ((120, 2.2), (144, 2.6)):
            week[night : night + 5] *= louder
    if heavy:
        week = week**_EVENNESS * np.tile(1 + 0.15 * _between(19, 25), 7)
    return np.asarray(week / week.sum())


def places(kind: Kind) -> FloatArray:
    """Returns the share of each place (column) in the calls of each hour of the week (row)."""
    days = [_weekday(kind)] * 5 + [_weekend(kind, sunday=False), _weekend(kind, sunday=True)]
    week = np.concatenate(days)
    return np.asarray(week / week.sum(axis=1, keepdims=True))


def _weekday(kind: Kind) -> FloatArray:
    share = _idle()
    if kind in {Kind.WORKER, Kind.COMMUTER}:
        share[:, Place.WORK] = 5.0 * _between(8.8, 18.2)
        share[:, Place.NEAR] += 0.3 * _between(17.5, 20.5)
        share[:, Place.OUT] += 0.5 * _between(12, 14) + 0.45 * _between(18.5, 23.5)
        share[:, Place.TRACK] += 0.8 * (_between(7.5, 9.3) + _between(17.5, 19.6))
    elif kind is Kind.STUDENT:
        share[:, Place.WORK] = 3.0 * _between(9, 16.8)
        share[:, Place.OUT] += 0.4 * _between(12, 14) + 0.8 * _between(17, 25.5)
        share[:, Place.TRACK] += 0.6 * (_between(7.5, 9.5) + _between(16, 19))
    elif kind is Kind.NIGHT_WORKER:
        share[:, Place.WORK] = 5.0 * (_between(21.5, 26) + _between(-2, 6))
        share[:, Place.TRACK] += 0.6 * (_between(20, 22) + _between(5, 7))
    elif kind is Kind.AT_HOME:
        share[:, Place.NEAR] += 0.5 * _between(9.5, 18.5)
    else:
        share[:, Place.OUT] += 1.4 * _between(10, 24.5)
        share[:, Place.NEAR] += 0.9 * _between(10, 19)
        share[:, Place.ANYWHERE] += 0.6 * _between(10, 20)
    return share


def _weekend(kind: Kind, *, sunday: bool) -> FloatArray:
    share = _idle()
    outgoing = {Kind.STUDENT: 1.5, Kind.VISITOR: 2.2, Kind.AT_HOME: 0.4}.get(kind, 1.0)
    share[:, Place.OUT] += outgoing * (0.5 * _between(-1, 4) + 0.3 * _between(13, 18))
    share[:, Place.OUT] += outgoing * (0.3 if sunday else 0.9) * _between(18.5, 25.5)
    share[:, Place.NEAR] += 0.7 * _between(9.5, 13.5) + (0.9 if sunday else 0.7) * _between(13, 19)
    share[:, Place.ANYWHERE] += 0.15 * _between(11, 22)
    share[:, Place.TRACK] += 0.15 * _between(10, 21)
    # Shops and some offices work on Saturdays.
    share[:, Place.WORK] += (0.08 if sunday else 0.3) * _between(9, 18.5)
    if kind is Kind.NIGHT_WORKER:
        share[:, Place.WORK] += 2.0 * (_between(21.5, 26) + _between(-2, 6))
    return share


def _idle() -> FloatArray:
    share = np.tile([1.0, 0.01, 0.05, 0.12, 0.05, 0.05], (24, 1))
    share[:, Place.NEAR] *= 0.2 + _between(8, 21)
    return share


def _day(bumps: _Bumps) -> FloatArray:
    total = np.full(24, _NEVER_STILL)
    for middle, width, weight in bumps:
        off = (_CLOCK + 0.5 - middle + 12) % 24 - 12
        total += weight * np.exp(-0.5 * (off / width) ** 2)
    return total


def _between(opens: float, closes: float) -> FloatArray:
    """Returns about 1 between two times of the day and about 0 at others, with soft ends."""
    at = _CLOCK + 0.5
    both = 1 + np.exp(np.clip((opens - at) / 0.45, -40, 40))
    return np.asarray(1 / both / (1 + np.exp(np.clip((at - closes) / 0.45, -40, 40))))
