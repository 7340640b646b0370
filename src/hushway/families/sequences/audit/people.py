"""What completed records must not give away: how many records somebody has, and where the rest are.

How many people have how many records is asked of all corners together, so one release is one run.
"""

from dataclasses import replace
from fractions import Fraction
from functools import partial

from hushway.arrays import IntArray
from hushway.auditing.cases import Case, Shifts, cases_of, never_differs
from hushway.auditing.harness import evidence, in_thousandths
from hushway.auditing.mutant_counters import wrong_answers, wrong_values
from hushway.auditing.mutant_curators import Meddler, exact
from hushway.auditing.product import Product, dense, remade
from hushway.auditing.suite import mutant
from hushway.families.sequences.audit.learned import questions_differ
from hushway.families.sequences.audit.stage import ALONE, PEOPLE, SequenceStage, Walk, staged
from hushway.families.sequences.mechanism.people import PeopleSequences
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.questions import Asked, RecordCells
from hushway.privacy.contribution import LADDER, RankedCells, UnitsByRecords
from hushway.privacy.curator import Curator
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.release.mechanism import Measurements

_BRIEF, _SLOW = Fraction(1, 8), Fraction(1, 40)
_RECORDS, _MANY_PEOPLE = 12, 20
_FIRST, _LAST = 1, 3


def _classes(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns how much all classes up to somebody's own speak for that person."""
    query, _ = stage.mechanism.histogram
    answer = curator.counts(query, stage.spend)
    own = LADDER.index(_RECORDS) + 1
    return in_thousandths([evidence(answer.values[:own], answer.event, 1).sum()])


def _beyond(stage: SequenceStage, curator: Curator) -> IntArray:
    """Returns how much records beyond a limit speak for somebody with many, by corner."""
    firsts = RecordCells(
        taxonomy=stage.universe.taxonomy, height=stage.form.height, asked=Asked.FIRSTS
    )
    cells = RankedCells(base=firsts, first=_FIRST, last=_LAST)
    answer = curator.counts(Query(name=cells.name, cells=cells), stage.spend)
    values = answer.values[stage.toy.place(0)]
    return in_thousandths(evidence(values, answer.event, _LAST - _FIRST))


_ALL = PEOPLE.path

CLASSES = Case(
    f"Gaussian, {PEOPLE.words}: somebody with {_RECORDS} records is in one class",
    "the evidence of all classes up to that number, in thousandths,",
    stage=partial(staged, form=ALONE, gaussian=True),
    look=_classes,
    one=(Walk(stops=_ALL, times=_RECORDS),),
    claim=Shifts(),
    effort=_BRIEF,
)
BEYOND_THE_LIMIT = Case(
    f"{PEOPLE.words}: somebody with {_RECORDS} records or nobody",
    "the evidence of records beyond the limit by first stop, in thousandths,",
    stage=partial(staged, form=PEOPLE),
    look=_beyond,
    one=(Walk(stops=_ALL, times=_RECORDS),),
)
SAME_LIMITS = Case(
    f"{PEOPLE.words}: the same answers, the same limits and questions",
    "questions, with records and without",
    stage=partial(staged, form=PEOPLE),
    look=questions_differ,
    one=tuple(Walk(stops=_ALL, person=person, times=_RECORDS) for person in range(_MANY_PEOPLE)),
    claim=never_differs,
    effort=_SLOW,
)

AUDITS = cases_of(globals())


def in_all_classes(_query: Query, values: IntArray) -> IntArray:
    """Counts people in the class of their number of records, and in all below it."""
    return values[::-1].cumsum()[::-1]


def without_an_end(counter: Counter, query: Query) -> ExactCounts:
    """Counts all records beyond the limit, however many one person has."""
    cells = query.cells
    assert isinstance(cells, RankedCells)  # noqa: S101  the only answer that is changed
    return counter.count(Query(name=query.name, cells=replace(cells, last=LADDER[-1])))


class NosyLimits(PeopleSequences):
    """A mechanism that chooses its limits by exact numbers of people."""

    def measure(self, curator: Curator, _geography: SequenceUniverse) -> Measurements:
        """Asks how many records people have, and what limits leave out that nobody should know."""
        query, spend = self.histogram
        first = curator.counts(query, spend)
        people = dense(exact(curator, query), query).tolist()
        known = replace(self, people=tuple(people))
        return (first, *(curator.counts(*question) for question in known.left_out()))


MUTANTS = (
    mutant(
        "a person in every class up to their own",
        Product(counter=wrong_values(in_all_classes, only=UnitsByRecords)),
        CLASSES,
    ),
    mutant(
        "left-out records without an end",
        Product(counter=wrong_answers(without_an_end, only=RankedCells)),
        BEYOND_THE_LIMIT,
    ),
    mutant(
        "limits chosen by exact numbers of people",
        Product(curator=Meddler, mechanism=remade(NosyLimits)),
        SAME_LIMITS,
    ),
)
