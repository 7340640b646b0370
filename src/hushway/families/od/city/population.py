"""The people of the city: the same riders over several days."""

from collections.abc import Sequence

import numpy as np

from hushway.arrays import IntArray
from hushway.families.od.city.riders import DayTrips
from hushway.study.chance import shuffle

# Of a corridor's riders, one in five stays away even on its busiest day.
_SPARE = 1.25
_HABIT_NOISE = 1.5


def name_riders(
    days: Sequence[DayTrips], corridors: int, rng: np.random.Generator
) -> list[IntArray]:
    """Returns, for each day, the person behind every rider: numbers without gaps or meaning.

    People keep to their corridor, and those who ride often on one day tend to do so on the others.
    """
    if len(days) == 1:
        return [shuffle(rng, len(days[0].corridor))]
    sizes = [np.bincount(day.corridor, minlength=corridors) for day in days]
    living = np.ceil(np.max(sizes, axis=0) * _SPARE).astype(np.int64)
    present = [_present(living, size, rng) for size in sizes]
    ever = np.zeros(int(living.sum()), dtype=bool)
    for people in present:
        ever[people] = True
    number = np.full(len(ever), -1)
    number[ever] = shuffle(rng, int(ever.sum()))
    return [_assign(day, number[people], rng) for day, people in zip(days, present, strict=True)]


def _present(living: IntArray, size: IntArray, rng: np.random.Generator) -> IntArray:
    """Chooses `size` of the `living` people of each corridor, in ascending order."""
    corridor = np.repeat(np.arange(len(living)), living)
    order = np.lexsort((rng.random(len(corridor)), corridor))
    rank = np.arange(len(corridor)) - np.repeat(np.cumsum(living) - living, living)
    return np.sort(order[rank < size[corridor]])


def _assign(day: DayTrips, people: IntArray, rng: np.random.Generator) -> IntArray:
    """Gives a corridor's people, in order, to its riders of the day, the busiest first."""
    made = np.bincount(day.rider, minlength=len(day.corridor))
    busyness = made + _HABIT_NOISE * rng.random(len(made))
    person = np.empty(len(made), dtype=np.int64)
    person[np.lexsort((-busyness, day.corridor))] = people
    return person
