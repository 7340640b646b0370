"""How many processors this process may use."""

import os


def processors() -> int:
    """Returns how many processors this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)  # pragma: no cover  not on Linux
