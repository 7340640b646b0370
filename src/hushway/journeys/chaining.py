"""Where people got off, by their own next tap and the public timetable: trip chaining.

After Barry et al. (2002), Trepanier et al. (2007) and Munizaga and Palma (2012): whoever got on got
off where the next ride was taken, at the stop of the boarded line that is nearest to it; the last
ride of a day goes back to where the day began, or to where the next day begins. Rides that follow
each other soon, nearby and on another line are one journey.

Compiled, one card after another: windows of SQL took sixteen times a bare group-by of the taps.

Privacy:
    `_chain` is handed the taps of one card and public tables, and writes to the places of these
    taps, so nobody's rides depend on the taps of others. Threads have different cards.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.journeys.rides import ANY_LINE, NO_LINE, RideTables, line_on
from hushway.numerics.compiled import Rows, compiled, compiled_for_threads, rows_of, whole_rows
from hushway.numerics.threads import chunks, in_threads

_SECOND_US: Final = 1_000_000
_NONE: Final = -1
# As the crow flies, waiting and changing included.
_METRES_A_SECOND: Final = 6.0
# So many times as fast as the timetable says nobody travels.
_FASTEST: Final = 5
# Taps: fewer are done before a thread has begun.
_WORTH_A_THREAD: Final = 50_000

# What became of a tap. The first tell how the end of a ride is known, the next why it is not, and
# the last are of taps with which no ride or journey begins, and of journeys beside their rides.
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
    "too_soon",
    "unknown_exit",
    "no_stop",
    "unknown_stop",
    "unknown_trip",
    "off_trip",
    "no_vehicle",
    "by_headway",
    "got_off",
    "exit_alone",
    "transfer",
    "journey",
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
    _TOO_SOON,
    _UNKNOWN_EXIT,
    _NO_STOP,
    _UNKNOWN_STOP,
    _UNKNOWN_TRIP,
    _OFF_TRIP,
    _NO_VEHICLE,
    _BY_HEADWAY,
    _GOT_OFF,
    _EXIT_ALONE,
    TRANSFER,
    JOURNEY,
) = range(len(RULES))

# The number of the stop of a tap that has none: below 0, and says why.
NO_STOP, UNKNOWN_STOP, UNKNOWN_TRIP, OFF_TRIP, NO_VEHICLE, BY_HEADWAY = (
    -1 - number for number in range(_BY_HEADWAY - _NO_STOP + 1)
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


class Limits(NamedTuple):
    """Public limits in microseconds, as `ChainingRules` has them."""

    together: int
    transfer: int
    longest: int


# What is known of a tap, those of a card one after another, in the order of time: when it was; its
# service day; the number of the stop, below 0 where it is not known, and why; the number of the
# line, `ANY_LINE` or `NO_LINE`; and whether somebody got on.
TAP: Final = ("us", "day", "at", "line", "enters")
# What becomes known of it: the first tap of those who travel together; of this one the next tap,
# and the next with which somebody got on; the number of the stop where the ride that began with it
# ended, below 0 if unknown; how that is known, or why it is not; the first tap of its journey; and,
# of the first tap of a journey, the tap of its last ride.
_RIDE: Final = "lead follows boards alight rule journey last"


def chained(
    taps: Mapping[str, NDArray[Any]],
    bounds: IntArray,
    public: RideTables,
    rules: ChainingRules,
    threads: int = 1,
) -> Rows:
    """Returns where the rides of some cards ended.

    Args:
        taps: All taps of these cards.
        bounds: Where the taps of each card begin, and where the last ends.
        public: What the timetable says.
        rules: What counts as one ride after another.
        threads: So many work side by side, each on cards of its own.
    """
    rows = rows_of(**{name: taps[name].astype(np.int64, copy=False) for name in TAP})
    rides = whole_rows(len(rows), _RIDE)
    seconds = (rules.together_s, rules.transfer_s, rules.longest_s)
    limits = Limits(*(_SECOND_US * each for each in seconds))

    def chain(cards: tuple[int, int]) -> None:
        _chain_all(rows, bounds[cards[0] : cards[1] + 1], public, rides, limits)

    share = -(-len(rows) // threads)
    in_threads(chain, chunks(np.diff(bounds), max(share, _WORTH_A_THREAD)), threads)
    return rides


@compiled_for_threads
def _chain_all(
    taps: Rows, bounds: IntArray, public: RideTables, rides: Rows, limits: Limits
) -> None:
    for card in range(len(bounds) - 1):
        _chain(taps, bounds[card], bounds[card + 1], public, rides, limits)


@compiled
def _chain(  # noqa: PLR0917  compiled
    taps: Rows, low: int, high: int, public: RideTables, rides: Rows, limits: Limits
) -> None:
    """Chains the taps of one card, which are those from `low` to before `high`."""
    _lead(taps, low, high, rides, limits.together)
    _following(taps, low, high, rides)
    first = before = off_before = -1
    for tap in range(low, high):
        if rides[tap].lead != tap:
            continue
        if not taps[tap].enters:
            if rides[tap].rule < 0:
                rides[tap].rule = _EXIT_ALONE
            continue
        if first < 0 or taps[first].day != taps[tap].day:
            first = tap
        following = rides[tap].follows
        if _is_exit_of(taps, public.stops, tap, following, limits.longest):
            rides[following].rule = _GOT_OFF
        else:
            following = -1
        alight, off, rule = _end(taps, public, tap, following, rides[tap].boards, first)
        rides[tap].alight, rides[tap].rule = alight, rule
        goes_on = before >= 0 and _goes_on(
            taps, public, rides, before, off_before, tap, limits.transfer
        )
        rides[tap].journey = rides[before].journey if goes_on else tap
        rides[rides[tap].journey].last = tap
        before, off_before = tap, off


@compiled
def _is_exit_of(taps: Rows, stops: Rows, tap: int, follows: int, longest: int) -> bool:
    """Whether the next tap ends the ride: soon, and of the line, or behind gates as the entry."""
    if follows < 0 or taps[follows].enters or taps[follows].us - taps[tap].us > longest:
        return False
    if taps[follows].day != taps[tap].day:
        return False
    if taps[tap].at < 0 or taps[follows].at < 0 or taps[tap].line == taps[follows].line:
        return True
    if taps[tap].line != ANY_LINE and taps[follows].line != ANY_LINE:
        return False
    return bool(stops[taps[tap].at].gated == stops[taps[follows].at].gated)


@compiled
def _lead(taps: Rows, low: int, high: int, rides: Rows, together: int) -> None:
    """Says which tap is the first of those who travel together."""
    for tap in range(low, high):
        rides[tap].lead, rides[tap].rule, rides[tap].alight = tap, _NONE, _NONE
        if (
            tap > low
            and taps[tap].at == taps[tap - 1].at
            and taps[tap].line == taps[tap - 1].line
            and taps[tap].enters == taps[tap - 1].enters
            and taps[tap].us - taps[tap - 1].us <= together
        ):
            rides[tap].lead = rides[tap - 1].lead


@compiled
def _following(taps: Rows, low: int, high: int, rides: Rows) -> None:
    """Notes the next tap of every tap, and the next with which somebody got on; -1 for none."""
    following = boarding = -1
    for tap in range(high - 1, low - 1, -1):
        if rides[tap].lead != tap:
            continue
        rides[tap].follows, rides[tap].boards = following, boarding
        following = tap
        if taps[tap].enters:
            boarding = tap


@compiled
def _end(  # noqa: PLR0911, PLR0917  one return for each rule
    taps: Rows, public: RideTables, tap: int, exits: int, boards: int, first: int
) -> tuple[int, int, int]:
    """Returns where a ride ended, when, and by which rule that is known; -1 where it is not."""
    day, at, line = taps[tap].day, taps[tap].at, taps[tap].line
    if exits >= 0 and taps[exits].at >= 0:
        return taps[exits].at, taps[exits].us, _EXIT
    kind = _kind(public, day)
    why = _unknown(at, line, kind, exits)
    if why >= 0:
        return -1, -1, why
    last = boards < 0 or taps[boards].day != day
    toward = -1
    if not last:
        toward = taps[boards].at
    elif first != tap:
        toward = taps[first].at
    alight, ride_s = _nearest(public, kind, line, at, toward)
    if alight >= 0 and alight != at:
        if not last and (taps[boards].us - taps[tap].us) * _FASTEST < ride_s * _SECOND_US:
            return -1, -1, _TOO_SOON
        return alight, _off(taps[tap].us, ride_s), _FIRST_STOP if last else _NEXT_TAP
    tomorrow = taps[boards].at if last and boards >= 0 and taps[boards].day == day + 1 else -1
    later, later_s = _nearest(public, kind, line, at, tomorrow)
    if later >= 0 and later != at:
        return later, _off(taps[tap].us, later_s), _NEXT_DAY
    if toward < 0 and tomorrow < 0:
        tomorrows = last and boards >= 0 and taps[boards].day == day + 1
        alone = last and first == tap and not tomorrows
        return -1, -1, _NOTHING_FOLLOWS if alone else _UNKNOWN_NEXT
    if alight >= 0 or later >= 0:
        return -1, -1, _ROUND_TRIP
    called = _found(public.boards, line_on(public.lines, kind, line), at) >= 0
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
    taps: Rows, public: RideTables, rides: Rows, before: int, off: int, tap: int, transfer: int
) -> bool:
    """Whether a ride is of the same journey as the one before it.

    Whoever gets on the same line again did something there.
    """
    if rides[before].alight < 0 or off < 0 or taps[tap].at < 0:
        return False
    same = taps[tap].line == taps[before].line and taps[tap].line != ANY_LINE
    if same or taps[tap].us - off > transfer:
        return False
    return _is_near(public.stops, public.near, taps[tap].at, rides[before].alight)


@compiled
def _is_near(stops: Rows, near: Rows, at: int, other: int) -> bool:
    """Whether people walk between two stops."""
    for walk in range(stops[at].near, stops[at + 1].near):  # noqa: SIM110  compiled
        if near[walk].alight == other:
            return True
    return False


@compiled
def _nearest(public: RideTables, kind: int, line: int, at: int, toward: int) -> tuple[int, int]:
    """Returns the stop that a line goes on to which is nearest to another, and the ride to it.

    Of several as near the soonest. Both lists are in the order of stops. Whoever passed a gate and
    named no line may have come out wherever the network goes.
    """
    if toward < 0:
        return -1, -1
    stops = public.stops
    if line == ANY_LINE and stops[at].gated:
        return stops[toward].gate_of, _between_gates(stops, at, stops[toward].gate_of)
    key = _found(public.boards, line_on(public.lines, kind, line), at)
    if key < 0:
        return -1, -1
    boards, walks = public.boards, stops[toward : toward + 2]
    return _soonest(
        public.rides[boards[key].start : boards[key + 1].start],
        public.near[walks[0].near : walks[1].near],
    )


@compiled
def _soonest(rides: Rows, near: Rows) -> tuple[int, int]:
    """Returns the stop of both lists that is nearest, and the ride to it; -1 if there is none."""
    best, best_m, best_s = -1, 1 << 40, 1 << 40
    ride = walk = 0
    while ride < len(rides) and walk < len(near):
        gap = rides[ride].alight - near[walk].alight
        if gap < 0:
            ride += 1
        elif gap > 0:
            walk += 1
        else:
            metres, seconds = near[walk].metres, rides[ride].seconds
            if metres < best_m or (metres == best_m and seconds < best_s):
                best, best_m, best_s = rides[ride].alight, metres, seconds
            ride += 1
            walk += 1
    return best, best_s if best >= 0 else -1


@compiled
def _between_gates(stops: Rows, at: int, out: int) -> int:
    """Returns about how many seconds a network behind gates takes, waiting and changing in it."""
    if out < 0:
        return -1
    one, other = stops[at], stops[out]
    metres = np.sqrt((one.x - other.x) ** 2 + (one.y - other.y) ** 2 + (one.z - other.z) ** 2)
    return int(metres / _METRES_A_SECOND) if np.isfinite(metres) else -1


@compiled
def _found(boards: Rows, line: int, at: int) -> int:
    """Returns where a line and a stop are in a list in their order; -1 if they are not."""
    low, high = 0, len(boards) - 1
    while low < high:
        middle = (low + high) // 2
        if boards[middle].line < line or (boards[middle].line == line and boards[middle].at < at):
            low = middle + 1
        else:
            high = middle
    # The last row is where the others end.
    found = low < len(boards) - 1 and boards[low].line == line and boards[low].at == at
    return low if found else -1
