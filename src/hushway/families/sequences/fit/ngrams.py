"""Where records go that go somewhere new: Markov contexts of one place before, or two."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.fit.answers import Answer, believed, margin
from hushway.families.sequences.fit.posterior import (
    Posterior,
    excess_classes,
    proportional_fit,
)
from hushway.families.sequences.fit.record_model import RecordModel
from hushway.families.sequences.fit.transitions import NewPlaceChances, PairContexts

# A pair of places is a context if it is expected to be followed by something new at least as often
# as one scale of the noise; a triple is asked about from a fiftieth of that on.
_CONTEXT, _CANDIDATE = 1.0, 0.02
# What makes no difference is left out: this share of what the next place gets on average.
_NEGLIGIBLE: Final = 1e-3
_TINY: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class NewPairs:
    """The posterior of all new stops after the second, by (place before, place).

    Attributes:
        expected: The prior of those that count.
        scale: How many there are for each that counts.
    """

    believed: Posterior
    expected: FloatArray
    scale: float


def learn_pairs(known: RecordModel, by_place: Answer, pairs: Answer, *, most: int) -> NewPairs:
    """Estimates bigrams of new stops; `most` of a record were counted."""
    places = known.places
    counted = max(known.outline.reached(most), _TINY)
    two = known.two.mean[:, :places]
    seconds = two.sum(axis=0)
    columns = margin(by_place, known.firsts + seconds, counted)
    # Who leaves a place was there before: second, or as a new stop.
    usual = np.maximum(seconds + columns, 1e-6)
    usual *= columns.sum() / usual.sum()
    table = pairs.values.reshape(places, places)
    blurred = pairs.noise.variance * places
    spread = np.maximum(usual, 1.0) ** 2 / 4
    rows = np.maximum((table.sum(axis=1) * spread + usual * blurred) / (spread + blurred), 1e-3)
    rows *= columns.sum() / rows.sum()
    more = excess_classes(two, known.expected_two[:, :places])
    expected = proportional_fit(table, rows, columns, (known.ring, more, more.T))
    np.fill_diagonal(expected, 0.0)
    found = believed(pairs.flat, expected.ravel())
    mean = found.mean.reshape(places, places)
    np.fill_diagonal(mean, 0.0)
    scale = known.outline.new_stops / counted
    variance = found.variance.reshape(places, places) * scale**2
    believed_all = Posterior(mean=mean * scale, variance=variance)
    return NewPairs(believed=believed_all, expected=expected, scale=scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class Triples:
    """New stops that are worth asking about with the two places before them (trigrams).

    Attributes:
        contexts: The two places before, as first * places + second; ascending.
        grams: The triples, as context * places + new place; ascending.
        owner: The context of each triple.
        expected: How often each is expected among the stops that are counted.
    """

    contexts: IntArray
    grams: IntArray
    owner: IntArray
    expected: FloatArray


def triples_to_ask(known: RecordModel, pairs: NewPairs, noise: float) -> Triples:
    """Returns the triples that are expected often enough to be told from noise."""
    places = known.places
    followed, chance = _followed(known, pairs)
    contexts = np.flatnonzero(followed.ravel() >= _CONTEXT * noise)
    before, here = np.divmod(contexts, places)
    grams, owner, expected = [], [], []
    # A place has few contexts, and a row of chances serves them all.
    for place in np.unique(here):
        inside = np.flatnonzero(here == place)
        rate = followed.ravel()[contexts[inside]][:, None] * chance[place]
        rate[np.arange(len(inside)), before[inside]] = 0.0
        which, new = np.nonzero(rate >= _CANDIDATE * noise)
        grams.append(contexts[inside][which] * places + new)
        owner.append(inside[which])
        expected.append(rate[which, new])
    if not grams:
        nothing = np.empty(0, dtype=np.int64)
        return Triples(contexts=nothing, grams=nothing, owner=nothing, expected=np.empty(0))
    every = np.concatenate(grams)
    order = np.argsort(every)
    return Triples(
        contexts=contexts,
        grams=every[order],
        owner=np.concatenate(owner)[order],
        expected=np.concatenate(expected)[order],
    )


def triples_asked(known: RecordModel, pairs: NewPairs, grams: IntArray) -> Triples:
    """Returns triples that were asked about, with what is expected of them now."""
    context, new = np.divmod(grams, known.places)
    followed, chance = _followed(known, pairs)
    contexts, owner = np.unique(context, return_inverse=True)
    rate = followed.ravel()[context] * chance[context % known.places, new]
    return Triples(contexts=contexts, grams=grams, owner=owner, expected=rate)


def _followed(known: RecordModel, pairs: NewPairs) -> tuple[FloatArray, FloatArray]:
    """Returns how often something new follows two places, and how likely each follows one."""
    places = known.places
    mean = pairs.believed.mean / max(pairs.scale, _TINY)
    arrivals = known.two.mean[:, :places] / max(pairs.scale, _TINY) + mean
    leaving = mean.sum(axis=1)
    goes_on = np.minimum(leaving / np.maximum(arrivals.sum(axis=0), _TINY), 1.0)
    followed = arrivals * goes_on
    np.fill_diagonal(followed, 0.0)
    return followed, mean / np.maximum(leaving, _TINY)[:, None]


def join_contexts(
    known: RecordModel, pairs: NewPairs, triples: Triples, answer: Answer | None
) -> tuple[NewPlaceChances, PairContexts]:
    """Returns the chances of new places in all contexts, and which pairs of places are contexts.

    The first contexts are single places, the next ones first stops, then come pairs of places.
    `answer` has the noisy counts of the triples; None if there are none.
    """
    places = known.places
    two = known.two.mean[:, :places].copy()
    np.fill_diagonal(two, 0.0)
    parts = [_sparse(pairs.believed.mean), _sparse(two)]
    kept = triples.contexts[:0]
    if answer is not None:
        mean = believed(answer, triples.expected).mean
        sums = np.bincount(triples.owner, weights=mean, minlength=len(triples.contexts))
        usual = np.bincount(triples.owner, weights=triples.expected, minlength=len(sums))
        # Half way between what was counted and what one place before makes expect.
        mean = mean * np.sqrt(usual / np.maximum(sums, _TINY))[triples.owner]
        visible = mean > _NEGLIGIBLE * usual[triples.owner] / places
        each = np.bincount(triples.owner[visible], minlength=len(sums))
        kept = triples.contexts[each > 0]
        parts.append((each[each > 0], triples.grams[visible] % places, mean[visible]))
    each, place, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    start = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
    owner = np.repeat(np.arange(len(each)), each)
    totals = np.bincount(owner, weights=weight, minlength=len(each))
    chance = weight / np.maximum(totals[owner], _TINY)
    running = np.cumsum(chance)
    before = np.concatenate([[0.0], running])[start[:-1]]
    following = NewPlaceChances(
        start=start, place=place, chance=chance, upto=running - before[owner]
    )
    first = np.searchsorted(kept, np.arange(places + 1) * places)
    return following, PairContexts(pairs=kept, start=first)


def _sparse(table: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns a table by rows, without what is negligible."""
    row, column = np.nonzero(table > _NEGLIGIBLE * table.sum(axis=1, keepdims=True) / len(table))
    return np.bincount(row, minlength=len(table)), column, table[row, column]
