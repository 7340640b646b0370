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
    FIRST_TOGETHER,
    TURNS,
    Asked,
    JointCells,
    KnownPrefixCells,
    NewStopCells,
    Turn,
)
from hushway.families.sequences.rows.sequences import TapsSource
from hushway.privacy.curator import Curator
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.loss import Loss, PureLoss
from hushway.privacy.measured import Measured
from hushway.privacy.query import Query

# What of the budget questions about places have: turns, and those that are asked together.
_OF_PLACES = Fraction(49, 100)
_OF_LOOK = Fraction(36, 100)
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
FOUR = LearntForm(words="four stops", toy=toy_universe(corners=400, groups=4), height=4)


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
        places = len(self.stage.toy.universe.taxonomy.locations)
        stops = [self.stage.toy.place(offset) for offset in self.stage.form.path]
        total = np.zeros(self.stage.toy.corners)
        for stop in stops[:-1]:
            total += _evidence(answers[Asked.TURNS_BY_PLACE], stop * TURNS + Turn.TO_NEW, 1)
        joint = answers[FIRST_TOGETHER]
        cells = joint.query.cells
        assert isinstance(cells, JointCells)  # noqa: S101  what is asked there
        inside = (
            [stops[0]],
            [stops[-1]],
            [stops[0] * (places + 1) + stops[1]],
            stops[2:],
            [before * places + stop for before, stop in pairwise(stops[1:])],
        )
        first = 0
        for part, worth, mine in zip(cells.parts, cells.worths, inside, strict=True):
            each = part.worth if isinstance(part, NewStopCells) else worth
            for cell in mine:
                total += _evidence(joint, first + cell, each)
            first += part.size
        return in_thousandths(total)

    def new_stops(self, curator: Curator) -> IntArray:
        """Returns how much a question about new stops speaks for all of a record, by corner."""
        stage = self.stage
        cells = NewStopCells(
            taxonomy=stage.toy.universe.taxonomy, height=stage.form.height, order=1, most=1
        )
        answer = curator.counts(Query(name=cells.name, cells=cells), stage.spend)
        mine = (stage.toy.place(offset) for offset in stage.form.path[2:])
        return in_thousandths(sum(_evidence(answer, place, cells.worth) for place in mine))

    def along(self, curator: Curator) -> IntArray:
        """Returns how much the last question speaks for one more on a way that many take."""
        look = self.answers(curator)[-1]
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
    assert isinstance(event, LaplaceEvent)  # noqa: S101  these audits spend in epsilon
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


def new_stops(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Two new stops of one record where one counts, asked by themselves for the whole budget."""
    stage = LearntStage(product=product, form=FOUR, spend=PureLoss(epsilon))
    return Trial(
        name=f"learnt, {FOUR.words}: a record with two new stops or none",
        statistic="the evidence of both, in thousandths,",
        epsilon=epsilon,
        worlds=stage.worlds(LearntLook(stage=stage).new_stops, _the_record(FOUR)),
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
