"""Sums over steps, and changes between them that are more than noise."""

import math

import numpy as np
import pytest

from hushway.errors import ReleaseError
from hushway.families.series import pair_of
from hushway.privacy.ledger.span import Span, Step
from hushway.release.questions.answers import Answer, interval, total
from hushway.release.questions.cells import AskedCells, Dimension, correlated
from hushway.release.questions.steps import Change, Measured, Pair, added, changes, error_of_sum

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


def between(
    before: dict[str, Measured],
    after: dict[str, Measured],
    top: int | None = None,
    *,
    learnt: bool = False,
) -> list[Change]:
    pair = Pair(earlier="2026-01", later="2026-02", before=before, after=after, learnt=learnt)
    return [*changes([pair], top=top)]


def test_what_changed_is_found_and_little_else() -> None:
    rng = np.random.default_rng(39)
    found, false, held = 0, [], []
    truth = np.where(np.arange(200) < 20, 40.0, 0.0)
    for _ in range(300):
        one = measured(rng.normal(0, 5.0, 200), 5.0)
        other = measured(truth + rng.normal(0, 5.0, 200), 5.0)
        listed = between(one, other)
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
    noisy = [measured(none + rng.normal(0, 2, 50), 2.0) for _ in range(2000)]
    hits = [bool(between(*two)) for two in zip(noisy[::2], noisy[1::2], strict=True)]
    assert np.mean(hits) < 0.08


def test_the_surest_come_first_and_only_what_both_steps_list() -> None:
    earlier = measured(np.array([10.0, 20.0, 30.0]), 1.0)
    later = measured(np.array([60.0, 20.5, 10.0, 500.0]), 1.0)
    first, second = between(earlier, later)
    assert (first.label, first.value, first.earlier) == ("Place 0", 50, "2026-01")
    assert (second.label, second.value, second.later) == ("Place 2", -20, "2026-02")
    (top,) = between(earlier, later, top=1)
    # Fewer that were picked have wider intervals.
    assert top.high - top.low > first.high - first.low


def test_errors_of_steps_that_learnt_from_each_other_are_added_up() -> None:
    one, other = measured(np.array([10.0]), 3.0), measured(np.array([100.0]), 4.0)
    assert [change.standard_error for change in between(one, other)] == [5]
    assert [change.standard_error for change in between(one, other, learnt=True)] == [7]


def test_what_a_step_publishes_nothing_of_is_not_compared() -> None:
    one, other = measured(np.array([0.0, 5.0]), 0.0), measured(np.array([50.0, 60.0]), 1.0)
    assert between(one, other) == []
    assert between({}, other) == []


def test_sums_of_sure_numbers_are_compared_by_what_both_releases_publish() -> None:
    def cells(ids: list[str], counts: list[float]) -> AskedCells:
        return AskedCells(
            counted="records",
            dimensions={"stops": Dimension(ids=ids, position=np.arange(len(ids)))},
            counts=np.array(counts),
            variances=correlated(np.ones(len(ids))),
            selected=True,
        )

    one, other = cells(["a", "b"], [10.0, 20.0]), cells(["c", "b"], [500.0, 21.0])
    for release, value in ((one.shared_with(other), 20.0), (other.shared_with(one), 21.0)):
        found = total(release, {})
        assert (found.value, found.standard_error) == (value, 1.0)


def test_what_is_left_over_is_something_else_in_every_release() -> None:
    rest = Dimension(ids=["a", "others"], position=np.arange(2), rest=["others"])
    cells = AskedCells(
        counted="travellers",
        dimensions={"links": rest},
        counts=np.array([5.0, 50.0]),
        variances=correlated(np.ones(2)),
    )
    pair = pair_of("2026-01", "2026-02", {"2026-01": cells, "2026-02": cells}, {}, "links")
    assert [before.label for before, _ in pair.both] == ["a"]
