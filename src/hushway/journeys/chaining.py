"""Where people got off, by their own next tap and the public timetable: trip chaining.

After Barry et al. (2002), Trepanier et al. (2007) and Munizaga and Palma (2012): whoever got on got
off where the next ride was taken, at the stop of the boarded line that is nearest to it; the last
ride of a day goes back to where the day began, or to where the next day begins. Rides that follow
each other soon, nearby and on another line are one journey.

Compiled, one card after another: windows of SQL took sixteen times a bare group-by of the taps.

Privacy:
    `_chain` is handed the taps of one card and public tables, and writes to the places of these
    taps, so nobody's rides depend on the taps of others.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.journeys.rides import ANY_LINE, NO_LINE, RideTables, line_on
from hushway.numerics.compiled import compiled

_SECOND_US: Final = 1_000_000
_NONE: Final = -1
# As the crow flies, waiting and changing included.
_METRES_A_SECOND: Final = 6.0

# What became of a tap. The first tell how the end of a ride is known, the next why it is not, and
# the last are of taps with which no ride or journey begins.
RULES: Final = (
    "exit",
    "next_tap",
    "first_stop",
    "next_day",
    "no_service",
    "unknown_line",
    "nothing_follows",
    "unknown_next",
    "round_trip",
    "not_on_line",
    "too_far",
    "unknown_exit",
    "no_stop",
    "unknown_stop",
    "unknown_trip",
    "off_trip",
    "no_vehicle",
    "got_off",
    "exit_alone",
    "transfer",
)
(
    _EXIT,
    _NEXT_TAP,
    _FIRST_STOP,
    _NEXT_DAY,
    _NO_SERVICE,
    _UNKNOWN_LINE,
    _NOTHING_FOLLOWS,
    _UNKNOWN_NEXT,
    _ROUND_TRIP,
    _NOT_ON_LINE,
    _TOO_FAR,
    _UNKNOWN_EXIT,
    _NO_STOP,
    _UNKNOWN_STOP,
    _UNKNOWN_TRIP,
    _OFF_TRIP,
    _NO_VEHICLE,
    _GOT_OFF,
    _EXIT_ALONE,
    TRANSFER,
) = range(len(RULES))

# The number of the stop of a tap that has none: below 0, and says why.
NO_STOP, UNKNOWN_STOP, UNKNOWN_TRIP, OFF_TRIP, NO_VEHICLE = (
    -1 - number for number in range(_NO_VEHICLE - _NO_STOP + 1)
)


@dataclass(frozen=True, kw_only=True)
class ChainingRules:
    """Public rules of chaining and of joining rides.

    Attributes:
        transfer_s: How long people take between getting off and getting on again, if it is the same
            journey.
        together_s: Taps of one card at one stop and line within so long are people who travel
            together.
        longest_s: An exit that comes later than so long after an entry does not belong to it.
        day_begins_us: When a service day begins, after midnight.
    """

    transfer_s: int = 1800
    together_s: int = 120
    longest_s: int = 4 * 3600
    day_begins_us: int = 3 * 3_600 * _SECOND_US


class Taps(NamedTuple):
    """Taps, those of a card one after another, in the order of time.

    Attributes:
        us: When it was.
        day: The service day.
        at: The number of the stop; below 0 where it is not known, and why.
        line: The number of the line, `ANY_LINE` or `NO_LINE`.
        enters: Whether somebody got on.
    """

    us: IntArray
    day: IntArray
    at: IntArray
    line: IntArray
    enters: BoolArray


class Rides(NamedTuple):
    """What is known of every tap.

    Attributes:
        lead: The first tap of those who travel together.
        alight: The number of the stop where the ride that began with it ended; below 0 if unknown.
        rule: How that is known, or why it is not.
        journey: The first tap of its journey.
        last: Of the first tap of a journey, the tap of its last ride.
    """

    lead: IntArray
    alight: IntArray
    rule: IntArray
    journey: IntArray
    last: IntArray


def chained(taps: Taps, bounds: IntArray, public: RideTables, rules: ChainingRules) -> Rides:
    """Returns where the rides of some cards ended.

    Args:
        taps: All taps of these cards.
        bounds: Where the taps of each card begin, and where the last ends.
        public: What the timetable says.
        rules: What counts as one ride after another.
    """
    rides = Rides(*(np.full(len(taps.us), _NONE, dtype=np.int64) for _ in Rides._fields))
    limits = Limits(
        *(_SECOND_US * s for s in (rules.together_s, rules.transfer_s, rules.longest_s))
    )
    _chain_all(taps, bounds, public, rides, limits)
    return rides


class Limits(NamedTuple):
    """Public limits in microseconds, as `ChainingRules` has them."""

    together: int
    transfer: int
    longest: int


@compiled
def _chain_all(
    taps: Taps, bounds: IntArray, public: RideTables, rides: Rides, limits: Limits
) -> None:
    for card in range(len(bounds) - 1):
        _chain(taps, bounds[card], bounds[card + 1], public, rides, limits)


@compiled
def _chain(  # noqa: PLR0917  compiled
    taps: Taps, low: int, high: int, public: RideTables, rides: Rides, limits: Limits
) -> None:
    """Chains the taps of one card, which are those from `low` to before `high`."""
    _lead(taps, low, high, rides.lead, limits.together)
    follows, boards = _following(taps, low, high, rides.lead)
    first = before = off_before = -1
    for tap in range(low, high):
        if rides.lead[tap] != tap:
            continue
        if not taps.enters[tap]:
            if rides.rule[tap] < 0:
                rides.rule[tap] = _EXIT_ALONE
            continue
        if first < 0 or taps.day[first] != taps.day[tap]:
            first = tap
        following = follows[tap - low]
        if _is_exit_of(taps, public, tap, following, limits.longest):
            rides.rule[following] = _GOT_OFF
        else:
            following = -1
        alight, off, rule = _end(taps, public, tap, following, boards[tap - low], first)
        rides.alight[tap], rides.rule[tap] = alight, rule
        goes_on = before >= 0 and _goes_on(
            taps, public, rides, before, off_before, tap, limits.transfer
        )
        rides.journey[tap] = rides.journey[before] if goes_on else tap
        rides.last[rides.journey[tap]] = tap
        before, off_before = tap, off


@compiled
def _is_exit_of(taps: Taps, public: RideTables, tap: int, follows: int, longest: int) -> bool:
    """Whether the next tap ends the ride: soon, and of the line, or behind gates as the entry."""
    if follows < 0 or taps.enters[follows] or taps.us[follows] - taps.us[tap] > longest:
        return False
    if taps.day[follows] != taps.day[tap]:
        return False
    if taps.at[tap] < 0 or taps.at[follows] < 0 or taps.line[tap] == taps.line[follows]:
        return True
    if taps.line[tap] != ANY_LINE and taps.line[follows] != ANY_LINE:
        return False
    return bool(public.gated[taps.at[tap]] == public.gated[taps.at[follows]])


@compiled
def _lead(taps: Taps, low: int, high: int, lead: IntArray, together: int) -> None:
    """Says which tap is the first of those who travel together."""
    for tap in range(low, high):
        lead[tap] = tap
        if (
            tap > low
            and taps.at[tap] == taps.at[tap - 1]
            and taps.line[tap] == taps.line[tap - 1]
            and taps.enters[tap] == taps.enters[tap - 1]
            and taps.us[tap] - taps.us[tap - 1] <= together
        ):
            lead[tap] = lead[tap - 1]


@compiled
def _following(taps: Taps, low: int, high: int, lead: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the next tap of every tap, and the next with which somebody got on; -1 for none."""
    follows, boards = np.full(high - low, -1), np.full(high - low, -1)
    following = boarding = -1
    for tap in range(high - 1, low - 1, -1):
        if lead[tap] != tap:
            continue
        follows[tap - low], boards[tap - low] = following, boarding
        following = tap
        if taps.enters[tap]:
            boarding = tap
    return follows, boards


