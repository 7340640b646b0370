"""Where records go that go somewhere new: chances given one place before, or two."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.fit.beginnings import Answer, Beginnings
from hushway.families.sequences.fit.expectation import fitted, margin, surprise
from hushway.families.sequences.fit.posterior import Posterior, posterior

# A pair of places is a context if it is expected to be followed by something new at least as often
# as one scale of the noise; a triple is asked about from a fiftieth of that on.
_CONTEXT, _CANDIDATE = 1.0, 0.02
# What makes no difference is left out: this share of what the next place gets on average.
_NEGLIGIBLE: Final = 1e-3
_TINY: Final = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class NewPairs:
    """New stops after the second, by the place before and their own.

    Attributes:
        believed: What is believed about each pair, as a table.
        scale: How many new stops there are for each that was counted.
    """

    believed: Posterior
    scale: float


def learn_pairs(known: Beginnings, by_place: Answer, pairs: Answer, *, most: int) -> NewPairs:
    """Learns where records go that go somewhere new.

    Args:
        known: What is known of the beginnings.
        by_place: New stops by place.
        pairs: New stops by the place before and their own.
        most: How many new stops of a record were counted.
    """
    places = known.places
    counted = max(known.outline.reached(most), _TINY)
    two = known.two.mean[:, :places]
    seconds = two.sum(axis=0)
    columns = margin(by_place.values, by_place.noise, known.firsts + seconds, counted)
    # Who leaves a place was there before: second, or as a new stop.
    usual = np.maximum(seconds + columns, 1e-6)
    usual *= columns.sum() / usual.sum()
    table = pairs.values.reshape(places, places)
    blurred = pairs.noise.variance * places
    spread = np.maximum(usual, 1.0) ** 2 / 4
    rows = np.maximum((table.sum(axis=1) * spread + usual * blurred) / (spread + blurred), 1e-3)
    rows *= columns.sum() / rows.sum()
    more = surprise(two, known.expected_two[:, :places])
    expected = fitted(table, rows, columns, (known.ring, more, more.T))
    np.fill_diagonal(expected, 0.0)
    found = posterior(table.ravel(), expected.ravel(), pairs.noise)
    mean = found.mean.reshape(places, places)
    np.fill_diagonal(mean, 0.0)
    scale = known.outline.new_stops / counted
    variance = found.variance.reshape(places, places) * scale**2
    return NewPairs(believed=Posterior(mean=mean * scale, variance=variance), scale=scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class Triples:
    """New stops that are worth asking about with the two places before them.

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


def triples_to_ask(known: Beginnings, pairs: NewPairs, noise: float) -> Triples:
    """Returns the triples that are expected often enough to be told from noise.

    Args:
        known: What is known of the beginnings.
        pairs: What is known of new stops.
        noise: The scale of the noise in a count of triples.
    """
    places = known.places
    mean = pairs.believed.mean / max(pairs.scale, _TINY)
    arrivals = known.two.mean[:, :places] / max(pairs.scale, _TINY) + mean
    leaving = mean.sum(axis=1)
    goes_on = np.minimum(leaving / np.maximum(arrivals.sum(axis=0), _TINY), 1.0)
    followed = arrivals * goes_on
    np.fill_diagonal(followed, 0.0)
    contexts = np.flatnonzero(followed.ravel() >= _CONTEXT * noise)
    before, here = np.divmod(contexts, places)
    chance = mean / np.maximum(leaving, _TINY)[:, None]
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Contexts:
    """Chances of the next new place in every context, one context after the other.

    The first contexts are single places, the next ones first stops, then come pairs of places.

    Attributes:
        start: Where each context begins; one entry more than contexts.
        place: The places that may follow.
        chance: How likely each is, given that something new follows.
        upto: Chances summed up within the context.
        pairs: The pairs of places that are contexts of their own, ascending.
    """

    start: IntArray
    place: IntArray
    chance: FloatArray
    upto: FloatArray
    pairs: IntArray


def join_contexts(
    known: Beginnings, pairs: NewPairs, triples: Triples, answer: Answer | None
) -> Contexts:
    """Returns the chances in all contexts.

    Args:
        known: What is known of the beginnings.
        pairs: What is known of new stops after one place.
        triples: Those that were asked about after two.
        answer: The noisy counts of the triples; None if there are none.
    """
    places = known.places
    two = known.two.mean[:, :places].copy()
    np.fill_diagonal(two, 0.0)
    parts = [_sparse(pairs.believed.mean), _sparse(two)]
    kept = triples.contexts[:0]
    if answer is not None:
        mean = posterior(answer.values, triples.expected, answer.noise).mean
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
    return Contexts(
        start=start, place=place, chance=chance, upto=running - before[owner], pairs=kept
    )


def _sparse(table: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns a table by rows, without what is negligible."""
    row, column = np.nonzero(table > _NEGLIGIBLE * table.sum(axis=1, keepdims=True) / len(table))
    return np.bincount(row, minlength=len(table)), column, table[row, column]
