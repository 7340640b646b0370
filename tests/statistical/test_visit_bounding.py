"""The choices among visits are uniform, and neither people nor choices share their luck."""

import numpy as np
import pytest

from hushway.engine.key import BoundingKey
from hushway.families.density.public.visits import PERSON_PARTS, VisitLimits
from hushway.families.density.rows.counts import BoundedVisits, VisitRule, ranked_rows
from hushway.families.density.rows.grouping import VisitRows
from support.choices import LEVEL, check_sets, keys
from support.goodness_of_fit import chi_square
from support.long import often

KEYS = 6_000
SITES, BINS = 10, 168


def bounded(
    key: BoundingKey, codes: list[int], most: int, people: int = 1, first: int = 7
) -> BoundedVisits:
    """People with numbers one after the other, who all have the same visits."""
    rows = VisitRows(
        owner=np.repeat(np.arange(first, first + people), len(codes)),
        code=np.tile(np.array(codes, dtype=np.int32), people),
    )
    limits = VisitLimits(max_visits=most, max_visits_in_total=BINS)
    rule = VisitRule(sites=SITES, bins=BINS, ladder=limits.ladder, key=key)
    return ranked_rows([rows], rule).within(limits)


# Bins that people are seen in: they make a life as regular as can be.
HABITS: dict[str, list[int]] = {
    "every hour": list(range(7)),
    "every day at the same hour": [24 * day + 8 for day in range(7)],
}


@pytest.mark.parametrize("habit", HABITS)
@pytest.mark.parametrize("most", often([1, 3, 5]))
def test_every_set_of_visits_is_kept_equally_often(habit: str, most: int) -> None:
    bins = HABITS[habit]
    seen = np.zeros((KEYS, len(bins)), dtype=np.int64)
    for i, key in enumerate(keys(41, KEYS)):
        kept = bounded(key, [each * SITES + 4 for each in bins], most).series
        seen[i] = kept[bins, 4]
    assert (seen.sum(axis=1) == most).all()
    found = seen @ (1 << np.arange(len(bins)))
    check_sets(found, len(bins), most)


def rounding(found: BoundedVisits, site: int) -> int:
    """How many parts a site has beyond what is due to it, rounded down."""
    return int(found.histogram[site]) - PERSON_PARTS // 5


@pytest.mark.long
def test_one_visit_of_a_bin_and_the_rounding_of_parts_are_uniform_and_apart() -> None:
    """Five sites in the only bin: 5 choices of the series, times 5 beginnings of the rounding.

    1024 parts are four more than five times 204, so one of the five sites lacks a part.
    """
    codes = [3 * SITES + site for site in range(5)]
    observed = np.zeros((5, 5), dtype=np.int64)
    for key in keys(42, KEYS):
        found = bounded(key, codes, most=2)
        short = [site for site in range(5) if rounding(found, site) == 0]
        assert len(short) == 1
        observed[int(np.flatnonzero(found.series[3])[0]), short[0]] += 1
    assert chi_square(observed.ravel(), np.full(25, 1 / 25)) > LEVEL


def test_the_window_is_cut_apart_from_the_other_choices() -> None:
    """Five bins with two sites each, one visit kept: 5 bins * 2 sites."""
    codes = [each * SITES + 2 * each + side for each in range(5) for side in range(2)]
    observed = np.zeros(10, dtype=np.int64)
    for key in keys(43, KEYS):
        found = bounded(key, codes, most=1)
        observed[int(np.flatnonzero(found.series.sum(axis=0))[0])] += 1
    assert chi_square(observed, np.full(10, 1 / 10)) > LEVEL


@pytest.mark.parametrize("first", often([0, 10**9, 1 << 40]))
def test_people_with_the_same_visits_do_not_share_the_choice(first: int) -> None:
    """400 people keep 4 of 20 visits, and where rounding begins; numbers follow each other.

    Of 20 visits 4 get a part more, every fifth: the first with a chance of a fifth. If
    they shared the choice, the number of them at the first visit would vary 400 times as much.
    """
    people, visits, most, rounds = 400, 20, 4, 400
    codes = [each * SITES + (9 if each == visits - 1 else each % 2) for each in range(visits)]
    kept, drawn = [], []
    for key in keys(44, rounds):
        found = bounded(key, codes, most, people, first)
        assert found.series.sum() == people * most
        kept.append(int(found.series[0, 0]))
        drawn.append(int(found.histogram[9]) - people * (PERSON_PARTS // visits))
    for numbers, share in ((kept, most / visits), (drawn, (PERSON_PARTS % visits) / visits)):
        variance = people * share * (1 - share)
        # 400 draws estimate a variance within 7% (one standard deviation).
        assert 0.6 * variance < np.var(numbers) < 1.5 * variance
        assert abs(np.mean(numbers) - people * share) < 6 * np.sqrt(variance / rounds)
