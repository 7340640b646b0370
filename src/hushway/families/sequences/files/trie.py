"""Published records as a tree of all their prefixes, for pictures."""

import numpy as np

from hushway.families.sequences.fit.record_table import RecordTable
from hushway.families.sequences.fit.table import SequenceTable, StepSummary


def trie_of(table: RecordTable) -> SequenceTable:
    """Returns the tree of all prefixes of published records.

    The noise of every node is that of the last question, which looked at whole records.
    """
    places, grain = len(table.taxonomy.locations), table.taxonomy.grains - 1
    codes = table.taxonomy.codes(grain)
    length = np.diff(table.start)
    record, above = np.arange(len(length)), np.full(len(length), -1, dtype=np.int64)
    parents, places_of, counts, ends, steps = [], [], [], [], []
    nodes = 0
    for stop in range(int(length.max(initial=0))):
        inside = length[record] > stop
        record, above = record[inside], above[inside]
        at = table.stops[table.start[record] + stop]
        keys, number = np.unique((above + 1) * places + at, return_inverse=True)
        here = np.zeros(len(keys), dtype=np.int64)
        np.add.at(here, number, table.counts[record])
        ending = np.zeros(len(keys), dtype=np.int64)
        last = length[record] == stop + 1
        np.add.at(ending, number[last], table.counts[record[last]])
        parents.append(keys // places - 1)
        places_of.append(codes[keys % places])
        counts.append(here)
        ends.append(ending)
        steps.append(
            StepSummary(
                stop=stop,
                grain=grain,
                candidates=len(keys),
                threshold=1,
                kept=len(keys),
                standard_error=table.questions[-1].standard_error,
            )
        )
        above = nodes + number.astype(np.int64)
        nodes += len(keys)
    together = np.concatenate(counts) if counts else np.empty(0, dtype=np.int64)
    empty = [np.empty(0, dtype=np.int64)]
    return SequenceTable(
        taxonomy=table.taxonomy,
        periods=None,
        parent=np.concatenate(parents or empty).astype(np.int64),
        step=np.repeat(np.arange(len(steps)), [step.kept for step in steps]).astype(np.int64),
        period=np.zeros(nodes, dtype=np.int64),
        code=np.concatenate(places_of or empty).astype(np.int64),
        measured=together,
        counts=together,
        ends=np.concatenate(ends or empty),
        steps=tuple(steps),
    )
