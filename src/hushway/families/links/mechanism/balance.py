"""Conservation at nodes: what comes in leaves, but for beginnings and ends of trips."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from hushway.arrays import FloatArray
from hushway.families.links.public.roads import RoadNetwork

# Persons count once on a link that they use twice, so nodes are never balanced quite exactly.
_LEAST_LOOSENESS = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class Balance:
    """The balance of every node over the items of a period.

    Attributes:
        matrix: One row for each node: +1 for links that come in and trips that begin there, -1 for
            links that leave and trips that end.
    """

    matrix: csr_array

    @cached_property
    def _passing(self) -> csr_array:
        return abs(self.matrix)

    def looseness(self, counts: FloatArray, variance: float) -> float:
        """Returns by how much nodes are out of balance, as a variance for each person passing.

        Told from noisy counts: what their imbalance shows beyond the noise.
        """
        beyond = (self.matrix @ counts) ** 2 - variance * self._degrees
        passing = float((self._passing @ np.maximum(counts, 0.0)).sum())
        return max(float(beyond.sum()) / max(passing, 1.0), _LEAST_LOOSENESS)

    def variance(self, counts: FloatArray, variance: float) -> FloatArray:
        """Returns the variance of each node's imbalance."""
        passing = np.maximum(self._passing @ np.maximum(counts, 0.0), 1.0)
        return np.asarray(self.looseness(counts, variance) * passing + 1.0)

    @cached_property
    def _degrees(self) -> FloatArray:
        return np.asarray(self._passing @ np.ones(self.matrix.shape[1]))


def balance_of(roads: RoadNetwork) -> Balance:
    """Returns the balance of a network's nodes over links, beginnings and ends, in that order."""
    links, nodes = np.arange(roads.links), np.arange(roads.nodes)
    rows = np.concatenate([roads.head, roads.tail, nodes, nodes])
    items = np.concatenate([links, links, roads.links + nodes, roads.links + roads.nodes + nodes])
    signs = np.repeat([1.0, -1.0, 1.0, -1.0], [len(links), len(links), len(nodes), len(nodes)])
    shape = (roads.nodes, roads.links + 2 * roads.nodes)
    return Balance(matrix=csr_array((signs, (rows, items)), shape=shape))
