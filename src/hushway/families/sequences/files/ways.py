"""Sums over a published tree: visits of places, ways between consecutive stops, and lengths."""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.tree_shape import ROOT
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.release.sums import Sums


def stop_nodes(table: SequenceTable) -> IntArray:
    """Returns the nodes that stand for a stop at a location; the others are groups on the way."""
    return np.flatnonzero(table.grains == table.taxonomy.grains - 1)


def visits_by_location(table: SequenceTable) -> FloatArray:
    """Returns how often the published sequences stop at each location."""
    nodes = stop_nodes(table)
    places = table.taxonomy.location_of(table.code[nodes])
    visits = np.bincount(places, table.counts[nodes], len(table.taxonomy.locations))
    return visits.astype(np.float64)


def sums_by_way(table: SequenceTable, prefix: IntArray) -> Sums:
    """Returns how many records go from one location straight on to another, at any stop.

    The key is origin * locations + destination. The noise is that of the nodes before the fit.
    """
    nodes = stop_nodes(table)
    nodes = nodes[prefix[nodes] != ROOT]
    origin = table.taxonomy.location_of(table.code[prefix[nodes]])
    destination = table.taxonomy.location_of(table.code[nodes])
    errors = np.array([step.standard_error for step in table.steps])[table.step[nodes]]
    keys, position = np.unique(
        origin * len(table.taxonomy.locations) + destination, return_inverse=True
    )
    return Sums(
        keys=keys,
        totals=np.bincount(position, table.counts[nodes], len(keys)).astype(np.float64),
        standard_errors=np.sqrt(np.bincount(position, errors**2, len(keys))),
    )


def records_by_length(table: SequenceTable) -> IntArray:
    """Returns how many records are published with 1 stop, with 2 stops, and so on."""
    stop_of_step = np.array([step.stop for step in table.steps], dtype=np.int64)
    records = np.zeros(int(stop_of_step.max()) + 1, dtype=np.int64)
    np.add.at(records, stop_of_step[table.step], table.ends)
    return records
