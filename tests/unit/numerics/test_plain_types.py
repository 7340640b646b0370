from numba import types

from hushway.numerics.compiled import compiled
from hushway.numerics.plain_types import plain_type


@compiled
def _sum(pair: tuple[int, int], more: int) -> int:
    return pair[0] + pair[1] + more


@compiled
def _calls(number: int) -> int:
    # As a constant, as a variable, and as one that begins as a constant.
    total = 0
    for _ in range(2):
        total = _sum((-1, total), total)
    return total + _sum((1, 2), 3) + _sum((number, number), more=number)


def test_a_function_is_compiled_once_for_constants_and_variables() -> None:
    assert _calls(5) == -3 + 6 + 15
    assert len(_sum.signatures) == 1


def test_names_of_tuples_stay_and_empty_tuples_too() -> None:
    assert plain_type(types.Tuple(())) == types.Tuple(())
    assert plain_type(types.literal(3)) == types.int64
    nested = types.Tuple((types.Tuple((types.literal(1), types.float64)), types.literal(2)))
    assert plain_type(nested) == types.Tuple(
        (types.Tuple((types.int64, types.float64)), types.int64)
    )
