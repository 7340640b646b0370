"""What other steps of a series say of the numbers of one, added to its own noisy answers.

1. A place of which another step says something else than this one, beyond noise and what is usual,
   has changed since: nothing is learnt from that step of what has to do with that place.
2. Of every question, what other steps say is added up, each weighted by how sure it is.
3. How far true numbers stray from that is learnt from all numbers of the question. Then each number
   is the mean of both, weighted by how sure they are.

Privacy:
    Everything here is computed from noisy values and public places: no row, no budget.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.fit.answers import Answer, believed, surer
from hushway.families.sequences.fit.changes import unchanged_places
from hushway.families.sequences.fit.expectation import expect
from hushway.families.sequences.fit.laying import Laid, Overlay, groups_of
from hushway.families.sequences.fit.ngrams import (
    NewPairs,
    join_contexts,
    learn_pairs,
    triples_asked,
)
from hushway.families.sequences.fit.prediction import Prediction, predict
from hushway.families.sequences.fit.record_model import RecordModel, learn_record_model
from hushway.families.sequences.fit.steps import LOOK, PAIRS, StepAnswers
from hushway.families.sequences.fit.stray import learn_stray
from hushway.families.sequences.public.questions import Asked
from hushway.numerics.breaks import doubted

# A step counts so much less for each step that it is further away.
_FADES: Final = 0.9
# Steps whose numbers are further off than those that are expected without them are left out: if
# this much further, in parts, and if noise does not hide it.
_WORSE, _SEEN = 0.5, 0.05
# By how much numbers move with their group, in parts of themselves.
_MOST_FALL, _MOST_RISE = 0.9, 2.0
# Numbers that are known to so few records say by themselves which are nothing at all.
_FINE: Final = 4.0
_NOTHING: Final = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What is known of a step and predicted of it.

    Attributes:
        tree: The prefixes that were looked at, with what is expected of them.
    """

    known: RecordModel
    pairs: NewPairs
    tree: Prediction

    def expected(self, question: int) -> FloatArray | None:
        """Returns what is expected of the numbers of a question that is about many of them."""
        if question == Asked.FIRST_TWO:
            return self.known.expected_two.ravel()
        if question == PAIRS:
            return self.pairs.expected.ravel()
        return None


def learnt_again(
    own: StepAnswers, alone: Known, others: Iterable[tuple[int, StepAnswers]], least: float
) -> Known:
    """Returns what is known and predicted of a step if other steps are heard.

    Which triples and prefixes were looked at stays: that was decided by this step alone. How
    records end is learnt from all prefixes that would be looked at now.

    Args:
        alone: What is known without them.
        least: How many records are expected of prefixes that are worth a look.
    """
    *first, by_place, by_pair, triples = learnt_answers(own, alone, others)
    known = learn_record_model(first, own.look.taxonomy.locations, own.look.height)
    pairs = learn_pairs(known, by_place, by_pair, most=own.most)
    asked = triples_asked(known, pairs, own.grams)
    contexts = join_contexts(known, pairs, asked, triples if len(own.grams) else None)
    model = predict(known, contexts, least).model
    return Known(known=known, pairs=pairs, tree=expect(known, model, own.look))


def learnt_answers(
    own: StepAnswers, alone: Known, others: Iterable[tuple[int, StepAnswers]]
) -> tuple[Answer, ...]:
    """Returns the answers of a step but the last look, with what other steps, so many away, say."""
    steps, mine = list(others), own.answers[:LOOK]
    if not steps:
        return mine
    overlays = [Overlay(own=own, other=other) for _, other in steps]
    away = [far for far, _ in steps]
    pools = [_Pool.of(answer) for answer in mine]
    same = unchanged_places(overlays, np.array(away))
    for both, far, known in zip(overlays, away, same, strict=True):
        for pool, laid in zip(pools, both.all(known), strict=True):
            pool.add(laid, _FADES ** abs(far))
    found = [
        _added(answer, pool, groups_of(own, question), alone.expected(question))
        for question, (answer, pool) in enumerate(zip(mine, pools, strict=True))
    ]
    # The number of all records is this step's own.
    lengths, told = own.answers[Asked.LENGTHS], found[Asked.LENGTHS]
    scale = lengths.values.sum() / max(float(told.values.sum()), 1.0)
    found[Asked.LENGTHS] = surer(told, told.values * scale, told.variance)
    return tuple(found)


