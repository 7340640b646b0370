"""The prefix tree of the KDD 2012 paper as published, for comparison only: nothing to publish.

Chen, Fung, Desai and Sossou add real-valued noise, compare it with real thresholds, make counts
consistent in two phases that need not succeed, and protect one record, not one person.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import PlanError
from hushway.families.sequences.fit.table import Nodes, nodes_of, prefix_before
from hushway.families.sequences.fit.tree_active_set import refuse_misplaced, refuse_unlike
from hushway.families.sequences.public.prefixes import PrefixCells, SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.study.data import WeightedSequences
from hushway.numerics.compiled import compiled
from hushway.privacy.measured import Internal
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector, Shown
from hushway.privacy.query import Counter, Query
from hushway.privacy.randomness import BitSource

# Noise in steps of 1/1024 record stands in for the paper's real-valued noise.
_STEP_BITS = 10
_GROUP_DEVIATIONS, _LOCATION_DEVIATIONS = 4, 2
_GRAINS = 2


@dataclass(frozen=True, kw_only=True)
class PaperRelease:
    """What the paper's procedure gives.

    Attributes:
        sequences: The released sequences.
        nodes: Number of nodes of the noisy tree, groups included.
        steps: Number of steps taken; fewer than planned if nothing was kept or too much.
    """

    sequences: WeightedSequences
    nodes: int
    steps: int


def paper_prefix_tree(
    counter: Counter,
    universe: SequenceUniverse,
    *,
    epsilon: Fraction,
    height: int,
    source: BitSource,
    most_nodes: int = 20_000_000,
) -> Internal[PaperRelease]:
    """Runs the paper's procedure once.

    Args:
        counter: Counts records; each counts as a unit of its own, as in the paper.
        universe: One level of groups is the paper's hybrid tree; none is its simple one.
        epsilon: The budget of the whole tree.
        height: The most stops of a released sequence.
        source: Random bits.
        most_nodes: No step is taken from more nodes than this, or if it would add more false ones:
            the false nodes of a simple tree over many locations multiply without end.

    Raises:
        PlanError: The taxonomy is not one of the paper's.
    """
    spends = _spends(universe.taxonomy, epsilon / height)
    kept: list[tuple[PrefixCells, Shown]] = []
    cells = universe.first_step()
    for _, grain in product(range(height), range(len(spends))):
        group = grain < len(spends) - 1
        if _too_many(cells, most_nodes, group=group):
            break
        shown = _noisy_counts(counter, cells, spends[grain], source, group=group)
        kept.append((cells, shown))
        if len(shown.cells) == 0:
            break
        cells = cells.below(shown.cells)
    nodes = nodes_of(kept)
    sequences = _sequences(nodes, universe.taxonomy)
    return Internal(PaperRelease(sequences=sequences, nodes=len(nodes.parent), steps=len(kept)))


def _spends(taxonomy: Taxonomy, each: Fraction) -> tuple[Fraction, ...]:
    """Returns the epsilon of each sub-level: 2/f of the level's for groups of f locations."""
    if taxonomy.grains == 1:
        return (each,)
    fan_out = Fraction(taxonomy.size(1), taxonomy.size(0))
    if taxonomy.grains > _GRAINS or fan_out <= _GRAINS:
        raise PlanError(
            "The paper's tree has one level of groups, of more than two places on average.",
            advice="Use hushway.families.sequences.mechanism for other taxonomies.",
        )
    return (each * 2 / fan_out, each * (fan_out - 2) / fan_out)


def _deviations(*, group: bool) -> float:
    return math.sqrt(2) * (_GROUP_DEVIATIONS if group else _LOCATION_DEVIATIONS)


def _too_many(cells: PrefixCells, most_nodes: int, *, group: bool) -> bool:
    expected_false = cells.size * math.exp(-_deviations(group=group)) / 2
    return max(cells.nodes, expected_false) > most_nodes


def _noisy_counts(
    counter: Counter, cells: PrefixCells, epsilon: Fraction, source: BitSource, *, group: bool
) -> Shown:
    """Returns the candidates at or above the paper's threshold; counts in steps, not in records."""
    exact = counter.count(Query(name=cells.name, cells=cells))
    vector = LazyVector(
        law=DiscreteLaplace((1 << _STEP_BITS) / epsilon),
        size=cells.size,
        cells=exact.cells,
        counts=exact.values << _STEP_BITS,
        source=source,
    )
    return vector.reveal(math.ceil(_deviations(group=group) / float(epsilon) * (1 << _STEP_BITS)))


