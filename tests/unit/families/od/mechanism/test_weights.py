import pytest

from hushway.families.od.fit.weights import Weights, margin_weights
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import period_feature, total_feature


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (Weights.UNIFORM, (1.0, 1.0)),
        (Weights.SIZE, (90.0, 30.0)),
        (Weights.INVERSE_VARIANCE, (2.0, 0.5)),
        (Weights.SIZE_OVER_VARIANCE, (180.0, 15.0)),
    ],
)
def test_weights_are_relative_to_those_of_a_cell(
    weights: Weights, expected: tuple[float, ...], cells: ODCells
) -> None:
    features = (total_feature(cells), period_feature(cells))
    assert margin_weights(weights, features, [4.0, 16.0, 8.0]) == pytest.approx(expected)
