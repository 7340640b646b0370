"""The taps that trips leave on a card: at both ends, and where riders change lines."""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.city.days import CardTrips
from hushway.families.sequences.city.figures import CardFigures, CardHabits
from hushway.families.sequences.city.network import Network
from hushway.study.chance import largest

# Share of records whose last tap is missing: a gate stood open.
_GATE_OPEN = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Taps:
    """Taps, record by record and in order within a record.

    Attributes:
        start: The first tap of each record; one entry more than records.
        stop: Where each tap is made.
        trip: The trip that it belongs to.
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
