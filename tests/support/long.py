"""Some cases of a test in every run, the others in `make test-long` only."""

from collections import Counter
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


def leave_most_for_long_runs(items: list[pytest.Item]) -> None:
    """Of tests that are marked `one_in(n)` one case of so many is in every run, from the first on.

    Where cases differ in two ways, n must not divide the number of those that come in turn.
    """
    seen: Counter[str] = Counter()
    for item in items:
        marker = item.get_closest_marker("one_in")
        if marker is not None:
            name = item.nodeid.partition("[")[0]
            if seen[name] % marker.args[0]:
                item.add_marker(pytest.mark.long)
            seen[name] += 1
