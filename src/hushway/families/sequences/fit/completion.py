"""Complete records from a published tree, whose own records break off where it stops growing.

A record whose next stop was not kept counts as ending at the stop before, so published sequences
are too short. How records of the same kind go on is known from prefixes that were kept further.
Completion uses it to extend as many records as seem to have been broken off.

Privacy:
    Reads nothing but a published tree: it costs nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray, WordArray
from hushway.errors import PlanError
from hushway.families.sequences.fit.backoff import (
    END,
    NEW,
    Model,
    Moves,
    all_keys,
    kinds_of,
    pooled,
)
from hushway.families.sequences.fit.completion_rounding import spread_added, spread_kept
from hushway.families.sequences.fit.table import SequenceTable, StepSummary, prefix_before


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixRows:
    """All kept prefixes of one length, and the kept prefixes that continue them by one stop.

    Attributes:
        histories: The stops of each prefix, as numbers at the finest granularity.
        child_row: The prefix that each child continues, ascending.
        child_place: The stop by which it does.
        step: What is public about the step that found the children; None if none was taken.
    """

    histories: IntArray
    counts: IntArray
    ends: IntArray
    child_row: IntArray
    child_place: IntArray
    child_counts: IntArray
    child_measured: IntArray
    step: StepSummary | None


def prefix_rows(table: SequenceTable) -> tuple[PrefixRows, ...]:
    """Returns the prefixes of each length, from 0 stops (one empty prefix) to the longest."""
    finest = table.taxonomy.grains - 1
    found = {step.stop: step for step in table.steps if step.grain == finest}
    stop = np.array([step.stop for step in table.steps], dtype=np.int64)[table.step]
    is_prefix = table.grains == finest
    before = prefix_before(table.parent, is_prefix)
    row_of = np.zeros(len(stop), dtype=np.int64)
    histories, nodes = np.zeros((1, 0), dtype=np.int64), np.full(1, -1, dtype=np.int64)
    rows = []
    for length in range(len(found) + 1):
        children = np.flatnonzero(is_prefix & (stop == length))
        # Under the root, every child continues the one empty prefix.
        row = row_of[before[children]] if length else np.zeros(len(children), dtype=np.int64)
        order = np.argsort(row, kind="stable")
        children, row = children[order], row[order]
        rows.append(
            PrefixRows(
                histories=histories,
                counts=table.counts[nodes] if length else np.zeros(1, dtype=np.int64),
                ends=table.ends[nodes] if length else np.zeros(1, dtype=np.int64),
                child_row=row,
                child_place=table.code[children],
                child_counts=table.counts[children],
                child_measured=table.measured[children],
                step=found.get(length),
            )
        )
        row_of[children] = np.arange(len(children))
        histories = longer(histories, row, table.code[children])
        nodes = children
    return tuple(rows)


def longer(histories: IntArray, row: IntArray, place: IntArray) -> IntArray:
    """Returns rows of histories, each with one stop more."""
    return np.concatenate([histories[row], place[:, None]], axis=1)


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


# In thresholds: prefixes so large lose little below the threshold; and of every shape the largest
# prefixes are read until they have so many records together.
_LARGE, _ENOUGH = 20, 20
# Noise this many scales above the threshold is one in three thousand of the noise above it.
_BINS = 9


def learnt(rows: Sequence[PrefixRows], places: int) -> Model:
    """Returns the back-off model, from the prefixes that lost least.

    What the largest prefixes lose below the threshold is small beside those that end there.
    """
    # Every record has a first stop, so the empty prefix says nothing about going on.
    after = [(each, each.step) for each in rows[1:] if each.step is not None]
    return pooled([move for each, step in after for move in _moves(each, step)], places)


def _moves(rows: PrefixRows, step: StepSummary) -> tuple[Moves, Moves]:
    """Returns the records that went on from telling prefixes, and those that ended there."""
    kind_keys, place_keys = all_keys(rows.histories)
    shape = kind_keys[:, 2]
    read = _telling(shape, rows.counts, step.threshold)
    kind = kinds_of(rows.histories, rows.child_row, rows.child_place)
    believed = rows.child_counts * _credibility(rows, kind, step)
    on, ended = np.flatnonzero(read[rows.child_row]), np.flatnonzero(read & (rows.ends > 0))
    above = rows.child_row[on]
    went = Moves(kind_keys[above], place_keys[above], kind[on], rows.child_place[on], believed[on])
    nowhere = np.zeros(len(ended), dtype=np.int64)
    stayed = Moves(
        kind_keys[ended],
        place_keys[ended],
        np.full(len(ended), END, dtype=np.int64),
        nowhere,
        rows.ends[ended].astype(np.float64),
    )
    return went, stayed


def _telling(shape: WordArray, counts: IntArray, threshold: int) -> BoolArray:
    """Returns which prefixes to learn from: all large ones, and the largest of every shape."""
    order = np.lexsort((-counts, shape))
    size = counts[order]
    before = np.cumsum(size) - size
    _, first, group = np.unique(shape[order], return_index=True, return_inverse=True)
    enough = before - before[first][group] >= _ENOUGH * threshold
    read = np.empty(len(counts), dtype=np.bool_)
    read[order] = ~enough | (size >= _LARGE * threshold)
    return read


def _credibility(rows: PrefixRows, kind: IntArray, step: StepSummary) -> FloatArray:
    """Returns how likely each child is more than noise, judged by its noisy count.

    Nearly all candidates are places new to a record that nobody went to. How many of them noise
    lifts over the threshold, and how far, is known; so is how many were found there. The tail is
    that of Laplace noise, which is the heavier one.
    """
    credible = np.ones(len(kind))
    new = np.flatnonzero(kind == NEW)
    scale = step.standard_error / math.sqrt(2)
    above = (rows.child_measured[new] - step.threshold) / scale
    where = np.clip(above.astype(np.int64), 0, _BINS - 1)
    found = np.bincount(where, minlength=_BINS)
    tail = np.exp(-np.arange(_BINS + 1) - step.threshold / scale)
    false = step.candidates / 2 * (tail[:-1] - tail[1:])
    credible[new] = np.clip(1 - false / np.maximum(found, 1), 0, 1)[where]
    return credible
