"""Sums of published numbers, with intervals that hold."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from hushway.arrays import FloatArray, IntArray
from hushway.errors import ReleaseError
from hushway.release.questions.answers import Answer, difference, largest, ratio, total
from hushway.release.questions.cells import AskedCells, Dimension, Variances, correlated

PLACES, HOURS = 6, 4
PLACE, HOUR = np.divmod(np.arange(PLACES * HOURS), HOURS)
ERRORS = np.linspace(1.0, 3.0, PLACES * HOURS)


def asked(counts: FloatArray | Sequence[float], variances: Variances | None = None) -> AskedCells:
    return AskedCells(
        counted="visits",
        dimensions={
            "places": Dimension(
                ids=[f"p{i}" for i in range(PLACES)],
                position=PLACE,
                names=([f"Place {i}" for i in range(PLACES)], ["north", "south"] * 3),
            ),
            "periods": Dimension(ids=[f"{h:02}:00" for h in range(HOURS)], position=HOUR),
        },
        counts=np.asarray(counts, dtype=np.float64),
        variances=variances or correlated(ERRORS),
    )


def test_a_sum_is_of_what_is_asked_for_by_id_name_zone_or_pattern() -> None:
    cells = asked(np.arange(24.0) + 100)
    expected = cells.counts[(PLACE == 1) & (HOUR >= 2)].sum()
    for place in ("p1", "Place 1", "p1*", ["Place 1"]):
        found = total(cells, {"places": place, "periods": ["02:00", "03:00"]})
        assert found.value == expected
    assert total(cells, {"places": "south"}).value == cells.counts[PLACE % 2 == 1].sum()
    assert total(cells, {}).value == cells.counts.sum()
    assert total(cells, {}, per="periods").value == cells.counts.sum() / HOURS


def test_the_interval_of_a_sum_is_that_of_its_errors() -> None:
    found = total(asked(np.full(24, 50.0)), {"places": "p0"})
    error = math.sqrt(float(np.sum(ERRORS[:HOURS] ** 2)))
    assert found.standard_error == pytest.approx(error, abs=1e-4)
    assert (found.low, found.high) == pytest.approx((200 - 1.96 * error, 200 + 1.96 * error), 1e-4)
    assert total(asked(np.zeros(24)), {}).low == 0


def test_what_is_not_there_is_refused_with_what_is() -> None:
    cells = asked(np.ones(24))
    with pytest.raises(ReleaseError, match="no 'Plac 1'") as refused:
        total(cells, {"places": "Plac 1"})
    assert "Place 1" in str(refused.value.advice)
    with pytest.raises(ReleaseError, match="origins"):
        total(cells, {"origins": "p1"})
    with pytest.raises(ReleaseError, match="divide"):
        ratio(asked(np.zeros(24)), {}, {})


def test_what_two_sums_share_cancels_in_their_difference() -> None:
    found = difference(asked(np.full(24, 10.0)), {"places": ["p0", "p1"]}, {"places": "p1"})
    alone = total(asked(np.full(24, 10.0)), {"places": "p0"})
    assert (found.value, found.standard_error) == (alone.value, alone.standard_error)


def _draws(errors: FloatArray, together: Sequence[tuple[IntArray | None, float]]) -> FloatArray:
    """Draws errors that go together as they are said to, 2,000 times."""
    rng = np.random.default_rng(37)
    alone = 1 - sum(share for _, share in together)
    drawn = math.sqrt(alone) * rng.standard_normal((2000, len(errors)))
    for keys, share in together:
        key = np.zeros(len(errors), dtype=np.int64) if keys is None else keys
        drawn += math.sqrt(share) * rng.standard_normal((2000, int(key.max()) + 1))[:, key]
    return drawn * errors


def test_intervals_hold_where_errors_go_together() -> None:
    together = [(PLACE, 0.3), (HOUR, 0.2), (None, 0.1)]
    truth = np.linspace(40.0, 90.0, 24)
    variances = correlated(ERRORS, *together)
    one, other = {"places": ["p0", "p2"]}, {"places": ["p2", "p3"], "periods": ["00:00", "01:00"]}
    true_one, true_other = (float(truth[asked(truth).chosen(each)].sum()) for each in (one, other))
    held = np.zeros(4)
    for drawn in _draws(ERRORS, together):
        cells = asked(truth + drawn, variances)
        held += [
            _holds(total(cells, one), true_one),
            _holds(difference(cells, one, other), true_one - true_other),
            _holds(ratio(cells, one, other), true_one / true_other),
            np.mean([_holds(each, _of(truth, each.label)) for each in _top(cells)]),
        ]
    held /= 2000
    assert np.all((held > 0.93) & (held < 0.98)), held


def _holds(answer: Answer, truth: float) -> bool:
    return answer.low <= truth <= answer.high


def _top(cells: AskedCells) -> list[Answer]:
    return [*largest(cells, {}, by="places", top=6)]


def _of(truth: FloatArray, label: str) -> float:
    return float(truth[int(label[-2]) == PLACE].sum())


def test_the_largest_come_first_with_intervals_for_having_been_picked() -> None:
    counts = np.repeat([5.0, 50.0, 20.0, 40.0, 1.0, 2.0], HOURS)
    first, second = largest(asked(counts), {}, by="places", top=2)
    assert (first.label, second.label) == ("Place 1 (p1)", "Place 3 (p3)")
    usual = total(asked(counts), {"places": "p1"})
    assert first.high - first.low > usual.high - usual.low
    (only,) = largest(asked(counts), {"places": "p2"}, by="places", top=2)
    assert only.value == 80


def test_a_ratio_by_next_to_nothing_has_no_upper_end() -> None:
    assert ratio(asked(np.ones(24)), {"places": "p0"}, {"places": "p1"}).high == math.inf
