"""What learnt records must not give away: their noisy answers, what they ask next, what they say.

At every corner there are as many places as a record can have stops, and people of its own. So what
the questions about places say of one corner has nothing to do with the others. Lengths and turns
over all places are no corner's own; they are charged like all others, and not looked at here.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.audit.agreement import AlwaysSame, Replayed
from hushway.audit.harness import Examination, Trial, in_thousandths
from hushway.audit.product import Stage
from hushway.families.sequences.audit.product import (
    NO_WALKS,
    SequenceProduct,
    SequenceTerms,
    ToyUniverse,
    Walk,
    WalkRows,
    Walks,
    toy_universe,
)
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.public.questions import (
    TURNS,
    Asked,
    KnownPrefixCells,
    NewStopCells,
    Turn,
)
from hushway.families.sequences.rows.sequences import TapsSource
from hushway.privacy.curator import Curator
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.measured import Measured

# The questions that are looked at: what of the budget they have, and where they stand.
_OF_PLACES = Fraction(49, 100)
_OF_PAIRS = Fraction(14, 100)
_OF_LOOK = Fraction(36, 100)
_NEW_STOPS, _PAIRS, _LOOK = len(Asked), len(Asked) + 1, -1
# Releases are slow, and hold few corners.
_BRIEF, _SLOW = Fraction(1, 8), Fraction(1, 40)
_MANY_PEOPLE = 40


@dataclass(frozen=True, kw_only=True)
class LearntForm:
    """Learnt records in a toy universe.

    Attributes:
        words: What it is called in findings.
        toy: Where records are.
        height: The most stops of a record.
    """

    words: str
    toy: ToyUniverse
    height: int

    @property
    def path(self) -> tuple[int, ...]:
        """The places of the longest record of a corner, each of them once."""
        return tuple(range(self.height))

    def make(self, budget: Loss) -> LearnedSequences:
        """Returns the mechanism, as a plan has it."""
        return LearnedSequences(
            universe=self.toy.universe, height=self.height, spends=learned_spends(budget)
        )


SHORT = LearntForm(words="three stops", toy=toy_universe(corners=60, groups=3), height=3)
LONG = LearntForm(words="six stops", toy=toy_universe(corners=30, groups=6), height=6)


@dataclass(frozen=True, kw_only=True)
class LearntStage(Stage[Walk, WalkRows, TapsSource, SequenceTerms, LearnedSequences]):
    """Learnt records of one form; one record of a person counts."""

    product: SequenceProduct
    form: LearntForm

    @property
    def toy(self) -> ToyUniverse:
        """Where records are."""
        return self.form.toy

    @cached_property
    def mechanism(self) -> LearnedSequences:
        """The mechanism that every release uses, as the product under audit has it."""
        made: LearnedSequences = self.product.mechanism(self.form.make(self.spend))
        return made

    @property
    def terms(self) -> SequenceTerms:
        """The public terms of every release."""
        return SequenceTerms(universe=self.toy.universe, max_stops=self.form.height, max_records=1)

    def play(self, scene: Walks) -> WalkRows:
        """Returns the records of a scene that plays at every corner."""
        return self.toy.play(scene)


@dataclass(frozen=True, kw_only=True)
class LearntLook:
    """Learnt records on their stage."""

    stage: LearntStage

    def answers(self, curator: Curator) -> list[Measured]:
        """Returns all noisy answers."""
        measured = self.stage.mechanism.measure(curator, self.stage.toy.universe)
        return [answer for answer in measured if isinstance(answer, Measured)]

    def evidence(self, curator: Curator) -> IntArray:
        """Returns how much all questions about places speak for one whole record, by corner."""
        answers = self.answers(curator)
        total = np.zeros(self.stage.toy.corners)
        for number, cells in self._cells():
            answer = answers[number]
            asked = answer.query.cells
            worth = asked.worth if isinstance(asked, NewStopCells) else 1
            total += _evidence(answer, cells, worth)
        return in_thousandths(total)

    def _cells(self) -> list[tuple[int, IntArray]]:
        """Returns the cells that the longest record of each corner is in, by question."""
        places = len(self.stage.toy.universe.taxonomy.locations)
        stops = [self.stage.toy.place(offset) for offset in self.stage.form.path]
        turns = [(Asked.TURNS_BY_PLACE, stop * TURNS + Turn.TO_NEW) for stop in stops[:-1]]
        pairs = pairwise(stops[1:])
        return [
            (Asked.FIRSTS, stops[0]),
            (Asked.LASTS, stops[-1]),
            (Asked.FIRST_TWO, stops[0] * (places + 1) + stops[1]),
            *turns,
            *((_NEW_STOPS, stop) for stop in stops[2:]),
            *((_PAIRS, before * places + stop) for before, stop in pairs),
        ]

    def new_pairs(self, curator: Curator) -> IntArray:
        """Returns how much the question about new pairs speaks for one whole record, by corner."""
        answer = self.answers(curator)[_PAIRS]
        asked = answer.query.cells
        assert isinstance(asked, NewStopCells)  # noqa: S101  what is asked there
        cells = [cells for number, cells in self._cells() if number == _PAIRS]
        return in_thousandths(sum(_evidence(answer, each, asked.worth) for each in cells))

    def along(self, curator: Curator) -> IntArray:
        """Returns how much the last question speaks for one more on a way that many take."""
        look = self.answers(curator)[_LOOK]
        cells = look.query.cells
        assert isinstance(cells, KnownPrefixCells)  # noqa: S101  what is asked last
        keys, leads = cells.steps
        places = len(cells.taxonomy.locations)
        corners = np.arange(self.stage.toy.corners)
        node, total = np.zeros_like(corners), np.zeros(len(corners))
        for offset in self.stage.form.path:
            wanted = node * places + self.stage.toy.place(offset)[corners]
            at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
            known = keys[at] == wanted if len(keys) else np.zeros(len(at), dtype=np.bool_)
            corners, node = corners[known], leads[at[known]]
            # Nobody goes on from the last stop, and nobody ends before it.
            ended = int(offset == self.stage.form.path[-1])
            cell = 2 * node + 1 - ended
            total[corners] += _evidence(look, cell, 1, others=_MANY_PEOPLE - 1)
        return in_thousandths(total)

    def published(self, curator: Curator) -> IntArray:
        """Returns how many records are published that begin at the first place of each corner."""
        universe = self.stage.toy.universe
        mechanism = self.stage.mechanism
        table = mechanism.fit(mechanism.measure(curator, universe), universe)
        first = table.stops[table.start[:-1]]
        places = len(universe.taxonomy.locations)
        by_place = np.bincount(first, table.counts, places).astype(np.int64)
        return by_place[self.stage.toy.place(0)]

    def differ(self, curator: Curator) -> IntArray:
        """Returns whether other data are asked something else after the same answers."""
        answers = self.answers(curator)
        again = Replayed(self.stage.opened(NO_WALKS), answers)
        self.stage.mechanism.measure(again, self.stage.toy.universe)
        one = [answer.query.cells.digest for answer in answers]
        other = [query.cells.digest for query, _, _ in again.asked]
        return np.full(self.stage.toy.corners, int(one != other), dtype=np.int64)


def _evidence(answer: Measured, cells: IntArray, worth: int, *, others: int = 0) -> FloatArray:
    event = answer.event
    assert isinstance(event, LaplaceEvent)  # noqa: S101  these audits pay in epsilon
    values = answer.values[cells] - others
    found: FloatArray = (np.abs(values) - np.abs(values - worth)) / float(event.scale)
    return found


def one_record(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One whole record against none: all questions about places give away their share, no more."""
    stage = LearntStage(product=product, form=SHORT, spend=PureLoss(epsilon))
    return Trial(
        name=f"learnt, {SHORT.words}: one record or none",
        statistic="the evidence of all questions about places, in thousandths,",
        epsilon=epsilon * _OF_PLACES,
        worlds=stage.worlds(LearntLook(stage=stage).evidence, _the_record(SHORT)),
        effort=_BRIEF,
    )