@dataclass(kw_only=True, eq=False)
class _Pool:
    """Weighted sums of what other steps say of the numbers of a question.

    Attributes:
        weight: How much all of them count.
        values: Their numbers, by weight.
        noise: The variances of these.
        squares: The squared weights.
    """

    weight: FloatArray
    values: FloatArray
    noise: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, answer: Answer) -> "_Pool":
        """Returns an empty one."""
        nothing = (np.zeros(answer.values.size) for _ in range(4))
        return cls(**dict(zip(("weight", "values", "noise", "squares"), nothing, strict=True)))

    def add(self, laid: Laid, fade: float) -> None:
        """Adds a step."""
        weight = np.where(laid.known, fade / laid.variance, 0.0)
        self.weight += weight
        self.values += weight * laid.values
        self.noise += weight**2 * laid.variance
        self.squares += weight**2


def _added(
    own: Answer, pool: _Pool, groups: Sequence[IntArray], usual: FloatArray | None
) -> Answer:
    """Returns an answer with what other steps say of it, as far as they know it and agree.

    Args:
        groups: Groups of its numbers that move together.
        usual: What is expected of its numbers without other steps.
    """
    flat = own.flat
    some = np.flatnonzero(pool.weight > 0)
    if not len(some) or own.noise.variance < _FINE**2:
        return own
    weight = pool.weight[some]
    expected, noise = pool.values[some] / weight, pool.noise[some] / weight**2
    before = surer(Answer(values=expected, noise=own.noise), expected, noise)
    level = believed(before, np.ones(len(some)), fewest=len(some), free=True).mean
    mine = own.noise.variance
    for group in groups:
        moved = _group_moves(flat.values[some] - expected, (mine, noise), level, group[some])
        expected, level = expected + moved, level + moved
    apart = flat.values[some] - expected
    # This step strays by chance, and so do the others, which are averaged.
    times = 1 + pool.squares[some] / weight**2
    if usual is not None:
        # Where this step expects something and the others have nothing, something may be.
        level = np.maximum(level, usual[some])
    found = learn_stray(apart, mine + noise, level, times)
    stray = found.of(level)
    if usual is not None:
        alone = learn_stray(flat.values[some] - usual[some], np.full(len(some), mine), level)
        if _is_another_city(stray, alone.of(level), mine):
            return own
    stray *= times
    doubt = noise + stray
    doubt = doubted(apart, mine, doubt)
    trust = doubt / (doubt + mine)
    values, variance = flat.values.copy(), flat.variance.copy()
    values[some] = expected + trust * apart
    variance[some] = trust * mine
    return surer(own, values.reshape(own.values.shape), variance.reshape(own.values.shape))


def _is_another_city(stray: FloatArray, alone: FloatArray, noise: float) -> bool:
    """Whether numbers stray further from other steps than from what this one alone expects."""
    further = float(stray.mean() - alone.mean())
    return further > max(_WORSE * float(alone.mean()), _SEEN * noise)


def _group_moves(
    apart: FloatArray, noise: tuple[float, FloatArray], level: FloatArray, group: IntArray
) -> FloatArray:
    """Returns by how much expected numbers move with the sums of their groups.

    What many small numbers have in common shows in their sum long before it shows in them.
    """
    inside, size = group >= 0, int(group.max(initial=-1)) + 1

    def added(values: FloatArray) -> FloatArray:
        return np.bincount(group[inside], values[inside], size).astype(np.float64)

    own, theirs, sums = added(np.full(len(group), noise[0])), added(noise[1]), added(level)
    off = added(apart)
    some = sums > 0
    stray = np.zeros(size)
    stray[some] = learn_stray(off[some], (own + theirs)[some], sums[some]).of(sums[some])
    doubt = theirs + stray
    share = np.where(
        some, doubt / np.maximum(doubt + own, _NOTHING) * off / np.maximum(sums, _NOTHING), 0.0
    )
    # No number falls below nothing, or rises without end.
    factor = np.clip(share, -_MOST_FALL, _MOST_RISE)
    return np.asarray(np.where(inside, factor[group] * level, 0.0))
