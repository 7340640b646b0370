"""The events of the people of the synthetic Paris, one person after the other."""

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import Int32Array, IntArray
from hushway.families.density.city.people import People
from hushway.families.density.city.rhythms import HOURS, Place
from hushway.families.density.city.towers import GRID, TowerField
from hushway.families.density.city.week import STEPS, Net, Week, Who, net_of, week_of, who_of
from hushway.numerics.compiled import compiled

# Plain numbers for the compiled loops.
_HOME, _WORK = int(Place.HOME), int(Place.WORK)
_TRACK, _ANYWHERE = int(Place.TRACK), int(Place.ANYWHERE)

# Share of the calls of those who go to a gathering that they make there, and how many at most.
_PULL, _MOST_THERE = 0.25, 3.0
# People with many calls get around more: this share of calls from anywhere, for each visit.
_ROAMING, _MOST_ROAMING = 0.0012, 0.6
_OFF_TRACK = 0.05
# Share of visits that another event follows within the hour, beyond those that happen to.
_AGAIN = 0.12
_MOST_AGAIN = 250
# After so many draws in vain people call from anywhere on any day, so that drawing ends. Long
# before, events at a known tower and hour no longer count as repeated.
_PATIENCE, _ATTENTION = 300, 20


def events_of(
    people: People, towers: TowerField, rng: np.random.Generator
) -> tuple[Int32Array, NDArray[np.int16], Int32Array]:
    """Returns person, tower and second of all events, ordered by person and time."""
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(people.visits)])
    cell, again = _visits(start, who_of(people), week_of(), net_of(towers), rng)
    return _events(start, cell, again, rng)


@compiled
def _visits(  # noqa: C901, PLR0912 - calls that hand on the tables take longer than draws
    start: IntArray, who: Who, week: Week, net: Net, rng: np.random.Generator
) -> tuple[Int32Array, NDArray[np.uint8]]:
    """Returns the distinct (tower, hour) of every person, and how often each was repeated."""
    towers = len(net.east)
    cell = np.empty(start[-1], dtype=np.int32)
    again = np.zeros(start[-1], dtype=np.uint8)
    # The last visit at each tower and hour: the person's own if it is not before their first.
    last = np.full(towers * HOURS, -1, dtype=np.int64)
    for person in range(len(who.rhythm)):
        made, wanted = start[person], start[person + 1]
        rhythm, meets = who.rhythm[person], who.gathering[person]
        roaming = min(_MOST_ROAMING, _ROAMING * (wanted - made))
        pull = min(_PULL, _MOST_THERE / (wanted - made)) if meets >= 0 else 0.0
        tries = 0
        while made < wanted:
            tries += 1
            if rng.random() < pull:
                hour = week.meet_first[meets] + int(rng.random() * week.meet_hours[meets])
                middle = net.meet_at[meets]
            else:
                drawn = week.hour[rhythm, int(rng.random() * STEPS)]
                hour = (drawn + who.shift[person]) % HOURS
                if not (who.about[person] >> (hour // 24)) & 1 and tries <= _PATIENCE:
                    continue
                place = _ANYWHERE
                if rng.random() >= roaming:
                    place = _first_above(week.place[rhythm // 2, drawn], rng.random())
                if place == _ANYWHERE or tries > _PATIENCE:
                    middle = net.anywhere[int(rng.random() * STEPS)]
                elif place == _TRACK:
                    home, work = who.anchors[person, _HOME], who.anchors[person, _WORK]
                    way, aside = rng.random(), _OFF_TRACK * (rng.random() - 0.5)
                    east = net.east[home] + way * (net.east[work] - net.east[home]) + aside
                    north = net.north[home] + way * (net.north[work] - net.north[home]) - aside
                    middle = net.grid[_square(north) * GRID + _square(east)]
                else:
                    middle = who.anchors[person, place]
            tower = net.neighbours[middle, _first_above(net.spread[middle], rng.random())]
            if rng.random() >= net.whim[tower, hour]:
                continue
            before = last[tower * HOURS + hour]
            if before < start[person]:
                last[tower * HOURS + hour] = made
                cell[made] = tower * HOURS + hour
                while rng.random() < _AGAIN and again[made] < _MOST_AGAIN:
                    again[made] += 1
                made += 1
                tries = 0
            elif tries <= _ATTENTION and again[before] < _MOST_AGAIN:
                again[before] += 1
    return cell, again


@compiled
def _first_above(cumulative: NDArray[np.float32], share: float) -> int:
    """Returns an index by cumulative shares; there are few, and the first are the likeliest."""
    index = 0
    while index < len(cumulative) - 1 and share >= cumulative[index]:
        index += 1
    return index


@compiled
def _square(offset: float) -> int:
    """Returns the row or column of the grid for an offset from the middle."""
    return min(max(int((offset + 1) / 2 * GRID), 0), GRID - 1)


@compiled
def _events(
    start: IntArray, cell: Int32Array, again: NDArray[np.uint8], rng: np.random.Generator
) -> tuple[Int32Array, NDArray[np.int16], Int32Array]:
    """Draws when events happen within their hours, and puts those of a person in order."""
    most, total = 0, 0
    for who in range(len(start) - 1):
        count = 0
        for visit in range(start[who], start[who + 1]):
            count += 1 + again[visit]
        most = max(most, count)
        total += count
    person = np.empty(total, dtype=np.int32)
    tower = np.empty(total, dtype=np.int16)
    second = np.empty(total, dtype=np.int32)
    # Time and tower in one number can be sorted at once.
    packed = np.empty(most, dtype=np.int64)
    at = 0
    for who in range(len(start) - 1):
        count = 0
        for visit in range(start[who], start[who + 1]):
            for _ in range(1 + again[visit]):
                when = (cell[visit] % HOURS) * 3_600 + int(rng.random() * 3_600)
                packed[count] = (when << 16) + cell[visit] // HOURS
                count += 1
        packed[:count].sort()
        for event in range(count):
            person[at] = who
            second[at] = packed[event] >> 16
            tower[at] = packed[event] & 0xFFFF
            at += 1
    return person, tower, second
