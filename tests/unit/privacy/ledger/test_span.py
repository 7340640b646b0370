"""Rolling limits: steps of the calendar, and what the fullest span holds."""

from datetime import date, timedelta
from fractions import Fraction
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.ledger.span import Charged, Span, Step
from hushway.release.job import window_of_days

STEPS = get_args(Step)
DAYS = st.dates(date(2024, 1, 1), date(2027, 12, 31))
SPANS = st.builds(Span, step=st.sampled_from(STEPS), steps=st.integers(1, 14))


@st.composite
def charges(draw: st.DrawFn) -> Charged:
    first, length = draw(DAYS), draw(st.integers(0, 40))
    window = window_of_days(first, first + timedelta(days=length), "Europe/Paris")
    return window, Fraction(draw(st.integers(1, 9)), draw(st.integers(1, 9)))


@pytest.mark.parametrize(
    ("step", "name", "first", "last"),
    [
        ("day", "2026-04-30", date(2026, 4, 30), date(2026, 4, 30)),
        ("week", "2026-W01", date(2025, 12, 29), date(2026, 1, 4)),
        ("month", "2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("quarter", "2026-Q4", date(2026, 10, 1), date(2026, 12, 31)),
    ],
)
def test_a_step_is_named_as_people_name_it(step: Step, name: str, first: date, last: date) -> None:
    assert Span(step=step, steps=1).days(name) == (first, last)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", ["", "2026", "2026-13", "2026-W60", "2026-Q5", "2026-2", "next"])
def test_what_is_no_step_is_refused_with_an_example(step: Step, name: str) -> None:
    with pytest.raises(BudgetError, match="There is no") as caught:
        Span(step=step, steps=1).days(name)
    assert "Name the step as 2026-" in caught.value.advice


@given(SPANS, DAYS)
def test_steps_are_numbered_without_gaps(span: Span, day: date) -> None:
    assert span.number(day + timedelta(days=1)) - span.number(day) in (0, 1)


@given(SPANS, DAYS, st.integers(0, 40))
def test_names_are_those_of_the_days(span: Span, day: date, more: int) -> None:
    first, last = span.days(span.name(day))
    assert first <= day <= last
    names = [*span.names(day, day + timedelta(days=more))]
    assert len(names) == span.number(day + timedelta(days=more)) - span.number(day) + 1
    assert [span.name(span.days(name)[0]) for name in names] == names


@given(SPANS)
def test_a_span_is_read_back_as_it_was_written(span: Span) -> None:
    assert Span.from_text(span.to_text()) == span


@pytest.mark.parametrize("text", ["", "12", "0 month", "12 year", "12 month ", "1e3 day"])
def test_a_span_that_was_edited_is_refused(text: str) -> None:
    with pytest.raises(LedgerError, match="cannot be read"):
        Span.from_text(text)


@pytest.mark.parametrize("steps", [0, -1, 10_000])
def test_a_span_has_some_steps(steps: int) -> None:
    with pytest.raises(BudgetError, match="A span has"):
        Span(step="month", steps=steps)


@given(SPANS, st.lists(charges(), max_size=8), charges())
def test_the_fullest_span_is_that_of_counting_one_by_one(
    span: Span, charged: list[Charged], another: Charged
) -> None:
    window, _ = another
    touched = [
        (span.number(days.first_day), span.number(days.last_day), amount)
        for days, amount in charged
    ]

    def held(start: int) -> Fraction:
        return sum(
            (a for first, last, a in touched if first < start + span.steps and last >= start),
            Fraction(0),
        )

    low, high = span.number(window.first_day), span.number(window.last_day)
    near = range(low - span.steps + 1, high + 1)
    assert span.fullest(charged, window) == max(map(held, near))
    every = (
        start for first, last, _ in touched for start in range(first - span.steps + 1, last + 1)
    )
    assert span.fullest(charged) == max(map(held, every), default=Fraction(0))
