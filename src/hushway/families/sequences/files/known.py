"""How much of published sequences is known."""

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.tree import ROOT, prefixes_of
from hushway.families.sequences.fit.table import RecordTable, SequenceTable
from hushway.release.forecast.known import Known, known_sums, sure_share


def known_records(table: SequenceTable | RecordTable) -> Known:
    """Returns how much is known of first stops, and of ways from the first stop to the second."""
    if isinstance(table, RecordTable):
        going_on = int(table.counts[np.diff(table.start) > 1].sum())
        return _known(table.parent, table.prefix_counts, table.prefix_errors, going_on)
    stops = table.grains == table.taxonomy.grains - 1
    noise = np.array([step.standard_error for step in table.steps], dtype=np.float64)
    return _known(prefixes_of(table), table.counts * stops, noise[table.step])


def _known(
    before: IntArray, counts: IntArray, errors: FloatArray, going_on: int | None = None
) -> Known:
    """Returns how much is known of prefixes.

    Args:
        before: The prefix before each; ROOT at the first stop.
        counts: How many records begin with each.
        errors: The standard error of each.
        going_on: How many records have two stops or more; None if all of their prefixes are here.
    """
    first = before == ROOT
    second = ~first & first[before]
    ways = counts[second]
    hidden = None if going_on is None else float(going_on - ways.sum())
    return Known(
        counted="records of two stops or more",
        cells="prefixes of two stops",
        sure=sure_share([(ways, errors[second])], hidden=hidden),
        sums=(known_sums("first stops", counts[first], errors[first]),),
    )
