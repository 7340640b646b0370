"""Which prefixes of a published tree show how records go on, and how far each is believed."""

import math
from collections.abc import Sequence

import numpy as np

from hushway.arrays import BoolArray, FloatArray, IntArray, WordArray
from hushway.families.sequences.mechanism.completion_contexts import END, NEW, all_keys, kinds_of
from hushway.families.sequences.mechanism.completion_model import Model, Moves, pooled
from hushway.families.sequences.mechanism.completion_tree import PrefixRows
from hushway.families.sequences.mechanism.table import StepSummary

# In thresholds: prefixes so large lose little below the threshold; and of every shape the largest
# prefixes are read until they have so many records together.
_LARGE, _ENOUGH = 20, 20
# Noise this many scales above the threshold is one in three thousand of the noise above it.
_BINS = 9


def learnt(rows: Sequence[PrefixRows], places: int) -> Model:
    """Returns how records go on, from the prefixes with the least that was lost.

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
