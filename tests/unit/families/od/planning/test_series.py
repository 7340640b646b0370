import pytest

from hushway.families.od.planning.series import _error, _Off


@pytest.mark.parametrize(
    ("six", "year"),
    [(6**0.5, 12**0.5), (6.0, 12.0), (1.0, 12**0.5), (21**0.5, 78**0.5)],
    ids=["independent", "in common", "less than chance", "both"],
)
def test_a_sum_over_more_steps_follows_from_one_and_all_that_were_tried(
    six: float, year: float
) -> None:
    tried = {steps: {"it": _Off(error=error, size=1.0)} for steps, error in ((1, 1.0), (6, six))}
    assert _error(tried, "it", 6) == six
    assert _error(tried, "it", 12) == pytest.approx(year)