def _sequences(nodes: Nodes, taxonomy: Taxonomy) -> WeightedSequences:
    """Leaves out the groups, makes the rest consistent as the paper does, and counts what ends.

    The paper does not say how parts of records, or fewer than none, are written out: here they are
    rounded to the nearest whole number and left out.
    """
    before = prefix_before(nodes.parent, nodes.is_prefix)
    prefixes = np.flatnonzero(nodes.is_prefix)
    place = np.full(len(nodes.parent) + 1, -1, dtype=np.int64)
    place[prefixes] = np.arange(len(prefixes))
    # The last entry of `place` answers for -1, the root.
    parent = place[before[prefixes]]
    estimates = paper_consistency(parent, nodes.measured[prefixes]) / (1 << _STEP_BITS)
    continued = np.zeros(len(prefixes))
    inner = parent >= 0
    np.add.at(continued, parent[inner], estimates[inner])
    ends = np.maximum(np.rint(estimates - continued), 0).astype(np.int64)
    return _written_out(parent, taxonomy.location_of(nodes.code[prefixes]), ends)


def _written_out(parent: IntArray, location: IntArray, ends: IntArray) -> WeightedSequences:
    """Returns the path to every node at which records end."""
    nodes = np.flatnonzero(ends)
    rows: Sequence[IntArray] = _columns_upwards(parent, nodes)
    reached = np.array(rows, dtype=np.int64).reshape(len(rows), len(nodes))[::-1].T
    inside = reached >= 0
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(inside.sum(axis=1))])
    return WeightedSequences(start=start, stops=location[reached[inside]], weights=ends[nodes])


def _columns_upwards(parent: IntArray, nodes: IntArray) -> list[IntArray]:
    """Returns the nodes, their parents, the parents of these and so on; -1 above the root."""
    columns = []
    at = nodes
    while (at >= 0).any():
        columns.append(at)
        at = np.where(at >= 0, parent[at], -1)
    return columns


# The two-phase consistency of Chen, Fung, Desai and Sossou (KDD 2012, section 4.2), as published.
#
# For comparison only. Their result can be negative, and a node's children can exceed it: a node of
# 60 with children of 100 and 8 becomes 70 with 71 and -1. The closest tree is in
# `prefix_projection`.
#
# Phase one fits every path from a leaf to the top by the closest rising sequence, and takes for
# each node the mean over all paths through it. Paths share their upper parts, and so does the work:
# the blocks of equal values on a path are kept as a list from its lower end upwards, and the list
# of a node begins with a block of its own and goes on with the list of a node above. A block then
# counts for as many leaves as have it in their list, and for the nodes it covers. Finding the
# blocks takes as many steps as blocks are joined, at most the depth for each node; the rest is
# linear.


def paper_consistency(parent: IntArray, measured: IntArray) -> FloatArray:
    """Returns the published procedure's estimates, which need not be consistent.

    Args:
        parent: The node above each node, -1 for those of level 1; parents stand before their
            children. The paper leaves out the nodes of groups.
        measured: The noisy count of each node.

    Privacy:
        Everything here is computed from noisy counts: post-processing, which costs nothing.

    Raises:
        ReleaseError: The input does not fit together.
    """
    refuse_misplaced(parent)
    refuse_unlike(parent, measured)
    return _corrected(parent, _means_over_leaves(parent, measured.astype(np.float64)))


@compiled
def _means_over_leaves(parent: IntArray, measured: FloatArray) -> FloatArray:
    """Returns, for each node, the mean of its rising fits on the paths from all leaves below it."""
    nodes = len(parent)
    block = np.empty(nodes)
    size = np.empty(nodes, dtype=np.int64)
    beyond = np.empty(nodes, dtype=np.int64)
    uses = np.ones(nodes)
    for v in range(nodes):
        total, count, above = measured[v], 1, parent[v]
        while above >= 0 and block[above] * count < total:
            total += block[above] * size[above]
            count += size[above]
            above = beyond[above]
        block[v], size[v], beyond[v] = total / count, count, above
        if parent[v] >= 0:
            uses[parent[v]] = 0
    leaves = uses.copy()
    # A block covers the nodes from its own up to, but without, the one its list goes on with.
    sums = np.zeros(nodes)
    for v in range(nodes - 1, -1, -1):
        sums[v] += uses[v] * block[v]
        if beyond[v] >= 0:
            uses[beyond[v]] += uses[v]
            sums[beyond[v]] -= uses[v] * block[v]
        if parent[v] >= 0:
            sums[parent[v]] += sums[v]
            leaves[parent[v]] += leaves[v]
    return sums / leaves


@compiled
def _corrected(parent: IntArray, means: FloatArray) -> FloatArray:
    """Lowers the children of a node by equal amounts to its own corrected value, from the top."""
    nodes = len(parent)
    below = np.zeros(nodes)
    fan_out = np.zeros(nodes)
    for v in range(nodes):
        if parent[v] >= 0:
            below[parent[v]] += means[v]
            fan_out[parent[v]] += 1
    values = means.copy()
    for v in range(nodes):
        above = parent[v]
        if above >= 0:
            values[v] += min(0.0, (values[above] - below[above]) / fan_out[above])
    return values
