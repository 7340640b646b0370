"""Who would travel where, by gravity, and how the matched window of 08:00-10:00 is filled."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.city.places import (
    HUBS,
    OPENS_MINUTE,
    PERIOD_MINUTES,
    PERIODS,
    WINDOW,
    Day,
    Figures,
    positions_m,
)
from hushway.geography.itineraries import MODES
from hushway.geography.locations import Locations
from hushway.numerics.chance import distances_m, draw, largest, race

# The window has eight cells for each corridor: two directions, four half-hours. Using little more
# than half of them keeps the half-hours outside the window, which nothing is published about, about
# as sparse as those inside.
_CELLS_PER_CORRIDOR = 4.5

# How strongly each hub's surroundings attract trips, and how far in metres: downtown, campus,
# hospital, labs, two malls, and two suburban centres.
_REACH_M = np.array([550.0, 600.0, 450.0, 600.0, 450.0, 450.0, 400.0, 400.0])
_STRENGTH: dict[Day, FloatArray] = {
    "weekday": np.array([1.0, 1.8, 1.4, 0.8, 0.4, 0.5, 0.2, 0.2]),
    "weekend": np.array([1.4, 0.6, 0.6, 0.1, 1.2, 1.4, 0.3, 0.3]),
}
_ATTRACTION_ELSEWHERE = 0.03
_GRAVITY_M = 3_000.0
_TOO_NEAR_M = 700.0


@dataclass(frozen=True, kw_only=True)
class Corridors:
    """The travel habits of the city: every rider lives on one corridor.

    No two corridors join the same two places, so that a corridor, a direction and a half-hour name
    a cell.

    Attributes:
        home: Where the corridor's riders live.
        usual: Where they usually go.
        side: Where they go from there before they return, now and then.
        rate: For each kind of day, how much each corridor is travelled, relative to the others.
    """

    home: IntArray
    usual: IntArray
    side: IntArray
    rate: dict[Day, FloatArray]

    def __len__(self) -> int:
        return len(self.home)


def corridors_of(
    locations: Locations, mode_of: IntArray, *, cells: int, rng: np.random.Generator
) -> Corridors:
    """Draws corridors enough to fill `cells` cells of the matched window, all modes among them."""
    position_m = positions_m(locations)
    distance_m = distances_m(position_m, position_m)
    people = _people(position_m, rng)
    pull = {day: _pull(position_m, day, rng) for day in _STRENGTH}
    weight = people[:, None] * pull["weekday"][None, :] * _friction(distance_m)

    count = max(len(MODES), int(np.ceil(cells / _CELLS_PER_CORRIDOR)))
    keys = race(rng, weight)
    for origin, destination in _one_of_each_mode(keys, mode_of):
        keys[origin, destination], keys[destination, origin] = np.inf, -np.inf
    keys[keys < keys.T] = -np.inf
    home, usual = np.divmod(largest(keys.ravel(), count), len(locations))

    habit = -np.log1p(-rng.random(count))
    rate = {
        day: np.sqrt(people[home] * pull[day][usual] * _friction(distance_m[home, usual])) * habit
        for day in pull
    }
    side = _side_places(distance_m, pull["weekend"])[usual]
    return Corridors(
        home=home, usual=usual, side=_other_than(side, home, usual, len(locations)), rate=rate
    )


def _people(position_m: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Returns how many live at each place: skewed, and few next to campus, hospital and malls."""
    to_hub = distances_m(position_m, position_m[: len(HUBS)]).min(axis=1)
    skew = np.exp(1.2 * (rng.random(len(position_m)) + rng.random(len(position_m)) - 1))
    return np.asarray(skew * (0.15 + 0.85 * (1 - np.exp(-((to_hub / 700.0) ** 2)))))


def _pull(position_m: FloatArray, day: Day, rng: np.random.Generator) -> FloatArray:
    """Returns how strongly each place attracts trips."""
    to_hubs = distances_m(position_m, position_m[: len(HUBS)])
    near = np.exp(-((to_hubs / _REACH_M) ** 2)) @ _STRENGTH[day]
    skew = np.exp(1.2 * (rng.random(len(position_m)) + rng.random(len(position_m)) - 1))
    return np.asarray((near + _ATTRACTION_ELSEWHERE) * skew)


def _friction(distance_m: FloatArray) -> FloatArray:
    """Returns how distance damps demand: what is near is walked, what is far is avoided."""
    rides = 1 - np.exp(-((distance_m / _TOO_NEAR_M) ** 2))
    return np.asarray(rides * np.exp(-distance_m / _GRAVITY_M))


