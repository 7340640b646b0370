"""What several releases of a site say as a series, and when they are none."""

from dataclasses import dataclass
from typing import Any

import pytest

from hushway.sites.steps import series_of


@dataclass
class Step:
    slug: str
    sums: dict[str, Any] | None


def step(month: str, last: str, count: float, **changes: Any) -> Step:
    sums = {
        "days": [f"{month}-01", f"{month}-{last}"],
        "alike": ["od", "person", "trips"],
        "counted": "trips",
        "noise_alone": False,
        "learnt": False,
        "whole": [count, 3.0],
        "labels": {"origins": {"a": ["A (a)", count / 2, 2.0]}},
    }
    return Step(slug=month, sums=sums | changes)


JANUARY, FEBRUARY = step("2026-01", "31", 100.0), step("2026-02", "28", 101.0)
APRIL = step("2026-04", "30", 300.0)


def test_steps_are_in_order_with_gaps_for_those_that_are_missing() -> None:
    found = series_of([APRIL, FEBRUARY, JANUARY])
    assert found is not None
    assert [one["slug"] for one in found["steps"]] == ["2026-01", "2026-02", None, "2026-04"]
    assert found["labels"]["origins"]["a"] == [[50, 2], [50.5, 2], None, [150, 2]]
    first, second, year = found["longer"]
    assert (first["label"], first["count"]) == ("2026-Q1, 2 of 3 months", 201)
    assert (second["count"], year["count"]) == (300, 501)
    # Errors are added up: 1.96 times 9.
    assert year["high"] == pytest.approx(501 + 1.96 * 9, abs=0.01)
    assert {(one["label"], one["later"]) for one in found["changes"]} == {
        ("all trips", "2026-04"),
        ("origins A (a)", "2026-04"),
    }


def test_changes_of_steps_that_learnt_from_each_other_have_errors_that_are_added_up() -> None:
    apart, learnt = (
        series_of([JANUARY, step("2026-02", "28", 300.0, learnt=learnt)])
        for learnt in (False, True)
    )
    assert apart is not None
    assert learnt is not None
    wide = [one["changes"][0]["high"] - one["changes"][0]["low"] for one in (apart, learnt)]
    assert wide[1] == pytest.approx(wide[0] * 2**0.5, rel=1e-3)


def test_where_only_sure_numbers_are_published_no_changes_are_told() -> None:
    found = series_of(
        [step("2026-01", "31", 100.0, labels={}), step("2026-02", "28", 900.0, labels={})]
    )
    assert found is not None
    assert (found["changes"], found["labels"]) == ([], {})
    assert len(found["steps"]) == 2


@pytest.mark.parametrize(
    "others",
    [
        [],
        [JANUARY],
        [Step(slug="other", sums=None)],
        [step("2026-02", "28", 1.0, alike=["density", "person", "trips"])],
        [step("2026-02", "27", 1.0)],
    ],
    ids=["one", "twice the same step", "no step", "another type", "no whole month"],
)
def test_other_releases_are_no_series(others: list[Step]) -> None:
    assert series_of([JANUARY, *others]) is None
