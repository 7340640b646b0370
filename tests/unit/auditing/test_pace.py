"""How long audits take is told by a few runs, on a clock that only the audited code moves."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from hushway.arrays import IntArray
from hushway.auditing import pace
from hushway.auditing.harness import Sampler, Trial, World
from hushway.auditing.law import DivergenceCheck
from hushway.auditing.pace import Pace, in_words, pace_of, paces_of


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.runs = 0

    def sampler(self, takes: Callable[[int], float]) -> Sampler:
        def sample(runs: int) -> IntArray:
            self.seconds += takes(runs)
            self.runs += runs
            return np.zeros(runs, dtype=np.int64)

        return sample

    def trial(self, takes: Callable[[int], float], effort: Fraction = Fraction(1)) -> Trial:
        world = World(words="it", sample=self.sampler(takes))
        return Trial(
            name="it", statistic="it", epsilon=Fraction(1), worlds=(world,) * 2, effort=effort
        )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(pace, "process_time", lambda: found.seconds)
    return found


@pytest.mark.parametrize(
    "takes",
    [
        lambda runs: 0.01 * runs,
        lambda runs: 1e-6 * runs,
        # Files are written first.
        lambda runs: 0.3 + 1e-5 * runs,
        # Five hundred corners share a release.
        lambda runs: 0.02 * -(-runs // 500),
    ],
)
def test_a_few_runs_tell_how_long_many_take(clock: Clock, takes: Callable[[int], float]) -> None:
    trial = clock.trial(takes)
    told = pace_of(trial, 100_000).seconds(100_000)
    assert told == pytest.approx(2 * takes(100_000), rel=0.2)


def test_slow_code_is_not_run_often_to_time_it(clock: Clock) -> None:
    pace_of(clock.trial(lambda runs: 0.1 * runs), 100_000)
    assert clock.runs < 40


def test_an_audit_of_little_effort_takes_less(clock: Clock) -> None:
    slow = clock.trial(lambda runs: 0.01 * runs, effort=Fraction(1, 20))
    assert pace_of(slow, 100_000).seconds(100_000) == pytest.approx(2 * 50, rel=0.05)
    # But never fewer runs than say something.
    assert pace_of(slow, 100_000).seconds(2_000) == pytest.approx(2 * 10, rel=0.05)


def test_on_a_busy_machine_everything_takes_longer(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "perf_counter", lambda: 3 * clock.seconds)
    trial = clock.trial(lambda runs: 0.01 * runs)
    told = paces_of([("it", trial)], 100_000)["it"].seconds(100_000)
    assert told == pytest.approx(3 * 2 * 1_000, rel=0.01)


def test_where_nothing_is_left_to_chance_there_is_nothing_to_time() -> None:
    exact = DivergenceCheck(
        name="it", epsilon=Fraction(1), statistic="it", rho=Fraction(1), release=dict
    )
    assert pace_of(exact, 100_000) == Pace(first=0, each=0, effort=Fraction(1))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "about a second"),
        (7.4, "about 7 seconds"),
        (44, "about 40 seconds"),
        (130, "about 2 minutes"),
        (1_520, "about 20 minutes"),
        (2_150, "about 40 minutes"),
    ],
)
def test_times_are_said_roughly(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
