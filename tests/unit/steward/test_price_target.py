"""How good a figure is to be, in words, and which budget is enough for that."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PlanError
from hushway.families.load import load_plan, prepare
from hushway.release.job import Job
from hushway.steward import price_target as module
from hushway.steward.price_curve import FigureError
from hushway.steward.price_target import GRID, Target, figure_meant, smallest_epsilon, target_of
from support.scene import PLAN, Scene

FIGURES = ("one cell", "an origin's total", "all trips", "one of origins in one period")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("origins=5%", Target(figure="origins", share=0.05)),
        (" one cell = 2.5 % of 200 ", Target(figure="one cell", share=0.025, size=200)),
        ("one cell=.5", Target(figure="one cell", amount=0.5)),
    ],
)
def test_targets_are_read(text: str, target: Target) -> None:
    assert target_of(text) == target


@pytest.mark.parametrize("text", ["", "origins", "=5%", "origins=0", "a=-1", "a=5 of 200", "a=5%%"])
def test_what_is_no_target_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="does not say how far off"):
        target_of(text)


def test_a_figure_is_meant_by_its_name_or_by_a_part_that_no_other_has() -> None:
    # Beginnings come before parts: "origins" is also a part of the last figure.
    assert figure_meant("origins", FIGURES) == "an origin's total"
    assert figure_meant("all trips", FIGURES) == "all trips"
    assert figure_meant("period", FIGURES) == "one of origins in one period"
    with pytest.raises(PlanError, match="several figures"):
        figure_meant("one", FIGURES)
    with pytest.raises(PlanError, match="none of the figures"):
        figure_meant("bridges", FIGURES)


def test_the_grid_has_every_number_of_two_digits_in_order() -> None:
    assert list(GRID) == sorted(set(GRID))
    assert (min(GRID), max(GRID), len(GRID)) == (Fraction(1, 100), 99, 360)
    assert {Fraction(25, 1000), Fraction("0.62"), Fraction("9.9")} <= set(GRID)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    scene = Scene.prepared(tmp_path / "scene", "links")
    return prepare(load_plan(scene.folder / PLAN))


@pytest.mark.parametrize("error_of_one", [0.0123, 0.5, 3.14159, 80.0])
def test_the_smallest_budget_of_two_digits_is_found(
    job: Job, monkeypatch: pytest.MonkeyPatch, error_of_one: float
) -> None:
    def errors(_job: Any, epsilon: Fraction, _crowd: Any) -> Any:
        off = error_of_one / float(epsilon)
        return (FigureError(figure="all", error=off, size=None),), ()

    monkeypatch.setattr(module, "errors_at", errors)
    found = smallest_epsilon(job, Target(figure="all", amount=1.0))
    assert found.epsilon == next(one for one in GRID if float(one) >= error_of_one)
    assert found.found.error <= 1
    with pytest.raises(PlanError, match="No epsilon up to 99"):
        smallest_epsilon(job, Target(figure="all", amount=error_of_one / 1000))


def test_a_share_needs_a_size(job: Job) -> None:
    with pytest.raises(PlanError, match="Nothing is known about the size"):
        smallest_epsilon(job, target_of("travellers of a class and zone=5%"))
