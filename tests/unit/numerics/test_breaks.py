"""Where lines of noisy numbers break, on either side of a step."""

import numpy as np

from hushway.arrays import IntArray
from hushway.numerics.breaks import surprise_of, unchanged_by

AWAY = np.array([1, 2, 3, -1, -2])


def found(steps: list[list[float]], most: float = np.inf, lines: int = 1) -> list[list[float]]:
    values = np.array(steps)

    def surprise(order: IntArray) -> np.ndarray:
        line = values[np.append(0, 1 + order)]
        return surprise_of([(line, np.ones_like(line))] * lines, most)

    return unchanged_by(AWAY, surprise, values.shape[1], 16.0).tolist()


def test_steps_beyond_a_break_say_nothing_and_each_side_has_its_own() -> None:
    # The step itself, then those before it, then those after it; the second cell never changes.
    same = found([[0.0, 5.0], [0.5, 5.0], [99.0, 5.0], [98.0, 5.5], [0.0, 5.0], [50.0, 5.0]])
    assert same == [[1, 1], [0, 1], [0, 1], [1, 1], [0, 1]]


def test_a_line_alone_counts_for_no_more_than_it_may() -> None:
    steps = [[0.0], [99.0], [99.0], [99.0], [0.0], [0.0]]
    assert found(steps)[:3] == [[0], [0], [0]]
    assert found(steps, most=9.0)[:3] == [[1], [1], [1]]
    assert found(steps, most=9.0, lines=2)[:3] == [[0], [0], [0]]
