from fractions import Fraction

import numpy as np
import pytest

from hushway.families.od.audit.cbdp import (
    features_differ,
    first_total,
    parity_of_half,
    two_looks,
)
from hushway.families.od.audit.fitted import (
    FLAT,
    LAZY,
    LEARNED,
    LEARNED_LAZILY,
    MEASUREMENTS,
    NESTED,
    PERIODS,
    SAME_HALF,
    SAME_PARITY,
    TREE,
    Evidence,
    around_first,
    both_features,
    changes,
    first_and_all,
    measured,
)
from hushway.families.od.audit.stage import Form, ODProduct, ODStage, Part, Scene, toy_universe
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, total
from hushway.privacy.query import PartitionQuery

FORMS = (FLAT, NESTED, LAZY, TREE, LEARNED, LEARNED_LAZILY)
TOY = toy_universe(places=3, periods=PERIODS)
# The least share of this epsilon makes noise that is 0 but for one draw in 10^26, so what is
# measured is exact.
PLENTY = PureLoss(Fraction(240))
A_DAY = (Part(), Part(person=1, period=SAME_HALF), Part(person=2, period=SAME_PARITY))


def stage(form: Form = FLAT) -> ODStage:
    return ODStage(product=ODProduct(), toy=TOY, spend=PLENTY, form=form)


def opened(scene: Scene) -> Curator:
    return stage().opened(scene)


def test_the_features_of_a_toy_universe_cross_and_stay_within_a_corner() -> None:
    half, parity = (
        TOY.by_corner(feature.of(np.arange(TOY.cells.size))) for feature in both_features(TOY.cells)
    )
    for element in (half, parity):
        assert len(np.unique(element)) == 2 * TOY.corners
        assert all(len(np.unique(element[:, corner])) == 2 for corner in range(TOY.corners))
    assert half[0, 0] == half[SAME_HALF, 0] != half[SAME_PARITY, 0]
    assert parity[0, 0] == parity[SAME_PARITY, 0] != parity[SAME_HALF, 0]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.words)
def test_a_form_spends_the_whole_budget_on_two_features_and_the_cells(form: Form) -> None:
    mechanism = form.make(TOY.cells, PLENTY)
    assert len(mechanism.spends) == MEASUREMENTS
    assert total(mechanism.spends) == PLENTY


@pytest.mark.parametrize("form", [FLAT, NESTED, LAZY, LEARNED], ids=lambda form: form.words)
def test_all_forms_but_the_tree_share_the_budget_evenly(form: Form) -> None:
    assert len(set(form.make(TOY.cells, PLENTY).spends)) == 1


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.words)
def test_a_feature_says_of_a_cell_what_its_element_holds(form: Form) -> None:
    (half, _), (second, _), (cells, _) = measured(stage(form), opened(A_DAY))
    assert half[:, 0].tolist() == [2, 2, 2, 2, 1, 1, 1, 1]
    nested = form in (NESTED, TREE)
    assert second[:, 0].tolist() == ([1, 1, 1, 1, 1, 0, 1, 0] if nested else [2, 1] * 4)
    assert cells[:, -1].tolist() == [1, 1, 0, 0, 1, 0, 0, 0]


def test_evidence_is_all_of_epsilon_where_every_count_is_as_with_the_trips() -> None:
    look = Evidence({0: 1})
    assert set(look(stage(), opened((Part(),))).tolist()) == {240_000}
    assert set(look(stage(), opened(())).tolist()) == {-240_000}


def test_evidence_adds_up_trips_that_share_an_element() -> None:
    # Three trips, and every measurement speaks for all of them.
    look = Evidence({0: 2, SAME_PARITY: 1})
    scene = (Part(), Part(person=1), Part(person=2, period=SAME_PARITY))
    assert set(look(stage(), opened(scene)).tolist()) == {720_000}


def test_the_first_cell_is_seen_in_every_measurement() -> None:
    assert set(first_total(stage(), opened(A_DAY)).tolist()) == {5}
    assert set(features_differ(stage(), opened(A_DAY)).tolist()) == {0}
    assert set(features_differ(stage(), opened(A_DAY[:2])).tolist()) == {1}
    assert set(parity_of_half(stage(), opened(A_DAY)).tolist()) == {0}
    assert set(parity_of_half(stage(), opened(A_DAY[:1])).tolist()) == {1}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.words)
def test_a_published_table_is_seen_corner_by_corner(form: Form) -> None:
    place = stage(form)
    assert set(around_first(place, opened(A_DAY)).tolist()) == {5}
    assert set(first_and_all(place, opened(A_DAY)).tolist()) == {1003}
    assert set(changes(place, opened(A_DAY)).tolist()) == {0}


def test_a_lazy_cell_shows_the_same_at_both_looks() -> None:
    five = tuple(Part(person=person) for person in range(5))
    assert set(two_looks(stage(LAZY), opened(five)).tolist()) == {5}
    assert set(two_looks(stage(LAZY), opened(five[:1])).tolist()) == {1}


def test_the_audited_mechanism_asks_for_partitions_of_the_toy_universe() -> None:
    measured = FLAT.make(TOY.cells, PLENTY).measure(opened(()), TOY.cells)
    assert [type(answer.query) for answer in measured[:2]] == [PartitionQuery] * 2