@compiled
def _end(  # noqa: PLR0911, PLR0917  one return for each rule
    taps: Taps, public: RideTables, tap: int, exits: int, boards: int, first: int
) -> tuple[int, int, int]:
    """Returns where a ride ended, when, and by which rule that is known; -1 where it is not."""
    day, at, line = taps.day[tap], taps.at[tap], taps.line[tap]
    if exits >= 0 and taps.at[exits] >= 0:
        return taps.at[exits], taps.us[exits], _EXIT
    kind = _kind(public, day)
    why = _unknown(at, line, kind, exits)
    if why >= 0:
        return -1, -1, why
    last = boards < 0 or taps.day[boards] != day
    toward = -1
    if not last:
        toward = taps.at[boards]
    elif first != tap:
        toward = taps.at[first]
    alight, ride_s = _nearest(public, kind, line, at, toward)
    if alight >= 0 and alight != at:
        return alight, _off(taps.us[tap], ride_s), _FIRST_STOP if last else _NEXT_TAP
    tomorrow = taps.at[boards] if last and boards >= 0 and taps.day[boards] == day + 1 else -1
    later, later_s = _nearest(public, kind, line, at, tomorrow)
    if later >= 0 and later != at:
        return later, _off(taps.us[tap], later_s), _NEXT_DAY
    if toward < 0 and tomorrow < 0:
        tomorrows = last and boards >= 0 and taps.day[boards] == day + 1
        alone = last and first == tap and not tomorrows
        return -1, -1, _NOTHING_FOLLOWS if alone else _UNKNOWN_NEXT
    if alight >= 0 or later >= 0:
        return -1, -1, _ROUND_TRIP
    called = _found(public.ride_line, public.ride_at, line_on(public.lines, kind, line), at) >= 0
    return -1, -1, _TOO_FAR if called or line == ANY_LINE else _NOT_ON_LINE


