"""What the audits see, where noise is 0 but for one draw in 10^20."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hushway.auditing.product import Product
from hushway.families.sequences.audit.stage import (
    SequenceStage,
    TreeForm,
    Walk,
    Walks,
    toy_universe,
)
from hushway.families.sequences.audit.tree_looks import (
    FirstStep,
    PathEvidence,
    PublishedPath,
    Sight,
    along,
    answers,
    corner_total,
    evidence_of,
)
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent
from hushway.privacy.loss import PureLoss, total

PLENTY = Fraction(240)
FORM = TreeForm(words="tree", toy=toy_universe(corners=3, groups=2, places=2), height=2)
STAGE = SequenceStage(product=Product(), form=FORM, spend=PureLoss(PLENTY))
WALKS = (Walk(stops=(0, 3)), Walk(stops=(0, 1), person=1), Walk(stops=(2,), person=2))


def opened(scene: Walks, stage: SequenceStage = STAGE) -> Curator:
    return stage.opened(scene)


def sights_along(*path: int) -> list[Sight]:
    return list(along(STAGE, answers(STAGE, opened(WALKS)), path))


def test_the_budget_is_split_evenly_over_all_steps() -> None:
    assert len(set(STAGE.mechanism.spends)) == 1
    assert len(STAGE.mechanism.spends) == FORM.steps == 4
    assert total(STAGE.mechanism.spends) == PureLoss(PLENTY)


def test_a_tree_that_stops_early_is_charged_for_the_steps_it_took() -> None:
    curator = opened(())
    assert len(STAGE.mechanism.measure(curator, STAGE.universe)) == 1
    assert [event.loss for event in curator.events] == list(STAGE.mechanism.spends[:1])


def test_every_step_shows_the_count_of_a_path() -> None:
    sights = sights_along(0, 3)
    assert [sight.values.tolist() for sight in sights] == [[2] * 3, [2] * 3, [1] * 3, [1] * 3]


def test_a_path_is_not_followed_beyond_a_candidate_that_is_not_kept() -> None:
    sights = sights_along(1, 3)
    assert [sight.values.tolist() for sight in sights] == [[2] * 3, [0] * 3, [], []]


def test_evidence_is_all_of_epsilon_where_every_step_is_as_with_the_record() -> None:
    look = PathEvidence((0, 3))
    assert set(look(STAGE, opened((Walk(stops=(0, 3)),))).tolist()) == {240_000}


def test_evidence_of_a_candidate_that_is_not_kept_is_the_odds_of_missing_it() -> None:
    look = PathEvidence((0, 3))
    ratio = math.exp(-60)
    missed = math.log(ratio / (1 + ratio)) - math.log1p(-ratio / (1 + ratio))
    assert set(look(STAGE, opened(())).tolist()) == {round(1000 * missed)}


def test_evidence_of_several_records_is_measured_by_the_cap() -> None:
    stage = SequenceStage(product=Product(), form=FORM, spend=PureLoss(3 * PLENTY), max_records=3)
    look = PathEvidence((0, 3), records=3)
    seen = look(stage, opened((Walk(stops=(0, 3), times=10),), stage))
    assert set(seen.tolist()) == {720_000}


def test_the_first_step_is_seen_in_two_groups() -> None:
    look = FirstStep((0, 2))
    assert set(look.first(STAGE, opened(WALKS)).tolist()) == {2}
    assert set(look.smaller(STAGE, opened(WALKS)).tolist()) == {1}
    assert set(look.packed(STAGE, opened(WALKS)).tolist()) == {2 * 64 + 1}


def test_all_that_is_kept_at_a_corner_adds_up() -> None:
    # Three records at both steps of the first stop, two at both of the second.
    assert corner_total(STAGE, opened(WALKS)).tolist() == [10] * 3


def test_a_published_path_is_seen_with_its_counts() -> None:
    assert PublishedPath((0, 3))(STAGE, opened(WALKS)).tolist() == [7] * 3
    assert PublishedPath((0, 2))(STAGE, opened(WALKS)).tolist() == [0] * 3
    assert PublishedPath((0, 3))(STAGE, opened(())).tolist() == [0] * 3


def test_a_published_corner_is_seen_with_all_its_nodes() -> None:
    # Two groups and two places of the first stop; of the second, a group and a place for each.
    packed = PublishedPath((0, 3)).packed(STAGE, opened(WALKS))
    assert packed.tolist() == [8 * 64 + 7] * 3


@pytest.mark.parametrize("records", [1, 2, 50])
def test_the_counter_keeps_as_many_records_as_it_says(records: int) -> None:
    stage = SequenceStage(product=Product(), form=FORM, spend=PureLoss(3 * PLENTY), max_records=2)
    scene = (Walk(stops=(0, 3), times=records),)
    shown = FirstStep((0, 2)).first(stage, opened(scene, stage))
    assert shown.tolist() == [min(records, 2)] * 3


def test_a_sampler_returns_as_many_runs_as_asked_for() -> None:
    sample = STAGE.sampler(WALKS, corner_total)
    assert len(sample(7)) == 7
    assert sample(7).dtype == np.int64


BOUND = Bound(cells=1, each=1, total=1)
EVENTS: dict[str, tuple[Event, np.ndarray]] = {}
_VALUES = np.arange(-80, 81)
_LAPLACE = np.exp(-np.abs(_VALUES) / 2)
_GAUSSIAN = np.exp(-(_VALUES**2) / 8)
EVENTS["laplace"] = (
    LaplaceEvent(query="q", cells=1, bound=BOUND, scale=Fraction(2)),
    _LAPLACE / _LAPLACE.sum(),
)
EVENTS["gaussian"] = (
    GaussianEvent(query="q", cells=1, bound=BOUND, sigma_squared=Fraction(4)),
    _GAUSSIAN / _GAUSSIAN.sum(),
)


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("noise", EVENTS)
def test_a_count_speaks_by_how_likely_the_noise_is(noise: str, records: int) -> None:
    event, law = EVENTS[noise]
    zero = int(np.flatnonzero(_VALUES == 0)[0])
    shown = np.array([2, 5, 9])
    expected = [math.log(law[zero + v - records] / law[zero + v]) for v in shown.tolist()]
    assert evidence_of(shown, 2, event, records) == pytest.approx(expected)


@pytest.mark.parametrize("noise", EVENTS)
def test_a_candidate_that_is_missing_speaks_by_the_odds_of_missing_it(noise: str) -> None:
    event, law = EVENTS[noise]
    below = [float(law[least > _VALUES].sum()) for least in (2 - 3, 2)]
    expected = math.log(below[0] / below[1])
    assert evidence_of(np.array([0]), 2, event, 3) == pytest.approx([expected])
