"""Leuven.MapMatching (pure Python), a peer of the map matcher. Only for straight links.

It looks through all links for those near a position unless rtree is installed, so give it few.
"""

import logging
from importlib.util import find_spec
from itertools import pairwise

import numpy as np

from hushway.families.links.matching.traces import Traces
from hushway.families.links.public.roads import RoadNetwork

INSTALLED = find_spec("leuvenmapmatching") is not None


class Leuven:
    """Believes in the same errors; its radius is wider, because with ours it loses trips."""

    def __init__(self, roads: RoadNetwork) -> None:
        from leuvenmapmatching.map.inmem import InMemMap

        # Once for each trip it warns that it looks through all links.
        logging.getLogger("be.kuleuven.cs.dtai.mapmatching").setLevel(logging.ERROR)
        self._map = InMemMap("roads", use_latlon=False, index_edges=True)
        for node, (x, y) in enumerate(roads.node_points):
            self._map.add_node(node, (x, y))
        ends = list(zip(roads.tail.tolist(), roads.head.tolist(), strict=True))
        for tail, head in ends:
            self._map.add_edge(tail, head)
        self._link = {pair: link for link, pair in enumerate(ends)}

    def match(self, traces: Traces) -> np.ndarray:
        """Returns the link of each position, or -1."""
        from leuvenmapmatching.matcher.distance import DistanceMatcher

        found = np.full(len(traces.x), -1)
        for first, last in pairwise(traces.start.tolist()):
            matcher = DistanceMatcher(
                self._map,
                obs_noise=10,
                dist_noise=20,
                max_dist=100,
                max_dist_init=100,
                min_prob_norm=0.001,
                non_emitting_states=True,
            )
            matcher.match(
                list(zip(traces.x[first:last], traces.y[first:last], strict=True)), unique=False
            )
            for step in matcher.lattice_best or ():
                # The states in between are on links without a position.
                if step.obs_ne == 0:
                    found[first + step.obs] = self._link[step.edge_m.l1, step.edge_m.l2]
        return found
