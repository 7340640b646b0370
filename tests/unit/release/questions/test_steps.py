"""Sums over steps, and changes between them that are more than noise."""

import math

import numpy as np
import pytest

from hushway.errors import ReleaseError
from hushway.privacy.ledger.span import Span, Step
from hushway.release.questions.answers import Answer, interval
from hushway.release.questions.steps import Measured, added, changes, error_of_sum

MONTH = Span(step="month", steps=1)


def months(*names: str, error: float = 3.0) -> dict[str, Answer]:
    return {
        name: Answer(label="everything", **interval(100.25 + at, error))
        for at, name in enumerate(names)
    }


def test_months_add_up_to_quarters_and_years_exactly() -> None:
    answers = months("2025-11", "2025-12", "2026-01", "2026-02", "2026-03")
    for by in ("step", "month", "quarter", "year"):
        sums = [*added(answers, MONTH, by, independent=False)]
        assert math.fsum(one.value for one in sums) == math.fsum(
            one.value for one in answers.values()
        )
        assert [step for one in sums for step in one.steps] == [*answers]
    last, first = [*added(answers, MONTH, "quarter", independent=False)]
    assert (last.label, last.missing) == ("2025-Q4, 2 of 3 months", ("2025-10",))
    assert (first.label, first.missing) == ("2026-Q1", ())
    (_, year) = added(answers, MONTH, "year", independent=False)
    assert year.label == "2026, 3 of 12 months"
    assert year.missing[0] == "2026-04"


def test_errors_of_a_sum_hold_whatever_steps_share() -> None:
    answers = months("2026-01", "2026-02", "2026-03")
    (together,) = added(answers, MONTH, "quarter", independent=False)
    (alone,) = added(answers, MONTH, "quarter", independent=True)
    assert together.standard_error == 9
    assert alone.standard_error == pytest.approx(3 * math.sqrt(3), abs=1e-4)
    assert error_of_sum([3.0, 4.0], independent=True) == 5


@pytest.mark.parametrize(("step", "by"), [("week", "quarter"), ("month", "week"), ("month", "")])
def test_steps_that_do_not_add_up_are_refused(step: Step, by: str) -> None:
    span = Span(step=step, steps=1)
    with pytest.raises(ReleaseError):
        [*added({}, span, by, independent=False)]


def measured(values: np.ndarray, error: float) -> dict[str, Measured]:
    return {
        f"p{at}": Measured(label=f"Place {at}", value=float(value), error=error)
        for at, value in enumerate(values)
    }


def test_what_changed_is_found_and_little_else() -> None:
    rng = np.random.default_rng(39)
    found, false, held = 0, [], []
    truth = np.where(np.arange(200) < 20, 40.0, 0.0)
    for _ in range(300):
        one = measured(rng.normal(0, 5.0, 200), 5.0)
        other = measured(truth + rng.normal(0, 5.0, 200), 5.0)
        listed = [*changes({"a": one, "b": other}, [("a", "b")])]
        real = [int(change.label.split()[1]) < 20 for change in listed]
        found += sum(real)
        false.append(1 - np.mean(real) if listed else 0.0)
        held += [
            change.low <= truth[int(change.label.split()[1])] <= change.high for change in listed
        ]
        assert all(change.low > 0 or change.high < 0 for change in listed)
    assert found > 0.99 * 300 * 20
    assert np.mean(false) < 0.06
    assert np.mean(held) > 0.94


def test_nothing_is_found_in_noise_more_often_than_is_said() -> None:
    rng = np.random.default_rng(40)
    none = np.zeros(50)
    hits = [
        any(changes({"a": measured(none + rng.normal(0, 2, 50), 2.0),
                     "b": measured(none + rng.normal(0, 2, 50), 2.0)}, [("a", "b")]))
        for _ in range(1000)
    ]  # fmt: skip
    assert np.mean(hits) < 0.08


def test_the_surest_come_first_and_only_what_both_steps_list() -> None:
    earlier = measured(np.array([10.0, 20.0, 30.0]), 1.0)
    later = measured(np.array([60.0, 20.5, 10.0, 500.0]), 1.0)
    pairs = [("2026-01", "2026-02")]
    first, second = changes({"2026-01": earlier, "2026-02": later}, pairs)
    assert (first.label, first.value, first.earlier) == ("Place 0", 50, "2026-01")
    assert (second.label, second.value, second.later) == ("Place 2", -20, "2026-02")
    (top,) = changes({"2026-01": earlier, "2026-02": later}, pairs, top=1)
    # Fewer that were picked have wider intervals.
    assert top.high - top.low > first.high - first.low


def test_what_is_known_exactly_changes_or_does_not() -> None:
    one, other = measured(np.array([5.0, 5.0]), 0.0), measured(np.array([5.0, 6.0]), 0.0)
    (only,) = changes({"a": one, "b": other}, [("a", "b")])
    assert (only.label, only.low, only.high) == ("Place 1", 1, 1)
    assert [*changes({"a": {}, "b": {}}, [("a", "b")])] == []
