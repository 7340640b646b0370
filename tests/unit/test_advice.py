"""What is recommended from guesses alone."""

import math

import pytest

from hushway.progress import quiet
from hushway.release.forecast.advice import (
    activity,
    best_limits,
    enough_for_crowd,
    left_out,
    limits_up_to,
    smallest_within,
)
from hushway.release.forecast.crowd import CrowdForecast, ExpectedError, ExpectedPopulation


def test_limits_go_as_far_as_the_guess_does() -> None:
    assert list(limits_up_to(1)) == [1]
    assert list(limits_up_to(100)) == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128]


def test_trying_ends_when_limits_have_been_getting_worse() -> None:
    scores = best_limits(limits_up_to(1000), lambda limit: abs(limit - 4), progress=quiet)
    assert list(scores) == [1, 2, 3, 4, 6, 8, 12]
    never = best_limits(limits_up_to(8), lambda _limit: math.inf, progress=quiet)
    assert list(never) == [1, 2, 3, 4, 6, 8]


def test_a_guessed_crowd_has_what_was_guessed_and_a_long_tail() -> None:
    busy = activity(ExpectedPopulation(trips=5000, people=1000))
    assert sum(busy) / len(busy) == pytest.approx(5)
    assert min(busy) >= 1
    assert max(busy) > 20
    assert left_out(busy, 1) == pytest.approx(0.8)
    assert left_out(busy, 2) > left_out(busy, 8) > 0
    assert left_out(busy, 100) == 0
    # Without a guess of people a limit leaves nothing out that nobody guessed.
    assert left_out(activity(ExpectedPopulation(trips=5000)), 1) == 0


def test_what_is_left_out_makes_larger_figures_necessary() -> None:
    assert smallest_within(10, 0) == pytest.approx(100)
    assert smallest_within(10, 0.05) == pytest.approx(200)
    assert smallest_within(10, 0.1) == math.inf


def forecast(error: ExpectedError, lost: float) -> str:
    crowd = ExpectedPopulation(trips=1000, people=100)
    expected = CrowdForecast(crowd=crowd, errors=(error,), left_out=lost, notes=())
    (sentence,) = enough_for_crowd(expected, "trips")
    return sentence


def test_the_question_is_answered_with_numbers() -> None:
    good = forecast(ExpectedError(figure="an origin's total", size=400, error=10), 0.0)
    assert good == (
        "an origin's total: enough. It is about 400 trips and off by 2.5% on average; within 10%, "
        "those of at least 100 trips are."
    )
    poor = forecast(ExpectedError(figure="one cell", size=4, error=4.01), 0.0)
    assert "NOT ENOUGH" in poor
    # Rounded up: 40.1 trips are needed, and 40 would not do.
    assert "those of at least 41 trips are" in poor
    lost = forecast(ExpectedError(figure="all", size=100, error=30), 0.2)
    assert "no size is, with this contribution limit" in lost
    # An error far below what is left out is that of a release that puts it back.
    put_back = forecast(ExpectedError(figure="all", size=100, error=3), 0.2)
    assert "those of at least 30 trips are" in put_back
