"""Records that a limit on records of a person has left out, added to those that were counted.

Privacy:
    Everything here is computed from noisy values: post-processing.
"""

from dataclasses import dataclass

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.fit.reconciliation import WeightedRecords
from hushway.privacy.measured import Measured
from hushway.release.contribution.completion import (
    Completion,
    LeftOutSums,
    added_up,
    completion_of,
)
from hushway.release.contribution.crowd import Crowd
from hushway.release.contribution.limits import Limits


@dataclass(frozen=True, kw_only=True, eq=False)
class LeftOut:
    """What a limit on records has left out, as far as it was measured.

    Attributes:
        crowd: How many records people have.
        limits: How many of a person count.
        lengths: Noisy numbers of records beyond the limit, by number of stops.
        firsts: The same by first stop.
    """

    crowd: Crowd
    limits: Limits
    lengths: Measured | None
    firsts: Measured | None

    def completion(self, records: WeightedRecords, weight: FloatArray) -> Completion:
        """Returns what is missing from records that were learnt, each with a weight."""
        length, first = np.diff(records.start) - 1, records.stops[records.start[:-1]]
        sums = [
            LeftOutSums(
                element=element.astype(np.int64),
                values=answer.values.astype(np.float64),
                variance=float(answer.variance),
            )
            for element, answer in ((length, self.lengths), (first, self.firsts))
            if answer is not None
        ]
        return completion_of(weight, sums, self.crowd, self.limits)


def prefix_variance(
    completion: Completion, parent: IntArray, depth: IntArray, node: IntArray
) -> FloatArray:
    """Returns the variance that completion adds to the number of records below each node.

    What is left out of a prefix differs from what its groups say for the prefix as a whole, and not
    for each of its records by itself.

    Args:
        completion: What was added to each record.
        parent: The node above each node, which stands before it.
        depth: How many stops each node has.
        node: The node of each record.
    """
    variance, at = np.zeros(len(parent)), node.copy()
    for level in range(int(depth.max()), 0, -1):
        inside = depth[at] == level
        below = np.where(inside, at, 0)
        found = completion.sum_variance(below, len(parent))
        found += completion.differ * added_up(below, completion.added, len(parent)) ** 2
        here = depth == level
        variance[here] = found[here]
        at[inside] = parent[at[inside]]
    return variance
