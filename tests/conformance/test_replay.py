"""Given the same noisy answers, other rows make the same release, to the last byte.

That is what a guarantee about noisy answers needs to be one about releases: nothing but these
answers, public files and the plan is in a folder. Every family and every mechanism goes through.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.families.registry import FAMILIES
from hushway.privacy.curator import Curator
from support.little_plans import FAMILIES as WITH_LITTLE_PLANS
from support.little_plans import little_plan
from support.replay.curators import VERBS, AskedOtherwiseError, Player, Tape
from support.replay.mistakes import MISTAKES, Mistake
from support.replay.publishing import Files, replayed
from support.replay.variants import (
    Variant,
    changed_variants,
    models_of,
    other_plans,
    usual_variants,
    values_of,
)

_USUAL, _CHANGED, _OTHERS = usual_variants(), changed_variants(), other_plans()


def differing(one: Files, other: Files) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def check_replay(plan: dict[str, Any], folder: Path) -> None:
    (one, first), (other, second) = replayed(plan, folder)
    assert differing(one, other) == []
    assert first.questions == second.questions
    assert first.looks == second.looks
    # If the rows were answered alike, the same release would show nothing.
    assert any(not alike(*answers) for answers in zip(first.answers, second.answers, strict=True))


def alike(one: Any, other: Any) -> bool:
    if hasattr(one, "values"):
        return bool(np.array_equal(one.values, other.values))
    shown = [answer.reveal(5) for answer in (one, other)]
    return bool(
        np.array_equal(shown[0].cells, shown[1].cells)
        and np.array_equal(shown[0].values, shown[1].values)
    )


@pytest.mark.parametrize("variant", _USUAL, ids=str)
def test_every_mechanism_publishes_answers_alone_to_the_picture(
    variant: Variant, tmp_path: Path
) -> None:
    check_replay(variant.plan, tmp_path)


@pytest.mark.one_in(15)
@pytest.mark.parametrize("variant", _CHANGED, ids=str)
def test_so_it_does_whatever_its_options_are(variant: Variant, tmp_path: Path) -> None:
    check_replay(variant.plan, tmp_path)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", _OTHERS)
def test_so_it_does_with_other_units_places_and_records(name: str, tmp_path: Path) -> None:
    check_replay(_OTHERS[name], tmp_path)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_planted_mistakes_show(
    mistake: Mistake, family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one, _), (other, _) = replayed(little_plan(family), tmp_path, mistake(monkeypatch))
    assert differing(one, other)


def test_a_question_that_follows_from_rows_shows() -> None:
    player = Player(Tape(questions=["one"], answers=[1]), Tape(), counter=0, budget=0, source=0)
    assert player.handed_out("one", 2) == 1
    with pytest.raises(AskedOtherwiseError):
        player.handed_out("another", 2)


def test_every_way_to_ask_a_curator_is_replayed() -> None:
    public = {name for name in vars(Curator) if not name.startswith("_")}
    assert public - {"bound", "events", "kept_answers"} == set(VERBS)


def test_every_family_has_rows_to_be_replayed_with() -> None:
    assert set(WITH_LITTLE_PLANS) == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_option_of_every_mechanism_is_replayed(family: str) -> None:
    for model in models_of(family):
        tried = [(one.option, one.value) for one in _CHANGED if one.model is model]
        assert all(option in tried for option in values_of(family, model))
