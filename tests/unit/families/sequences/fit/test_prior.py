"""Prior means of pairs: what classes of cells are believed to hold."""

import numpy as np
import pytest

from hushway.families.sequences.fit.posterior import class_sums


def test_noise_in_large_classes_that_are_empty_does_not_outweigh_what_is_there() -> None:
    rng = np.random.default_rng(1)
    kind = np.repeat(np.arange(20), [500, *[20_000] * 19])
    true = np.where(kind == 0, 40.0, 0.0)
    found = class_sums(true + rng.laplace(0, 14, len(kind)), kind, 20_000.0)
    assert found.sum() == pytest.approx(20_000)
    assert found.min() >= 0
    assert found[0] > 15_000


def test_without_noise_sums_are_what_they_are() -> None:
    kind = np.array([[0, 1], [2, 1]])
    sums = class_sums(np.array([[3.0, 1.0], [0.0, 2.0]]), kind, 6.0)
    assert sums.tolist() == [3.0, 3.0, 0.0]
