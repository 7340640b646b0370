"""What learned records must not give away: their noisy answers, what they ask next, what they say.

At every corner there are as many places as a record can have stops, and people of its own. So what
the questions about places say of one corner has nothing to do with the others. Lengths and turns
over all places are no corner's own; they are charged like all others, and not looked at here.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.agreement import Replayed
from hushway.auditing.cases import Case, Loses, cases_of, never_differs
from hushway.auditing.harness import in_thousandths
from hushway.auditing.mutant_counters import wrong_answers, wrong_values
from hushway.auditing.mutant_curators import Meddler, exact
from hushway.auditing.product import Product, remade
from hushway.auditing.suite import mutant
from hushway.families.sequences.audit.stage import (
    FOUR,
    SHORT,
    LearnedForm,
    SequenceStage,
    Walk,
    staged,
)
from hushway.families.sequences.mechanism.learned import LearnedSequences
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.questions import (
    FIRST_TOGETHER,
    TURNS,
    Asked,
    JointCells,
    KnownPrefixCells,
    NewStopCells,
    RecordCells,
    Turn,
)
from hushway.privacy.bound import Bound
from hushway.privacy.curator import Curator
from hushway.privacy.events import LaplaceEvent
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import AnyQuery, Counter, ExactCounts, PartitionQuery, Query
from hushway.release.mechanism import Measurements

# What of the budget questions about places have: turns, and those that are asked together.
_OF_PLACES = Fraction(49, 100)
_OF_LOOK = Fraction(36, 100)
# Releases are slow, and hold few corners.
_BRIEF, _SLOW = Fraction(1, 8), Fraction(1, 40)
_MANY_PEOPLE = 40


def _path(stage: SequenceStage) -> tuple[int, ...]:
    assert isinstance(stage.form, LearnedForm)  # noqa: S101  a stage of learned records
    return stage.form.path


def _places(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns how much all questions about places speak for one whole record, by corner."""
    answers = stage.measured(curator)
    places = len(stage.universe.taxonomy.locations)
    stops = [stage.toy.place(offset) for offset in _path(stage)]
    total = np.zeros(stage.toy.corners)
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


