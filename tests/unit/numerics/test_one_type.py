"""Functions that kernels call are compiled once, whatever numbers are written out there."""

from typing import Any

from hushway.numerics.compiled import compiled


@compiled
def _further(place: int, by: tuple[int, float]) -> float:
    return place + by[0] * by[1]


@compiled
def _walk(steps: int) -> float:
    place = _further(0, (1, 2.0))
    for step in range(steps):
        place = _further(int(place), (step, 0.5))
    return place


def test_numbers_that_are_written_out_are_numbers_like_others() -> None:
    caller: Any = _walk
    callee: Any = _further
    assert caller(4) == 4.5
    # Code that an earlier run kept has its callees in it already.
    caller.recompile()
    assert len(callee.signatures) == 1


def test_python_can_call_what_kernels_call() -> None:
    assert _further(2, (3, 0.5)) == 3.5
