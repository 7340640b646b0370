"""The visits in a list of events: the first event of a person at a tower in an hour."""

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import Int32Array
from hushway.numerics.compiled import compiled


@compiled
def distinct_visits(
    person: Int32Array, tower: NDArray[np.int16], second: Int32Array, towers: int
) -> tuple[Int32Array, NDArray[np.int16], NDArray[np.int16]]:
    """Returns person, tower and hour of the visits, from events ordered by person and time."""
    # As persons and hours only go up, it is enough to know when each tower was last seen.
    seen = np.full(towers, -1, dtype=np.int64)
    is_new = np.zeros(len(person), dtype=np.bool_)
    count = 0
    for event in range(len(person)):
        stamp = np.int64(person[event]) * 1_000 + second[event] // 3_600
        if seen[tower[event]] != stamp:
            seen[tower[event]] = stamp
            is_new[event] = True
            count += 1
    who = np.empty(count, dtype=np.int32)
    where = np.empty(count, dtype=np.int16)
    when = np.empty(count, dtype=np.int16)
    at = 0
    for event in range(len(person)):
        if is_new[event]:
            who[at] = person[event]
            where[at] = tower[event]
            when[at] = second[event] // 3_600
            at += 1
    return who, where, when
