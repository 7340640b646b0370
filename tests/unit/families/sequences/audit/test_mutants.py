"""A mutant is wrong in one thing; in everything else it is the real product."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.audit.mutant_curators import OccupiedCellsOnly, Peeping
from hushway.audit.product import BlindBudget, remade
from hushway.errors import AuditError, BudgetError
from hushway.families.registry import suite_of
from hushway.families.sequences.audit.looks import FirstStep
from hushway.families.sequences.audit.product import (
    NO_WALKS,
    REAL_SEQUENCES,
    SequenceProduct,
    SequenceTerms,
    TreeForm,
    TreeStage,
    Walk,
    Walks,
    toy_universe,
)
from hushway.families.sequences.audit.published import NextQuestions, enumerated
from hushway.families.sequences.audit.suite import (
    SUITE,
    EveryLaterPeriod,
    InTwoGroups,
    NoCap,
    NoNoiseOnMany,
    NosyTree,
    SameSeed,
    SensitivityOfOne,
    SpreadRecords,
    ThresholdFirst,
    unsplit_tree,
)
from hushway.privacy.bound import Bound
from hushway.privacy.loss import PureLoss
from hushway.privacy.query import Query
from hushway.privacy.randomness import os_source

FORM = TreeForm(
    words="tree", toy=toy_universe(corners=3, groups=2, places=2), height=1, threshold=3
)
FIRST = Query(name="first", cells=FORM.toy.universe.first_step())
# Noise for three records is 0 but for one draw in 10^14.
PLENTY = Fraction(200)
FIVE = tuple(Walk(stops=(0,), person=person) for person in range(5))


def stage(product: SequenceProduct, form: TreeForm = FORM) -> TreeStage:
    return TreeStage(product=product, form=form, spend=PureLoss(PLENTY), max_records=3)


def shown(product: SequenceProduct, scene: Walks) -> IntArray:
    place = stage(product)
    curator = place.opened(scene)
    return curator.counts_above(FIRST, 1, place.mechanism.spends[0]).reveal().values


def test_the_mistakes_are_all_planted() -> None:
    assert [mutant.name for mutant in SUITE.mutants] == [
        "sensitivity 1 instead of m",
        "no contribution limit",
        "candidates taken from the data",
        "threshold before noise",
        "the whole budget for every step",
        "a station in two groups",
        "a tree that stops where exact counts end",
        "a stop that counts in every later period",
        "records of one person that never share a candidate",
        "no noise where many people are",
        "the same noise at every step",
        "each file bounded by itself",
        "every new stop counts whole",
        "a record at each of its prefixes",
        "questions chosen by exact counts",
    ]


def test_only_the_bound_is_wrong_without_sensitivity() -> None:
    for product, most in ((REAL_SEQUENCES, 3), (SequenceProduct(counter=SensitivityOfOne), 1)):
        place = stage(product)
        curator = place.opened(NO_WALKS)
        assert curator.bound(FIRST) == Bound(cells=most, each=most, total=most)
        assert shown(product, (Walk(stops=(0,), times=9),)).tolist() == [3] * 3


def test_only_the_counts_are_wrong_without_a_cap() -> None:
    product = SequenceProduct(counter=NoCap)
    assert shown(product, (Walk(stops=(0,), times=9),)).tolist() == [9] * 3
    place = stage(product)
    assert place.opened(NO_WALKS).bound(FIRST).l1 == 3


def test_a_record_in_two_groups_is_counted_twice_in_the_first_step() -> None:
    assert shown(SequenceProduct(counter=InTwoGroups), FIVE).tolist() == [5] * 6
    assert shown(REAL_SEQUENCES, FIVE).tolist() == [5] * 3


def test_spread_records_have_the_sum_of_the_real_bound_and_smaller_squares() -> None:
    place = stage(SequenceProduct(counter=SpreadRecords))
    bound = place.opened(NO_WALKS).bound(FIRST)
    assert (bound.l1, bound.l2_squared) == (3, 3)


def test_a_stop_counts_in_every_later_period_only_where_times_are_kept() -> None:
    wrong = SequenceProduct(counter=EveryLaterPeriod)
    assert shown(wrong, FIVE).tolist() == shown(REAL_SEQUENCES, FIVE).tolist()
    timed = TreeForm(words="timed", toy=toy_universe(corners=2, periods=3), height=1)
    first = Query(name="first", cells=timed.toy.universe.first_step())
    rows = timed.toy.play((Walk(stops=(0,), periods=(1,)),))
    for product, expected in ((REAL_SEQUENCES, [2, 3]), (wrong, [2, 3, 4, 5])):
        counter = product.counter(rows, stage(product, timed).terms, os_source())
        assert counter.count(first).cells.tolist() == expected


def test_large_counts_have_no_noise_where_many_people_need_none() -> None:
    crowd = tuple(Walk(stops=(0,), person=person) for person in range(25))
    product = SequenceProduct(curator=NoNoiseOnMany)
    place = TreeStage(product=product, form=FORM, spend=PureLoss(Fraction(1, 30)), max_records=3)
    curator = place.opened(crowd)
    seen = curator.counts_above(FIRST, 1, place.mechanism.spends[0]).reveal()
    assert seen.values[np.isin(seen.cells, [0, 2, 4])].tolist() == [25] * 3


def test_every_step_has_the_same_noise_if_its_seed_is_the_same() -> None:
    def twice(product: SequenceProduct) -> list[list[int]]:
        place = TreeStage(product=product, form=FORM, spend=PureLoss(Fraction(1, 3)), max_records=3)
        curator = place.opened(FIVE)
        spend = place.mechanism.spends[0]
        answers = [curator.counts_above(FIRST, 1, spend).reveal() for _ in range(2)]
        return [answer.values.tolist() for answer in answers]

    one, other = twice(SequenceProduct(curator=SameSeed))
    assert one == other
    # Real noise of scale 18 is twice the same at all candidates once in a thousand times at most,
    # and in all of ten releases never.
    assert any(one != other for one, other in (twice(REAL_SEQUENCES) for _ in range(10)))


def test_small_exact_counts_get_no_noise_where_the_threshold_comes_first() -> None:
    place = stage(SequenceProduct(curator=ThresholdFirst))
    curator = place.opened(FIVE[:2])
    answer = curator.counts_above(FIRST, 3, place.mechanism.spends[0])
    # What was dropped is an empty candidate now; 0 is what it shows at a lower look.
    assert answer.reveal(1).values.tolist() == []
    assert shown(REAL_SEQUENCES, FIVE[:2]).tolist() == [2] * 3


def test_candidates_from_the_data_are_those_that_hold_records() -> None:
    # Noise of scale 60 lets nearly every other empty candidate of the real product show.
    little = Fraction(1, 30)

    def kept(product: SequenceProduct) -> int:
        place = TreeStage(product=product, form=FORM, spend=PureLoss(little))
        curator = place.opened(NO_WALKS)
        return len(curator.counts_above(FIRST, 1, place.mechanism.spends[0]).reveal().cells)

    assert sum(kept(SequenceProduct(curator=OccupiedCellsOnly)) for _ in range(20)) == 0
    # None of 120 that show with a chance near 1/2: less than once in 10^30 times.
    assert sum(kept(REAL_SEQUENCES) for _ in range(20)) > 0


def test_the_real_purse_stops_a_budget_that_was_not_split() -> None:
    universe = FORM.toy.universe
    unsplit = stage(SequenceProduct(mechanism=unsplit_tree))
    with pytest.raises(BudgetError):
        unsplit.mechanism.measure(unsplit.opened(FIVE), universe)
    blind = stage(
        SequenceProduct(mechanism=unsplit_tree, budget=lambda _unit, _spend: BlindBudget())
    )
    assert len(blind.mechanism.measure(blind.opened(FIVE), universe)) == 2


TWO_STOPS = TreeForm(words="tree", toy=toy_universe(corners=4), height=2)
STAYS = (Walk(stops=(0, 1)),)


def test_the_real_tree_asks_the_same_after_the_same_answers() -> None:
    place = stage(REAL_SEQUENCES, TWO_STOPS)
    look = NextQuestions(stage=place, others=NO_WALKS)
    assert look.differ(place.opened(STAYS)).tolist() == [0] * 4


def test_a_nosy_tree_asks_less_where_nobody_is() -> None:
    place = stage(SequenceProduct(curator=Peeping, mechanism=partial(remade, NosyTree)), TWO_STOPS)
    look = NextQuestions(stage=place, others=NO_WALKS)
    # Four candidates of the second stop, and the question itself.
    assert look.differ(place.opened(STAYS)).tolist() == [5] * 4


def test_a_nosy_tree_asks_more_where_somebody_is() -> None:
    place = stage(SequenceProduct(curator=Peeping, mechanism=partial(remade, NosyTree)), TWO_STOPS)
    look = NextQuestions(stage=place, others=STAYS)
    # One stop each: the tree that peeps ends after the first, the other goes on.
    assert look.differ(place.opened((Walk(stops=(0,)),))).tolist() == [5] * 4


def test_an_enumerated_product_names_every_candidate() -> None:
    place = stage(enumerated(REAL_SEQUENCES))
    look = FirstStep(stage=place, places=(0, 2))
    assert look.first(place.opened(FIVE)).tolist() == [5] * 3
    toy_rows = FORM.toy.play(FIVE)
    source = REAL_SEQUENCES.source()
    terms = SequenceTerms(universe=FORM.toy.universe, max_stops=1, max_records=3)
    counts = enumerated(REAL_SEQUENCES).counter(toy_rows, terms, source).count(FIRST)
    assert counts.cells.tolist() == list(range(6))
    assert counts.values.tolist() == [5, 0] * 3


def test_the_family_is_found_by_name() -> None:
    assert suite_of("sequences") is SUITE


@pytest.mark.long
def test_the_suite_reports_every_audit_and_every_mistake() -> None:
    quick = next(audit for audit in SUITE.audits if "first_step" in str(audit))
    suite = replace(SUITE, audits=(quick,), mutants=SUITE.mutants[3:4])
    told: list[str] = []
    findings = suite.audit(
        runs=70_000, epsilons=(2,), progress=lambda name, _done: told.append(name)
    )
    assert [(finding.epsilon, finding.passed) for finding in findings] == [(1, True)]
    assert told == ["first step: one record or none", "done"]
    (caught,) = suite.hunt(runs=70_000, epsilons=(2,))
    assert caught.caught


@pytest.mark.parametrize("suite", [SUITE.audit, SUITE.hunt])
def test_too_few_runs_are_refused(suite: object) -> None:
    with pytest.raises(AuditError, match="too few"):
        suite(runs=1000, epsilons=(1,))  # type: ignore[operator]