@compiled
def _unknown(at: int, line: int, kind: int, exits: int) -> int:
    """Returns why nothing can be said of the end of a ride, whatever follows; else -1."""
    if at < 0:
        return _NO_STOP - 1 - at
    if exits >= 0:
        return _UNKNOWN_EXIT
    if line == NO_LINE:
        return _UNKNOWN_LINE
    return _NO_SERVICE if kind < 0 else -1


@compiled
def _kind(public: RideTables, day: int) -> int:
    """Returns of which kind a day is; -1 if the timetable does not cover it."""
    number = day - public.first_day
    return public.kind_of_day[number] if 0 <= number < len(public.kind_of_day) else -1


@compiled
def _off(us: int, ride_s: int) -> int:
    return -1 if ride_s < 0 else us + ride_s * _SECOND_US


@compiled
def _goes_on(  # noqa: PLR0917  compiled
    taps: Taps, public: RideTables, rides: Rides, before: int, off: int, tap: int, transfer: int
) -> bool:
    """Whether a ride is of the same journey as the one before it.

    Whoever gets on the same line again did something there.
    """
    if rides.alight[before] < 0 or off < 0 or taps.at[tap] < 0:
        return False
    same = taps.line[tap] == taps.line[before] and taps.line[tap] != ANY_LINE
    if same or taps.us[tap] - off > transfer:
        return False
    start, end = public.near_start[taps.at[tap]], public.near_start[taps.at[tap] + 1]
    return bool(np.any(public.near_alight[start:end] == rides.alight[before]))


@compiled
def _nearest(public: RideTables, kind: int, line: int, at: int, toward: int) -> tuple[int, int]:
    """Returns the stop that a line goes on to which is nearest to another, and the ride to it.

    Of several as near the soonest. Both lists are in the order of stops. Whoever passed a gate and
    named no line may have come out wherever the network goes.
    """
    if toward < 0:
        return -1, -1
    if line == ANY_LINE and public.gated[at]:
        return public.gate_of[toward], _between_gates(public, at, public.gate_of[toward])
    key = _found(public.ride_line, public.ride_at, line_on(public.lines, kind, line), at)
    if key < 0:
        return -1, -1
    ride, rides = public.ride_start[key], public.ride_start[key + 1]
    near, nears = public.near_start[toward], public.near_start[toward + 1]
    best, best_m, best_s = -1, 1 << 40, 1 << 40
    while ride < rides and near < nears:
        gap = public.ride_alight[ride] - public.near_alight[near]
        if gap < 0:
            ride += 1
        elif gap > 0:
            near += 1
        else:
            metres, seconds = public.near_m[near], public.ride_s[ride]
            if metres < best_m or (metres == best_m and seconds < best_s):
                best, best_m, best_s = public.ride_alight[ride], metres, seconds
            ride += 1
            near += 1
    return best, best_s if best >= 0 else -1


@compiled
def _between_gates(public: RideTables, at: int, out: int) -> int:
    """Returns about how many seconds a network behind gates takes, waiting and changing in it."""
    metres = np.sqrt(np.sum((public.point[at] - public.point[out]) ** 2))
    return int(metres / _METRES_A_SECOND) if out >= 0 and np.isfinite(metres) else -1


@compiled
def _found(lines: IntArray, stops: IntArray, line: int, at: int) -> int:
    """Returns where a line and a stop are in sorted lists of both; -1 if they are not."""
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high) // 2
        if lines[middle] < line or (lines[middle] == line and stops[middle] < at):
            low = middle + 1
        else:
            high = middle
    return low if low < len(lines) and lines[low] == line and stops[low] == at else -1
