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


def test_a_problem_says_what_the_plan_says() -> None:
    assert problem("null_value", "refuse").refused
    assert not problem("null_value", "drop").refused
    assert problem("null_value", "drop").rule == "drop"