def many_new_stops(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A record of many new stops against none: however many count, they share what it is worth."""
    stage = LearntStage(product=product, form=LONG, spend=PureLoss(epsilon))
    return Trial(
        name=f"learnt, {LONG.words}: a record of new stops or none",
        statistic="the evidence of the question about new pairs, in thousandths,",
        epsilon=epsilon * _OF_PAIRS,
        worlds=stage.worlds(LearntLook(stage=stage).new_pairs, _the_record(LONG)),
        effort=_BRIEF,
    )


def known_prefixes(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One more person on a way that many take: a record is at one of its prefixes, not at all."""
    stage = LearntStage(product=product, form=SHORT, spend=PureLoss(epsilon))
    crowd = tuple(Walk(stops=SHORT.path, person=person) for person in range(_MANY_PEOPLE))
    return Trial(
        name=f"learnt, {SHORT.words}: {_MANY_PEOPLE} people on one way or one fewer",
        statistic="the evidence of the last question along their way, in thousandths,",
        epsilon=epsilon * _OF_LOOK,
        worlds=stage.worlds(
            LearntLook(stage=stage).along, ("all", crowd), ("one fewer", crowd[1:])
        ),
        effort=_BRIEF,
    )


def published_records(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none, as it is published."""
    stage = LearntStage(product=product, form=SHORT, spend=PureLoss(epsilon))
    return Trial(
        name=f"learnt, {SHORT.words}, published: one record or none",
        statistic="how many published records begin where it does",
        epsilon=epsilon,
        worlds=stage.worlds(LearntLook(stage=stage).published, _the_record(SHORT)),
        effort=_BRIEF,
    )


def next_questions(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """The same noisy answers with and without records: the same must be asked next."""
    stage = LearntStage(product=product, form=SHORT, spend=PureLoss(epsilon))
    crowd = tuple(Walk(stops=SHORT.path, person=person) for person in range(_MANY_PEOPLE))
    return AlwaysSame(
        name=f"learnt, {SHORT.words}: the same answers, the same next questions",
        statistic="questions, with records and without",
        epsilon=epsilon,
        sample=stage.sampler(crowd, LearntLook(stage=stage).differ),
        effort=_SLOW,
    )


def _the_record(form: LearntForm) -> tuple[str, Walks]:
    return "the person", (Walk(stops=form.path),)
