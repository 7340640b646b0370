"""What the audits see, where noise is 0 but for one draw in 10^20."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hushway.families.sequences.audit.looks import (
    CornerTotal,
    FirstStep,
    PathEvidence,
    PublishedPath,
)
from hushway.families.sequences.audit.product import (
    NO_WALKS,
    REAL_SEQUENCES,
    TreeForm,
    TreeStage,
    Walk,
    Walks,
    toy_universe,
)
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss, total

PLENTY = Fraction(240)
FORM = TreeForm(words="tree", toy=toy_universe(corners=3, groups=2, places=2), height=2)
STAGE = TreeStage(product=REAL_SEQUENCES, form=FORM, spend=PureLoss(PLENTY))
WALKS = (Walk(stops=(0, 3)), Walk(stops=(0, 1), person=1), Walk(stops=(2,), person=2))


def opened(scene: Walks, stage: TreeStage = STAGE) -> Curator:
    return stage.opened(scene)


def test_the_budget_is_split_evenly_over_all_steps() -> None:
    assert len(set(STAGE.mechanism.spends)) == 1
    assert len(STAGE.mechanism.spends) == FORM.steps == 4
    assert total(STAGE.mechanism.spends) == PureLoss(PLENTY)


def test_a_tree_that_stops_early_is_charged_for_the_steps_it_took() -> None:
    curator = opened(NO_WALKS)
    assert len(STAGE.mechanism.measure(curator, FORM.toy.universe)) == 1
    assert [event.loss for event in curator.events] == list(STAGE.mechanism.spends[:1])


def test_every_step_shows_the_count_of_a_path() -> None:
    look = PathEvidence(stage=STAGE, path=(0, 3))
    sights = list(look.along(look.answers(opened(WALKS)), look.path))
    assert [sight.values.tolist() for sight in sights] == [[2] * 3, [2] * 3, [1] * 3, [1] * 3]


def test_a_path_is_not_followed_beyond_a_candidate_that_is_not_kept() -> None:
    look = PathEvidence(stage=STAGE, path=(1, 3))
    sights = list(look.along(look.answers(opened(WALKS)), look.path))
    assert [sight.values.tolist() for sight in sights] == [[2] * 3, [0] * 3, [], []]


def test_evidence_is_all_of_epsilon_where_every_step_is_as_with_the_record() -> None:
    look = PathEvidence(stage=STAGE, path=(0, 3))
    assert set(look.seen(opened((Walk(stops=(0, 3)),))).tolist()) == {240_000}


def test_evidence_of_a_candidate_that_is_not_kept_is_the_odds_of_missing_it() -> None:
    look = PathEvidence(stage=STAGE, path=(0, 3))
    ratio = math.exp(-60)
    missed = math.log(ratio / (1 + ratio)) - math.log1p(-ratio / (1 + ratio))
    assert set(look.seen(opened(NO_WALKS)).tolist()) == {round(1000 * missed)}


def test_evidence_of_several_records_is_measured_by_the_cap() -> None:
    stage = TreeStage(product=REAL_SEQUENCES, form=FORM, spend=PureLoss(3 * PLENTY), max_records=3)
    look = PathEvidence(stage=stage, path=(0, 3), records=3)
    seen = look.seen(opened((Walk(stops=(0, 3), times=10),), stage))
    assert set(seen.tolist()) == {720_000}


def test_the_first_step_is_seen_in_two_groups() -> None:
    look = FirstStep(stage=STAGE, places=(0, 2))
    assert set(look.first(opened(WALKS)).tolist()) == {2}
    assert set(look.smaller(opened(WALKS)).tolist()) == {1}
    assert set(look.packed(opened(WALKS)).tolist()) == {2 * 64 + 1}


def test_all_that_is_kept_at_a_corner_adds_up() -> None:
    # Three records at both steps of the first stop, two at both of the second.
    assert CornerTotal(stage=STAGE).seen(opened(WALKS)).tolist() == [10] * 3


def test_a_published_path_is_seen_with_its_counts() -> None:
    assert PublishedPath(stage=STAGE, path=(0, 3)).seen(opened(WALKS)).tolist() == [7] * 3
    assert PublishedPath(stage=STAGE, path=(0, 2)).seen(opened(WALKS)).tolist() == [0] * 3
    assert PublishedPath(stage=STAGE, path=(0, 3)).seen(opened(NO_WALKS)).tolist() == [0] * 3


def test_a_published_corner_is_seen_with_all_its_nodes() -> None:
    # Two groups and two places of the first stop; of the second, a group and a place for each.
    packed = PublishedPath(stage=STAGE, path=(0, 3)).packed(opened(WALKS))
    assert packed.tolist() == [8 * 64 + 7] * 3


@pytest.mark.parametrize("records", [1, 2, 50])
def test_the_counter_keeps_as_many_records_as_it_says(records: int) -> None:
    stage = TreeStage(product=REAL_SEQUENCES, form=FORM, spend=PureLoss(3 * PLENTY), max_records=2)
    scene = (Walk(stops=(0, 3), times=records),)
    shown = FirstStep(stage=stage, places=(0, 2)).first(opened(scene, stage))
    assert shown.tolist() == [min(records, 2)] * 3


def test_a_sampler_returns_as_many_runs_as_asked_for() -> None:
    sample = STAGE.sampler(WALKS, CornerTotal(stage=STAGE).seen)
    assert len(sample(7)) == 7
    assert sample(7).dtype == np.int64
