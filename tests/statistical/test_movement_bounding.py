"""The choices among a person's items and trips are uniform, and people do not share their luck."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.families.links.matching.traces import Traces
from hushway.families.links.rows.bounding import add_people_items
from hushway.families.links.rows.noisy import MetricEnds, few_trips, moved
from hushway.families.links.rows.trips import Trips
from hushway.privacy.randomness import SeededSource
from support.choices import LEVEL, check_sets, keys
from support.goodness_of_fit import chi_square

KEYS = 6_000
ITEMS, LINKS = 100, 60


def kept(
    key: BoundingKey, codes: list[int], most: int, people: int = 1, first: int = 7
) -> np.ndarray:
    """Counts of people with numbers one after the other, who all have the same items."""
    counts, sums = np.zeros(24 * ITEMS, dtype=np.int64), np.zeros(24 * LINKS, dtype=np.int64)
    rows = people * len(codes)
    add_people_items(
        np.arange(people + 1) * len(codes),
        np.tile(np.array(codes, dtype=np.int64), people),
        np.zeros(rows),
        np.zeros(rows, dtype=np.int64),
        np.arange(first, first + people),
        ITEMS,
        LINKS,
        np.array([most]),
        6,
        np.array(key.coefficients, dtype=np.int64),
        np.array([1]),
        counts,
        sums,
        np.zeros(0, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )
    return counts


# Items of people: they make a life as regular as can be.
HABITS: dict[str, list[int]] = {
    "a street of links one after the other": list(range(20, 27)),
    "one link at every hour": [ITEMS * hour + 8 for hour in range(7)],
    "links, and the nodes at both ends": [5, 6, 7, 8, 9, 65, 95],
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("most", [1, 3, 5])
def test_every_set_of_items_is_kept_equally_often(habit: str, most: int) -> None:
    codes = HABITS[habit]
    seen = np.array([kept(key, codes, most)[codes] for key in keys(51, KEYS)])
    assert (seen.sum(axis=1) == most).all()
    found = seen @ (1 << np.arange(len(codes)))
    check_sets(found, len(codes), most)


@pytest.mark.parametrize("first", [0, 10**9, 1 << 40])
def test_people_with_the_same_items_do_not_share_the_choice(first: int) -> None:
    """400 people keep 4 of 20 items; numbers follow each other.

    If they shared the choice, the number of them at the first item would vary 400 times as much.
    """
    people, most, rounds = 400, 4, 400
    codes = list(range(20))
    numbers = []
    for key in keys(52, rounds):
        counts = kept(key, codes, most, people, first)
        assert counts.sum() == people * most
        numbers.append(int(counts[0]))
    share = most / len(codes)
    variance = people * share * (1 - share)
    # 400 draws estimate a variance within 7% (one standard deviation).
    assert 0.6 * variance < np.var(numbers) < 1.5 * variance
    assert abs(np.mean(numbers) - people * share) < 6 * np.sqrt(variance / rounds)


def test_every_set_of_trips_is_kept_equally_often() -> None:
    """Two of six trips: 15 sets."""
    trips = Trips(
        person=np.zeros(6, dtype=np.int64),
        traces=Traces(
            start=2 * np.arange(7), x=np.zeros(12), y=np.zeros(12), seconds=np.arange(12.0)
        ),
    )
    sets = {pair: i for i, pair in enumerate(combinations(range(6), 2))}
    observed = np.zeros(len(sets), dtype=np.int64)
    for key in keys(53, KEYS):
        few = few_trips(trips, np.array([7]), 2, key).traces
        one, other = (few.seconds[few.start[:-1]] / 2).astype(int).tolist()
        observed[sets[one, other]] += 1
    assert chi_square(observed, np.full(len(sets), 1 / len(sets))) > LEVEL


def test_ends_move_by_the_law_of_the_noise() -> None:
    """P(z) = (1 - a) / (1 + a) * a^|z| in steps of the grid, along both axes."""
    ends = MetricEnds(epsilon=Fraction(2), radius=100, step=25, max_trips=1)
    count = 40_000
    x, y = moved(np.full(count, 40.0), np.full(count, -1.0), ends, SeededSource(54))
    a = np.exp(-1 / float(ends.scale))
    steps = np.arange(-200, 201)
    law = (1 - a) / (1 + a) * a ** np.abs(steps)
    for noisy, centre in ((x, 1_000.0), (y, -25.0)):
        drawn = ((noisy - centre) / 25).astype(np.int64)
        assert np.array_equal(drawn * 25.0 + centre, noisy)
        observed = np.bincount(drawn + 200, minlength=401)
        assert chi_square(observed, law / law.sum()) > LEVEL
    along = np.corrcoef(x, y)[0, 1]
    assert abs(along) < 6 / np.sqrt(count)