def _one_of_each_mode(keys: FloatArray, mode_of: IntArray) -> list[tuple[int, int]]:
    """Returns the pair with the largest key of every mode, no two of them each other's reverse."""
    open_keys = keys.copy()
    pairs = []
    for mode in range(len(MODES)):
        best = int(np.argmax(np.where(mode_of == mode, open_keys, -np.inf)))
        origin, destination = divmod(best, len(mode_of))
        open_keys[destination, origin] = -np.inf
        pairs.append((origin, destination))
    return pairs


def _side_places(distance_m: FloatArray, pull: FloatArray) -> IntArray:
    """Returns where people go from each place: one place each, so that side trips share cells."""
    return np.asarray(np.argmax(pull[None, :] * _friction(distance_m), axis=1), dtype=np.int64)


def _other_than(side: IntArray, home: IntArray, usual: IntArray, places: int) -> IntArray:
    """Moves a side place that is home or usual already to the next place that is neither."""
    for _ in range(2):  # at most two places are in the way
        side = np.where((side == home) | (side == usual), (side + 1) % places, side)
    return side


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


# Part of the window's travellers who travel again in it if their way leads back: errands, schools,
# couriers.
_TRAVEL_ON = 0.4


@dataclass(frozen=True, kw_only=True)
class WindowTrips:
    """The trips of the window, each given to one rider.

    A rider's trips alternate between OUT and BACK, in half-hours that increase.

    Attributes:
        rider: Number of the rider, without gaps.
        leg: OUT or BACK.
    """

    rider: IntArray
    corridor: IntArray
    leg: IntArray
    period: IntArray


def fill_window(
    corridors: Corridors,
    mode_of: IntArray,
    *,
    day: Day,
    figures: Figures,
    rng: np.random.Generator,
) -> WindowTrips:
    """Draws the window: first the cells in use, then one trip for each of them, then all others."""
    corridor, leg, period = (
        axis.ravel()
        for axis in np.meshgrid(
            np.arange(len(corridors)), (Leg.OUT, Leg.BACK), tuple(WINDOW), indexing="ij"
        )
    )
    profiles = np.stack([profile(day, Leg.OUT), profile(day, Leg.BACK)])
    weight = corridors.rate[day][corridor] * profiles[leg, period]

    keys = race(rng, weight)
    home, usual = corridors.home[corridor], corridors.usual[corridor]
    mode = np.where(leg == Leg.OUT, mode_of[home, usual], mode_of[usual, home])
    for number in range(len(MODES)):
        # Every mode is used, so that no seed gives a table without one of them.
        keys[np.argmax(np.where(mode == number, keys, -np.inf))] = np.inf
    used = largest(keys, figures.window_cells)

    more = draw(rng, weight[used], figures.window_trips - figures.window_cells)
    trips = np.repeat(used, 1 + np.bincount(more, minlength=len(used)))
    rider = _riders(corridor[trips], leg[trips], period[trips], rng)
    return WindowTrips(rider=rider, corridor=corridor[trips], leg=leg[trips], period=period[trips])


def _riders(
    corridor: IntArray, leg: IntArray, period: IntArray, rng: np.random.Generator
) -> IntArray:
    """Gives every trip of the window a rider, some of whom make several."""
    previous = np.full(len(corridor), -1)
    open_end = rng.random(len(corridor)) < _TRAVEL_ON
    for now in tuple(WINDOW)[1:]:
        early = np.flatnonzero(open_end & (period < now))
        late = np.flatnonzero(period == now)
        # A way back continues a way out on the same corridor, and the other way round.
        first, second = _paired(
            2 * corridor[early] + leg[early], 2 * corridor[late] + 1 - leg[late]
        )
        previous[late[second]] = early[first]
        open_end[early[first]] = False
    root = np.arange(len(corridor))
    for _ in tuple(WINDOW)[1:]:
        root = np.where(previous[root] >= 0, previous[root], root)
    return np.asarray(np.unique(root, return_inverse=True)[1], dtype=np.int64)


def _paired(left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs the k-th entry of a value on the left with its k-th entry on the right."""
    width = max(len(left), len(right), 1)
    _, first, second = np.intersect1d(
        left * width + rank_within(left),
        right * width + rank_within(right),
        assume_unique=True,
        return_indices=True,
    )
    return first, second


def rank_within(groups: IntArray) -> IntArray:
    """Returns how many earlier entries are in the same group, for each entry."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    rank = np.empty(len(groups), dtype=np.int64)
    sizes = np.diff(np.r_[starts, len(ordered)])
    rank[order] = np.arange(len(groups)) - np.repeat(starts, sizes)
    return rank
