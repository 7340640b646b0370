import pytest

from hushway.cli import price


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.0, "0"), (0.123, "0.12"), (9.96, "10"), (99.4, "99"), (99.7, "100"), (12345.6, "12,346")],
)
def test_errors_are_told_in_figures_that_people_read(amount: float, words: str) -> None:
    assert price._trips(amount) == words
