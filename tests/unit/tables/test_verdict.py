"""What is refused, warned of and suggested, from numbers alone."""

from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from hushway.tables.check import Policy, Problem, RowsChecked, verdicts
from hushway.tables.profile import RowsFound, Sizes, TimesFound


def rules(found: RowsFound, **policy: Fraction) -> dict[str, str]:
    return {problem.kind: problem.rule for problem in verdicts(found, Policy(**policy))}


@pytest.mark.parametrize(
    ("kept", "rule"),
    [
        (100, {}),
        (95, {}),
        (94, {"many_dropped": "warn"}),
        (50, {"many_dropped": "warn"}),
        (49, {"too_many_dropped": "refuse"}),
        (0, {"nothing_to_count": "refuse"}),
    ],
)
def test_beyond_a_twentieth_is_a_warning_and_beyond_half_a_refusal(
    kept: int, rule: dict[str, str]
) -> None:
    assert rules(RowsFound(read=100, kept=kept)) == rule


@pytest.mark.parametrize(
    ("most", "kept", "rule"),
    [
        ("0", 100, {}),
        ("0", 99, {"too_many_dropped": "refuse"}),
        ("9/10", 10, {"many_dropped": "warn"}),
        ("9/10", 9, {"too_many_dropped": "refuse"}),
        ("9/10", 0, {"nothing_to_count": "refuse"}),
        ("1", 0, {"nothing_to_count": "warn"}),
    ],
)
def test_the_plan_may_say_another_share(most: str, kept: int, rule: dict[str, str]) -> None:
    assert rules(RowsFound(read=100, kept=kept), most_dropped=Fraction(most)) == rule


def test_positions_look_swapped_if_most_dropped_rows_fit_the_other_way_round() -> None:
    assert "swapped_position" in rules(RowsFound(read=100, kept=90, swapped=6))
    assert "swapped_position" not in rules(RowsFound(read=100, kept=90, swapped=5))
    assert "swapped_position" not in rules(RowsFound(read=100, kept=100))


def test_public_places_that_are_swapped_are_told_in_one_finding() -> None:
    swapped = RowsFound(read=100, kept=0, swapped=100, places_swapped=True)
    assert "swapped_places" in rules(swapped)
    assert "swapped_position" not in rules(swapped)
    # Without a row that would lie in them, nobody knows.
    assert "swapped_places" not in rules(RowsFound(read=100, kept=90, places_swapped=True))


def times(first: date, last: date) -> TimesFound:
    return TimesFound(
        first_day=first,
        last_day=last,
        window=(date(2026, 3, 2), date(2026, 3, 3)),
        days_with_rows=0,
        window_days=2,
        hours=(1,) * 24,
        service=(0, 1440),
    )


def test_another_window_is_suggested_with_the_dates_and_taken_up_by_nobody() -> None:
    late = times(date(2025, 3, 2), date(2025, 3, 3))
    found = verdicts(RowsFound(read=10, kept=0, times=late), Policy())
    (window,) = [problem for problem in found if problem.kind == "another_window"]
    assert "from 2025-03-02 to 2025-03-03" in window.message
    assert "from 2026-03-02 to 2026-03-03" in window.message
    assert 'parameters_chosen = "with these rows"' in window.advice
    # What is refused comes first.
    assert [problem.refused for problem in found] == [True, False]


def test_a_window_is_not_questioned_if_the_rows_lie_in_it_or_few_lie_outside() -> None:
    inside = times(date(2026, 3, 2), date(2026, 3, 3))
    assert "another_window" not in rules(RowsFound(read=10, kept=0, times=inside))
    early = times(date(2026, 2, 28), date(2026, 3, 3))
    assert "another_window" not in rules(RowsFound(read=100, kept=95, times=early))


def test_a_contribution_limit_is_suggested_where_much_is_left_out() -> None:
    of_people = Sizes.of({"size": np.array([1, 10]), "owners": np.array([90, 1])})
    found = RowsFound(read=100, kept=100, limits=(of_people.limited("max_trips", "trips", 1),))
    (limit,) = verdicts(found, Policy())
    assert limit.kind == "limit_max_trips"
    assert "leaves out 9.0% of the trips. A limit of 5 would keep 95%." in limit.message
    assert 'parameters_chosen = "with these rows"' in limit.advice
    assert limit.severity == "note"
    wide = RowsFound(read=100, kept=100, limits=(of_people.limited("max_trips", "trips", 6),))
    assert verdicts(wide, Policy()) == []


def test_ids_with_implausibly_many_rows_are_counted_and_not_named() -> None:
    of_people = Sizes.of({"size": np.array([1, 500]), "owners": np.array([90, 2])})
    found = RowsFound(read=1090, kept=1090, people=of_people.people(200))
    (ids,) = verdicts(found, Policy())
    assert (ids.kind, ids.severity, ids.count) == ("implausible_ids", "warn", 1000)
    assert "more than 200 each: 2." in ids.message


def test_all_that_was_said_has_refusals_first() -> None:
    def problem(kind: str, *, refused: bool) -> Problem:
        rule = "refuse" if refused else "drop"
        return Problem(kind=kind, message="M.", count=1, advice="A.", severity=rule)

    checked = RowsChecked(
        problems=(
            problem("null_value", refused=True),
            problem("include_intrazonal", refused=False),
        ),
        verdicts=(problem("many_dropped", refused=False),),
    )
    said = [each.kind for each in checked.everything]
    assert said == ["null_value", "many_dropped", "include_intrazonal"]
