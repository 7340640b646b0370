import pytest

from hushway.errors import DataError
from hushway.tables.check import Problem, Severity, refuse_problems


def problem(kind: str, severity: Severity) -> Problem:
    return Problem(kind=kind, message="M.", count=4711, advice="A.", severity=severity)


def test_only_what_the_plan_refuses_stops_it() -> None:
    refuse_problems([])
    refuse_problems([problem("intrazonal", "drop"), problem("duplicate_rows", "note")])


def test_a_refusal_names_the_kinds_and_no_number_of_rows() -> None:
    found = [problem("intrazonal", "drop"), problem("null_value", "refuse")]
    with pytest.raises(DataError, match="null value") as caught:
        refuse_problems(found)
    assert "4711" not in f"{caught.value}{caught.value.advice}"
    assert "same place" not in str(caught.value)
    assert "[problems] drop them" in str(caught.value.advice)


@pytest.mark.parametrize("kind", ["nothing_to_count", "too_many_dropped"])
def test_nobody_is_told_to_drop_more_where_too_few_rows_are_left(kind: str) -> None:
    with pytest.raises(DataError, match="cannot be used") as caught:
        refuse_problems([problem(kind, "refuse"), problem("null_value", "refuse")])
    assert str(caught.value.advice).endswith("then correct plan or rows.")


def test_a_problem_says_what_the_plan_says() -> None:
    assert problem("null_value", "refuse").refused
    assert not problem("null_value", "drop").refused
    assert problem("null_value", "drop").rule == "drop"
