"""A mutant is wrong in one thing; in everything else it is the real product."""

from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing.product import Product, blind, unsplit
from hushway.errors import BudgetError
from hushway.families.sequences.audit.stage import (
    SequenceStage,
    TreeForm,
    Walk,
    Walks,
    toy_universe,
)
from hushway.families.sequences.audit.suite import SUITE
from hushway.families.sequences.audit.tree import enumerated
from hushway.families.sequences.audit.tree_looks import FirstStep, other_questions
from hushway.privacy.bound import Bound
from hushway.privacy.loss import PureLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

REAL = Product()
PLANTED = {mutant.name: mutant.product for mutant in SUITE.mutants}
FORM = TreeForm(
    words="tree", toy=toy_universe(corners=3, groups=2, places=2), height=1, threshold=3
)
FIRST = Query(name="first", cells=FORM.toy.universe.first_step())
# Noise for three records is 0 but for one draw in 10^14.
PLENTY = Fraction(200)
FIVE = tuple(Walk(stops=(0,), person=person) for person in range(5))


def stage(product: Product, form: TreeForm = FORM) -> SequenceStage:
    return SequenceStage(product=product, form=form, spend=PureLoss(PLENTY), max_records=3)


def shown(product: Product, scene: Walks) -> IntArray:
    place = stage(product)
    curator = place.opened(scene)
    return curator.counts_above(FIRST, 1, place.mechanism.spends[0]).reveal().values


def test_only_the_bound_is_wrong_without_sensitivity() -> None:
    for product, most in ((REAL, 3), (PLANTED["sensitivity 1 instead of m"], 1)):
        place = stage(product)
        curator = place.opened(())
        assert curator.bound(FIRST) == Bound(cells=most, each=most, total=most)
        assert shown(product, (Walk(stops=(0,), times=9),)).tolist() == [3] * 3


def test_only_the_counts_are_wrong_without_a_cap() -> None:
    product = PLANTED["no contribution limit"]
    assert shown(product, (Walk(stops=(0,), times=9),)).tolist() == [9] * 3
    place = stage(product)
    assert place.opened(()).bound(FIRST).l1 == 3


def test_a_record_in_two_groups_is_counted_twice_in_the_first_step() -> None:
    assert shown(PLANTED["a station in two groups"], FIVE).tolist() == [5] * 6
    assert shown(REAL, FIVE).tolist() == [5] * 3


def test_spread_records_have_the_sum_of_the_real_bound_and_smaller_squares() -> None:
    place = stage(PLANTED["records of one person that never share a candidate"])
    bound = place.opened(()).bound(FIRST)
    assert (bound.l1, bound.l2_squared) == (3, 3)


def test_a_stop_counts_in_every_later_period_only_where_times_are_kept() -> None:
    wrong = PLANTED["a stop that counts in every later period"]
    assert shown(wrong, FIVE).tolist() == shown(REAL, FIVE).tolist()
    timed = TreeForm(words="timed", toy=toy_universe(corners=2, periods=3), height=1)
    first = Query(name="first", cells=timed.toy.universe.first_step())
    place = stage(REAL, timed)
    rows = place.play((Walk(stops=(0,), periods=(1,)),))
    for product, expected in ((REAL, [2, 3]), (wrong, [2, 3, 4, 5])):
        counter = product.counter(rows, place, os_source())
        assert counter.count(first).cells.tolist() == expected


def test_large_counts_have_no_noise_where_many_people_need_none() -> None:
    crowd = tuple(Walk(stops=(0,), person=person) for person in range(25))
    product = PLANTED["no noise where many people are"]
    place = SequenceStage(
        product=product, form=FORM, spend=PureLoss(Fraction(1, 30)), max_records=3
    )
    curator = place.opened(crowd)
    seen = curator.counts_above(FIRST, 1, place.mechanism.spends[0]).reveal()
    assert seen.values[np.isin(seen.cells, [0, 2, 4])].tolist() == [25] * 3


def test_every_step_has_the_same_noise_if_its_seed_is_the_same() -> None:
    def twice(product: Product) -> list[list[int]]:
        place = SequenceStage(
            product=product, form=FORM, spend=PureLoss(Fraction(1, 3)), max_records=3
        )
        curator = place.opened(FIVE)
        spend = place.mechanism.spends[0]
        answers = [curator.counts_above(FIRST, 1, spend).reveal() for _ in range(2)]
        return [answer.values.tolist() for answer in answers]

    one, other = twice(PLANTED["the same noise at every step"])
    assert one == other
    # Real noise of scale 18 is twice the same at all candidates once in a thousand times at most,
    # and in all of ten releases never.
    assert any(one != other for one, other in (twice(REAL) for _ in range(10)))


def test_small_exact_counts_get_no_noise_where_the_threshold_comes_first() -> None:
    place = stage(PLANTED["threshold before noise"])
    curator = place.opened(FIVE[:2])
    answer = curator.counts_above(FIRST, 3, place.mechanism.spends[0])
    # What was dropped is an empty candidate now; 0 is what it shows at a lower look.
    assert answer.reveal(1).values.tolist() == []
    assert shown(REAL, FIVE[:2]).tolist() == [2] * 3


def test_candidates_from_the_data_are_those_that_hold_records() -> None:
    # Noise of scale 60 lets nearly every other empty candidate of the real product show.
    little = Fraction(1, 30)

    def kept(product: Product) -> int:
        place = SequenceStage(product=product, form=FORM, spend=PureLoss(little))
        curator = place.opened(())
        return len(curator.counts_above(FIRST, 1, place.mechanism.spends[0]).reveal().cells)

    assert sum(kept(PLANTED["candidates taken from the data"]) for _ in range(20)) == 0
    # None of 120 that show with a chance near 1/2: less than once in 10^30 times.
    assert sum(kept(REAL) for _ in range(20)) > 0


def test_the_real_purse_stops_a_budget_that_was_not_split() -> None:
    universe = FORM.toy.universe
    split = stage(Product(mechanism=unsplit))
    with pytest.raises(BudgetError):
        split.mechanism.measure(split.opened(FIVE), universe)
    blindly = stage(Product(mechanism=unsplit, budget=blind))
    assert len(blindly.mechanism.measure(blindly.opened(FIVE), universe)) == 2


TWO_STOPS = TreeForm(words="tree", toy=toy_universe(corners=4), height=2)
STAYS = (Walk(stops=(0, 1)),)


def test_the_real_tree_asks_the_same_after_the_same_answers() -> None:
    place = stage(REAL, TWO_STOPS)
    assert other_questions(place, place.opened(STAYS)).tolist() == [0] * 4


def test_a_nosy_tree_asks_less_where_nobody_is() -> None:
    place = stage(PLANTED["a tree that stops where exact counts end"], TWO_STOPS)
    # Four candidates of the second stop, and the question itself.
    assert other_questions(place, place.opened(STAYS)).tolist() == [5] * 4


def test_a_nosy_tree_asks_more_where_somebody_is() -> None:
    place = stage(PLANTED["a tree that stops where exact counts end"], TWO_STOPS)
    # One stop each: the tree that peeps ends after the first, the other goes on.
    assert other_questions(place, place.opened((Walk(stops=(0,)),)), STAYS).tolist() == [5] * 4


def test_an_enumerated_product_names_every_candidate() -> None:
    place = stage(enumerated(REAL))
    assert FirstStep((0, 2)).first(place, place.opened(FIVE)).tolist() == [5] * 3
    counts = place.product.counter(place.play(FIVE), place, os_source()).count(FIRST)
    assert counts.cells.tolist() == list(range(6))
    assert counts.values.tolist() == [5, 0] * 3
