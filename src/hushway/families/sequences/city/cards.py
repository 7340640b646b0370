"""Two synthetic card cities, Metro and Bus, that add up to published figures.

The figures are those of Chen, Fung, Desai and Sossou (KDD 2012). The public geography never
changes. Records depend on the seed, and add up to the published figures whatever the seed is. See
docs/researchers/cities.md.
"""

from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.sequences.city.city import CardCity
from hushway.families.sequences.city.network import (
    BUS,
    BUS_HABITS,
    METRO,
    METRO_HABITS,
    CardDemand,
    CardFigures,
    CardHabits,
    Network,
    bus_network,
    card_demand,
    metro_network,
)
from hushway.numerics.chance import generator, largest, pick

# Share of riders whose first trip of the day leads home: they came by other means, or at night.
_HOMEWARDS_FIRST = 0.12
# Where riders go next: from home to their usual place, to their other one or anywhere; from
# elsewhere home, to the other place or anywhere.
_FROM_HOME = (0.45, 0.85)
_FROM_ELSEWHERE = (0.92, 0.97)
# Share of trips that begin one stop further along the line than the last one ended.
_STROLL = 0.02


@dataclass(frozen=True, kw_only=True, eq=False)
class CardTrips:
    """Trips, record by record and in order within a record.

    Attributes:
        first: The first trip of each record; one entry more than records.
    """

    first: IntArray
    origin: IntArray
    destination: IntArray

    @property
    def record(self) -> IntArray:
        """The record of each trip."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Riders:
    """The places that riders know: home, the usual destination and another one."""

    home: IntArray
    work: IntArray
    side: IntArray

    def of(self, which: IntArray) -> "_Riders":
        return _Riders(home=self.home[which], work=self.work[which], side=self.side[which])


def live(
    network: Network,
    demand: CardDemand,
    *,
    habits: CardHabits,
    figures: CardFigures,
    rng: np.random.Generator,
) -> CardTrips:
    """Draws the trips of one day, one record for each rider."""
    plans = _plans(habits, figures, rng)
    first = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(plans)])
    home, work = demand.corridors(rng.random(figures.records))
    side = demand.destinations(home, rng.random(figures.records))
    riders = _Riders(home=home, work=work, side=side)
    homewards = rng.random(figures.records) < _HOMEWARDS_FIRST

    origin, destination = np.empty(first[-1], dtype=np.int64), np.empty(first[-1], dtype=np.int64)
    place = np.where(homewards, work, home)
    for trip in range(int(plans.max())):
        going = np.flatnonzero(plans > trip)
        here, known = place[going], riders.of(going)
        if trip == 0:
            there = np.where(homewards, home, work)
        else:
            anywhere = demand.destinations(known.home, rng.random(len(going)))
            there = _next_place(here, known, anywhere, rng.random(len(going)))
        origin[first[going] + trip], destination[first[going] + trip] = here, there
        place[going] = there
    trips = CardTrips(first=first, origin=origin, destination=destination)
    return _stroll(trips, network, rng)


def _plans(habits: CardHabits, figures: CardFigures, rng: np.random.Generator) -> IntArray:
    """Draws how many trips each record holds; one is a staff card that is tapped all day long."""
    plans = pick(np.cumsum(habits.plans), rng.random(figures.records)) + 1
    # Every trip leaves two taps at least, so these are enough for the longest record.
    plans[int(rng.random() * figures.records)] = figures.longest // 2 + 1
    return plans


def _next_place(
    here: IntArray, known: _Riders, anywhere: IntArray, uniform: FloatArray
) -> IntArray:
    at_home = here == known.home
    often, seldom = np.where(at_home[:, None], _FROM_HOME, _FROM_ELSEWHERE).T
    usual = np.where(at_home, known.work, known.home)
    there = np.where(uniform < often, usual, np.where(uniform < seldom, known.side, anywhere))
    return np.where(there == here, usual, there)


def _stroll(trips: CardTrips, network: Network, rng: np.random.Generator) -> CardTrips:
    """Lets some riders walk a stop between two trips."""
    step = np.where(rng.random(len(trips.origin)) < 0.5, -1, 1)
    beside = network.neighbour(trips.origin, step)
    walked = (rng.random(len(trips.origin)) < _STROLL) & (beside != trips.destination)
    walked[trips.first[:-1]] = False
    origin = np.where(walked, beside, trips.origin)
    return CardTrips(first=trips.first, origin=origin, destination=trips.destination)


# Share of records whose last tap is missing: a gate stood open.
_GATE_OPEN = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Taps:
    """Taps, record by record and in order within a record.

    Attributes:
        start: The first tap of each record; one entry more than records.
        progress: How far on the trip it is made, from 0 to 1.
    """

    start: IntArray
    stop: IntArray
    trip: IntArray
    progress: FloatArray


def taps_of(
    trips: CardTrips, network: Network, habits: CardHabits, rng: np.random.Generator
) -> Taps:
    """Returns all taps of all trips."""
    ends = (network.line_of[trips.origin], network.line_of[trips.destination])
    leave, board = network.change_at[ends], network.change_at[ends[::-1]]
    changes = (ends[0] != ends[1]) & (rng.random(len(leave)) < habits.change_tapped)
    begins_there, ends_there = leave == trips.origin, board == trips.destination
    stops = np.column_stack([trips.origin, leave, board, trips.destination])
    made = np.ones(stops.shape, dtype=np.bool_)
    made[:, 1] = made[:, 2] = changes & ~begins_there & ~ends_there
    if habits.change_taps == 1:
        made[:, 2] = False
    else:
        # Riders whose trip begins where they would change take the other line at once; those whose
        # trip would end where they board walk the rest.
        made[changes & begins_there & ~ends_there] = (False, False, True, True)
        made[changes & ends_there & ~begins_there] = (True, True, False, False)

    each = made.sum(axis=1)
    of_record = np.add.reduceat(each, trips.first[:-1])
    place = np.cumsum(made, axis=1) - 1
    return Taps(
        start=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(of_record)]),
        stop=stops[made],
        trip=np.repeat(np.arange(len(each)), each),
        progress=(place / (each - 1)[:, None])[made],
    )


def matched(taps: Taps, figures: CardFigures, rng: np.random.Generator) -> Taps:
    """Returns taps that add up to the published figures.

    Some records lose their last tap. Where too few taps are left, some make their last tap twice.
    """
    natural = np.diff(taps.start)
    length = np.minimum(natural, figures.longest)
    staff = int(np.argmax(natural))
    length -= (length > 1) & (rng.random(len(length)) < _GATE_OPEN)
    length[staff] = figures.longest
    while (missing := figures.stops - int(length.sum())) != 0:
        open_to = (length < figures.longest) if missing > 0 else (length > 1)
        open_to[staff] = False
        candidates = np.flatnonzero(open_to)
        count = min(abs(missing), len(candidates))
        length[candidates[largest(rng.random(len(candidates)), count)]] += np.sign(missing)

    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length)])
    place = np.arange(start[-1]) - np.repeat(start[:-1], length)
    kept = np.repeat(taps.start[:-1], length) + np.minimum(place, np.repeat(natural - 1, length))
    return Taps(
        start=start, stop=taps.stop[kept], trip=taps.trip[kept], progress=taps.progress[kept]
    )


__all__ = ["CardCity", "bus", "metro"]

_ZONE = "America/Toronto"
_DAY = date(2026, 3, 3)
_FEWEST_RECORDS = 100

# Streams of a seed: corridors, and then one for each time that the figures are made again.
_CORRIDORS = 0


def metro(seed: int, *, scale: int = 1, records: int | None = None) -> CardCity:
    """Returns a synthetic metro: 4 lines, 68 stations, 847,668 records.

    Args:
        scale: How many times to make the records; each time has the published figures.
        records: A smaller number of records, with the same longest one and the same mean length.

    Raises:
        PlanError: A size is out of range.
    """
    return _city("Metro (synthetic)", metro_network(), METRO, METRO_HABITS, (seed, scale, records))


def bus(seed: int, *, scale: int = 1, records: int | None = None) -> CardCity:
    """Returns a synthetic bus network: 60 lines, 944 stops, 778,724 records. See `metro`.

    Raises:
        PlanError: A size is out of range.
    """
    return _city("Bus (synthetic)", bus_network(), BUS, BUS_HABITS, (seed, scale, records))


def _city(
    name: str,
    network: Network,
    published: CardFigures,
    habits: CardHabits,
    wanted: tuple[int, int, int | None],
) -> CardCity:
    seed, scale, records = wanted
    figures = published if records is None else replace(published, records=records)
    _check(seed=seed, scale=scale, records=figures.records)
    demand = card_demand(network, habits, generator(seed, _CORRIDORS))
    parts = [
        _records(network, demand, habits, figures, generator(seed, _CORRIDORS + 1 + number))
        for number in range(scale)
    ]
    length = np.concatenate([np.diff(start) for start, _, _ in parts])
    return CardCity(
        name=name,
        zone=_ZONE,
        day=_DAY,
        taxonomy=network.taxonomy,
        start=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length)]),
        stops=np.concatenate([stops for _, stops, _ in parts]),
        seconds=np.concatenate([seconds for _, _, seconds in parts]),
        person=np.arange(len(length), dtype=np.int64),
    )


def _records(
    network: Network,
    demand: CardDemand,
    habits: CardHabits,
    figures: CardFigures,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray, IntArray]:
    """Returns where records begin, their stops and the second of each stop."""
    trips = live(network, demand, habits=habits, figures=figures, rng=rng)
    taps = matched(taps_of(trips, network, habits, rng), figures, rng)
    return taps.start, taps.stop, seconds_of(taps, trips, network, rng)


def _check(*, seed: int, scale: int, records: int) -> None:
    if seed < 0:
        raise PlanError("A seed cannot be negative.", advice="Give 0 or any larger whole number.")
    if scale < 1:
        raise PlanError(
            f"The city cannot be made {scale} times its size.", advice="Give a scale of 1 or more."
        )
    if records < _FEWEST_RECORDS:
        raise PlanError(
            f"The city cannot have {records} records.",
            advice=f"Give {_FEWEST_RECORDS} or more, or none for the published number.",
        )


_DAY_S = 24 * 60 * 60
# No trip ends later; what is left of the day is room for taps that must follow one another.
_CLOSES_S = 24 * 60 * 60 - 600
_EARLIEST_H, _LATEST_H = 5.5, 23.5
_MORNING_H, _EVENING_H = (8.2, 1.8), (17.2, 2.6)
_OFF_PEAK = 0.2
_PACE_M_PER_S, _WAIT_S = 7.0, 240.0


def seconds_of(
    taps: Taps, trips: CardTrips, network: Network, rng: np.random.Generator
) -> IntArray:
    """Returns the second of the day of each tap, ascending within a record."""
    begins = _departures(trips, rng)
    last = np.zeros(len(begins), dtype=np.bool_)
    last[trips.first[1:] - 1] = True
    ends = np.where(last, _CLOSES_S, np.append(begins[1:], _CLOSES_S))
    lasts = _WAIT_S + network.distance_m[trips.origin, trips.destination] / _PACE_M_PER_S
    lasts = np.minimum(lasts, 0.9 * (ends - begins))
    second = (begins[taps.trip] + taps.progress * lasts[taps.trip]).astype(np.int64)
    return _ascending(second, taps.start)


def _departures(trips: CardTrips, rng: np.random.Generator) -> FloatArray:
    """Draws when trips begin: the first early, the second late, all others at any time."""
    count = len(trips.origin)
    number = np.arange(count) - np.repeat(trips.first[:-1], np.diff(trips.first))
    bell = rng.random(count) + rng.random(count) + rng.random(count) - 1.5
    hour = _EARLIEST_H + (_LATEST_H - _EARLIEST_H) * rng.random(count)
    peak = rng.random(count) >= _OFF_PEAK
    for which, (middle, width) in enumerate((_MORNING_H, _EVENING_H)):
        hour = np.where(peak & (number == which), middle + width * bell, hour)
    # Sorting by record and time at once gives every record its own times back in order.
    offset = trips.record * float(_DAY_S)
    return np.sort(offset + 3_600.0 * hour) - offset


def _ascending(second: IntArray, start: IntArray) -> IntArray:
    """Moves taps of a record that fall into the same second to the next ones."""
    length = np.diff(start)
    place = np.arange(len(second)) - np.repeat(start[:-1], length)
    offset = np.repeat(np.arange(len(length)), length) * (2 * _DAY_S)
    # A second ascends from tap to tap if it does not descend after its place is taken off.
    return np.maximum.accumulate(offset + second - place + _DAY_S) - _DAY_S + place - offset
