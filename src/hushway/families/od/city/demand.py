"""Who would travel where: corridors between homes and usual destinations, by gravity."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.od.city.figures import Day
from hushway.families.od.city.places import HUBS, positions_m
from hushway.geography.itineraries import MODES
from hushway.geography.locations import Locations
from hushway.study.chance import distances_m, largest, race

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
