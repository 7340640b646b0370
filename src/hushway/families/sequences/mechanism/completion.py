"""Complete records from a published tree, whose own records break off where it stops growing.

A record whose next stop was not kept counts as ending at the stop before, so published sequences
are too short. How records of the same kind go on is known from prefixes that were kept further.
Completion uses it to go on with as many records as seem to have been broken off.

Privacy:
    Reads nothing but a published tree: it costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError
from hushway.families.sequences.mechanism.completion_learning import learnt
from hushway.families.sequences.mechanism.completion_model import Model
from hushway.families.sequences.mechanism.completion_spread import spread_added, spread_kept
from hushway.families.sequences.mechanism.completion_tree import PrefixRows, longer, prefix_rows
from hushway.families.sequences.mechanism.table import SequenceTable


@dataclass(frozen=True, kw_only=True, eq=False)
class CompletedSequences:
    """Distinct sequences with how many records each stands for, ordered by their length.

    Attributes:
        start: Where each sequence begins; one entry more than sequences.
        stops: The location index of every stop of all of them in a row.
        counts: The number of records of each sequence, at least 1.
    """

    start: IntArray
    stops: IntArray
    counts: IntArray


def complete(table: SequenceTable, *, most_stops: int | None = None) -> CompletedSequences:
    """Returns records that agree with a published tree and end where records like them end.

    As many records begin with each kept prefix as the tree has published. What is added beyond kept
    prefixes is a likely course, not a measurement. The same tree always gives the same records.

    Args:
        table: The published tree.
        most_stops: The most stops of a record; those of the longest prefix unless given.

    Raises:
        PlanError: Times are kept, or the tree is longer than `most_stops`.
    """
    if table.periods is not None:
        raise PlanError(
            "Records with times cannot be completed.",
            advice="Publish the sequences of the tree, or leave periods out of the plan.",
        )
    rows = _kept(table)
    longest = len(rows) - 1 if most_stops is None else most_stops
    if longest < len(rows) - 1:
        raise PlanError(
            f"The tree has prefixes of {len(rows) - 1} stops, more than {longest}.",
            advice="Allow at least as many stops as the tree has.",
        )
    model = learnt(rows, len(table.taxonomy.locations))
    added = _Rows(np.zeros((0, 0), dtype=np.int64), np.zeros(0, dtype=np.int64))
    found: list[_Rows] = []
    for length in range(longest):
        ended, added_on = _spread_added(model, added)
        found.append(ended)
        if length < len(rows):
            ended, kept_on = _spread_kept(model, rows[length])
            found.append(ended)
            added = _Rows(*(np.concatenate(both) for both in zip(kept_on, added_on, strict=True)))
        else:
            added = added_on
    # The longest records end, whatever records like them do.
    found.append(added)
    if longest < len(rows):
        found.append(_Rows(rows[longest].histories, rows[longest].ends))
    return _in_a_row(table, found)


class _Rows(NamedTuple):
    """Histories of one length, and how many records have each."""

    histories: IntArray
    records: IntArray


def _kept(table: SequenceTable) -> tuple[PrefixRows, ...]:
    """Returns the prefixes of each length up to the longest that was kept."""
    rows = prefix_rows(table)
    return rows[: max(1, sum(len(each.counts) > 0 for each in rows))]


def _spread_kept(model: Model, kept: PrefixRows) -> tuple[_Rows, _Rows]:
    """Returns the records that end at kept prefixes, and those that go on beyond them."""
    ceiling = np.inf if kept.step is None else float(kept.step.threshold)
    children = kept.child_row, kept.child_place
    stay, (row, place, on) = spread_kept(model, kept.histories, kept.ends, children, ceiling)
    return _Rows(kept.histories, stay), _Rows(longer(kept.histories, row, place), on)


def _spread_added(model: Model, added: _Rows) -> tuple[_Rows, _Rows]:
    """Returns the records that end here, and those that go on."""
    stay, (row, place, on) = spread_added(model, *added)
    return _Rows(added.histories, stay), _Rows(longer(added.histories, row, place), on)


def _in_a_row(table: SequenceTable, found: Sequence[_Rows]) -> CompletedSequences:
    """Returns all histories that records have, as a ragged array."""
    some = [
        _Rows(rows.histories[rows.records > 0], rows.records[rows.records > 0]) for rows in found
    ]
    lengths = np.concatenate([np.full(len(rows.records), rows.histories.shape[1]) for rows in some])
    codes = np.concatenate([rows.histories.ravel() for rows in some])
    return CompletedSequences(
        start=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]),
        stops=table.taxonomy.location_of(codes).astype(np.int64),
        counts=np.concatenate([rows.records for rows in some]),
    )
