"""Where the riders of a card city go on one day: out to a usual place, and mostly back."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.city.demand import CardDemand
from hushway.families.sequences.city.figures import CardFigures, CardHabits
from hushway.families.sequences.city.network import Network
from hushway.study.chance import pick

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
        origin: The stop where each trip begins.
        destination: The stop where it ends.
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