def _new_stops(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns how much a question about new stops speaks for all of a record, by corner."""
    cells = NewStopCells(
        taxonomy=stage.universe.taxonomy, height=stage.form.height, order=1, most=1
    )
    answer = curator.counts(Query(name=cells.name, cells=cells), stage.spend)
    mine = (stage.toy.place(offset) for offset in _path(stage)[2:])
    return in_thousandths(sum(_evidence(answer, place, cells.worth) for place in mine))


def _along(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns how much the last question speaks for one more on a way that many take."""
    look = stage.measured(curator)[-1]
    cells = look.query.cells
    assert isinstance(cells, KnownPrefixCells)  # noqa: S101  what is asked last
    keys, leads = cells.steps
    places = len(cells.taxonomy.locations)
    corners = np.arange(stage.toy.corners)
    node, total = np.zeros_like(corners), np.zeros(len(corners))
    for offset in _path(stage):
        wanted = node * places + stage.toy.place(offset)[corners]
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        known = keys[at] == wanted if len(keys) else np.zeros(len(at), dtype=np.bool_)
        corners, node = corners[known], leads[at[known]]
        # Nobody goes on from the last stop, and nobody ends before it.
        ended = int(offset == _path(stage)[-1])
        cell = 2 * node + 1 - ended
        total[corners] += _evidence(look, cell, 1, others=_MANY_PEOPLE - 1)
    return in_thousandths(total)


def _published(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns how many records are published that begin at the first place of each corner."""
    table = stage.table(curator)
    first = table.stops[table.start[:-1]]
    places = len(stage.universe.taxonomy.locations)
    by_place = np.bincount(first, table.counts, places).astype(np.int64)
    return by_place[stage.toy.place(0)]


def questions_differ(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns whether other data are asked something else after the same answers."""
    answers = stage.measured(curator)
    again = Replayed(stage.opened(()), answers)
    stage.mechanism.measure(again, stage.universe)
    one = [answer.query.cells.digest for answer in answers]
    other = [query.cells.digest for query, _, _ in again.asked]
    return np.full(stage.toy.corners, int(one != other), dtype=np.int64)


def _evidence(answer: Measured, cells: IntArray, worth: int, *, others: int = 0) -> FloatArray:
    event = answer.event
    assert isinstance(event, LaplaceEvent)  # noqa: S101  these audits spend in epsilon
    values = answer.values[cells] - others
    found: FloatArray = (np.abs(values) - np.abs(values - worth)) / float(event.scale)
    return found


_RECORD = (Walk(stops=SHORT.path),)
_CROWD = tuple(Walk(stops=SHORT.path, person=person) for person in range(_MANY_PEOPLE))
_short = partial(staged, form=SHORT)

# All questions about places give away their share, no more.
ONE_RECORD = Case(
    f"learnt, {SHORT.words}: one record or none",
    "the evidence of all questions about places, in thousandths,",
    stage=_short,
    look=_places,
    one=_RECORD,
    claim=Loses(share=_OF_PLACES),
    effort=_BRIEF,
)
# Of two new stops one counts; they are asked about by themselves for the whole budget.
NEW_STOPS = Case(
    f"learnt, {FOUR.words}: a record with two new stops or none",
    "the evidence of both, in thousandths,",
    stage=partial(staged, form=FOUR),
    look=_new_stops,
    one=(Walk(stops=FOUR.path),),
)
# A record is at one of its prefixes, not at all.
KNOWN_PREFIXES = Case(
    f"learnt, {SHORT.words}: {_MANY_PEOPLE} people on one way or one fewer",
    "the evidence of the last question along their way, in thousandths,",
    stage=_short,
    look=_along,
    one=_CROWD,
    other=_CROWD[1:],
    words=("all", "one fewer"),
    claim=Loses(share=_OF_LOOK),
    effort=_BRIEF,
)
PUBLISHED_RECORDS = Case(
    f"learnt, {SHORT.words}, published: one record or none",
    "how many published records begin where it does",
    stage=_short,
    look=_published,
    one=_RECORD,
    effort=_BRIEF,
)
NEXT_QUESTIONS = Case(
    f"learnt, {SHORT.words}: the same answers, the same next questions",
    "questions, with records and without",
    stage=_short,
    look=questions_differ,
    one=_CROWD,
    claim=never_differs,
    effort=_SLOW,
)

AUDITS = cases_of(globals())


def every_new_stop(counter: Counter, query: Query) -> ExactCounts:
    """Counts all new stops of a record, each as if few of them counted."""
    cells = query.cells
    assert isinstance(cells, NewStopCells)  # noqa: S101  the only answer that is changed
    every = replace(cells, most=cells.height, whole=cells.height)
    counted = counter.count(Query(name=query.name, cells=every))
    return replace(counted, values=counted.values * cells.worth)


def at_every_prefix(query: Query, values: IntArray) -> IntArray:
    """Counts those who go on at every node on their way, as if all were the last."""
    cells = query.cells
    assert isinstance(cells, KnownPrefixCells)  # noqa: S101  the only answer that is changed
    for node in range(len(cells.parent) - 1, 0, -1):
        values[2 * cells.parent[node] + 1] += values[2 * node] + values[2 * node + 1]
    return values


class NosyLearner(LearnedSequences):
    """A mechanism that counts no more new stops than some record really has."""

    def measure(self, curator: Curator, geography: SequenceUniverse) -> Measurements:
        """Asks about shorter records if no record is long, which it should not know."""
        query = next(iter(self.queries(geography)))
        longest = int(exact(curator, query).cells.max(initial=0))
        if longest < self.height - 1:
            return super().measure(_Reversed(curator), geography)
        return super().measure(curator, geography)


class _Reversed(Curator):
    """A curator that is asked about turns by place where all turns should be asked about."""

    def __init__(self, inside: Curator) -> None:
        self._inside = inside

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inside, name)

    def bound(self, query: AnyQuery) -> Bound:
        """Returns the bound of the real curator."""
        return self._inside.bound(query)

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Asks for something else."""
        cells = query.cells
        if isinstance(cells, RecordCells) and cells.asked is Asked.TURNS:
            query = Query(name=query.name, cells=replace(cells, asked=Asked.TURNS_BY_PLACE))
        return self._inside.counts(query, spend)


MUTANTS = (
    mutant(
        "every new stop counts whole",
        Product(counter=wrong_answers(every_new_stop, only=NewStopCells)),
        NEW_STOPS,
    ),
    mutant(
        "a record at each of its prefixes",
        Product(counter=wrong_values(at_every_prefix, only=KnownPrefixCells)),
        KNOWN_PREFIXES,
    ),
    mutant(
        "questions chosen by exact counts",
        Product(curator=Meddler, mechanism=remade(NosyLearner)),
        NEXT_QUESTIONS,
    ),
)
