"""Some cases of a test in every run, the others in `make test-long` only."""

from collections.abc import Iterable
from typing import Any

import pytest


def often(cases: Iterable[Any], *, first: int = 1) -> list[Any]:
    """Returns the first cases as they are, and the others marked as long.

    Args:
        cases: What a test is asked for: single values, or tuples of one for each argument.
        first: How many are in every run.
    """
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=pytest.mark.long if place >= first else (),
        )
        for place, case in enumerate(cases)
    ]
