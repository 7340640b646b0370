"""Sequences of all records of people, of whom a limited number is looked at closely.

1. Measure how many people have how many records, and choose limits from that
   (`hushway.release.contribution.limits`).
2. Measure what the limit leaves out, in coarse sums: by number of stops, and by first stop.
3. Ask what `learned` asks, about as many records of a person as the limit says.
4. Learn the records that were counted, and complete them.

Only the first three cost budget. The limits follow from the noisy answer of the first, which stands
on the certificate, so that anybody can choose them again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Final

from hushway.families.sequences.fit.reconciliation import LeftOut
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.mechanism.learned import (
    LEARNED,
    Answers,
    LearnedSequences,
    learned_spends,
)
from hushway.families.sequences.mechanism.queries import bound_of_query, summaries_of
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.questions import Asked, RecordCells
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for
from hushway.privacy.contribution import LADDER, RankedCells, UnitsByRecords
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss, exact, loss_of, total
from hushway.privacy.measured import Measured
from hushway.privacy.query import AnyQuery, PartitionQuery, Query
from hushway.release.contribution.crowd import Crowd, crowd_of
from hushway.release.contribution.limits import HISTOGRAM, Limits, chosen_limits
from hushway.release.mechanism import Forecast, Measurements
from hushway.release.others import (
    OtherStep,
    certified_first_day,
    certified_others,
    stated_first_day,
    stated_others,
)
from hushway.release.terms import stated_measure

# Of the budget of what is left out: lengths get this if first stops are asked for too.
_LENGTHS: Final = Fraction(1, 5)
# First stops are asked for if what is left out of an average place is so many deviations of noise.
_WORTH: Final = 1.0

RecordQuestion = tuple[Query, Loss]


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleSequences:
    """Publishes records that stand for all records of people.

    Attributes:
        inner: The questions about records within the limit, as if they had the whole budget.
        limit: Most records of a person within the limit; None if it is chosen.
        people: The noisy number of people by their records; None before it is measured.
        others: Other steps of the series that the fit learns from.
        first_day: The day that the step begins with, if it is one of a series.
    """

    inner: LearnedSequences
    ladder: tuple[int, ...]
    limit: int | None
    people: tuple[int, ...] | None = None
    others: tuple[OtherStep, ...] = ()
    first_day: date | None = None
    name: str = LEARNED
    adaptive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        # The least noise that may be needed must be one that can be drawn: known before spending.
        noise_for(self.budget, Bound.of_records(self.limit or 1))

    @property
    def universe(self) -> SequenceUniverse:
        """The public places."""
        return self.inner.universe

    @property
    def height(self) -> int:
        """The most stops of a record."""
        return self.inner.height

    @cached_property
    def budget(self) -> Loss:
        """What all of it costs."""
        return total(self.inner.spends)

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "max_stops": self.height,
            "noise": self.budget.measure.noise,
            "budget": str(self.budget.amount),
            "ladder": list(self.ladder),
            "limit": "auto" if self.limit is None else self.limit,
            "people_by_records": None if self.people is None else list(self.people),
            **stated_first_day(self.first_day),
            **stated_others(self.others),
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price; how it is divided is decided by noisy answers."""
        return (self.budget,)

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        *before, sure = replace(self.inner, others=self.others).post_processing
        added = (
            "Counts estimate all records: what the limit left out was added by noisy sums of it, "
            "and by the noisy number of people by their records."
        )
        return (*before, added, sure)

    @cached_property
    def crowd(self) -> Crowd:
        """How many records people have: as measured, or as it is usual before that."""
        return crowd_of(self.people, self._part(HISTOGRAM), self.ladder, self.limit)

    @cached_property
    def limits(self) -> Limits:
        """How many records of a person count.

        Privacy:
            A function of the noisy number of people by their records.
        """
        return chosen_limits(self.crowd, self.inner.look_noise, self.limit)

    @cached_property
    def counted(self) -> LearnedSequences:
        """The questions about records within the limit, for what is left of the budget."""
        within = self.inner.of_share(1 - HISTOGRAM - self.limits.share)
        return replace(within, others=self.others)

    def _part(self, share: Fraction) -> Loss:
        return loss_of(self.budget.measure, self.budget.amount * share)

    @property
    def histogram(self) -> RecordQuestion:
        """The first question: how many people have how many records."""
        cells = UnitsByRecords(base=self._records(Asked.LENGTHS), ladder=self.ladder)
        return Query(name=cells.name, cells=cells), self._part(HISTOGRAM)

    def left_out(self) -> tuple[RecordQuestion, ...]:
        """Records beyond the limit, by number of stops, and by first stop where that pays."""
        limits = self.limits
        if not limits.asks_left_out:
            return ()
        return tuple(
            (self._ranked(self._records(asked), limits.cells, limits.sums), self._part(share))
            for asked, share in self._left_out_shares()
        )

    def _left_out_shares(self) -> tuple[tuple[Asked, Fraction], ...]:
        limits = self.limits
        firsts = limits.share * (1 - _LENGTHS)
        noise = noise_for(self._part(firsts), Bound.of_records(limits.sums - limits.cells))
        records = self.crowd.left_out(limits.cells, limits.sums)
        if records < _WORTH * math.sqrt(noise.variance) * len(self.universe.taxonomy.locations):
            return ((Asked.LENGTHS, limits.share),)
        return (Asked.LENGTHS, limits.share * _LENGTHS), (Asked.FIRSTS, firsts)

    def _records(self, asked: Asked) -> RecordCells:
        return RecordCells(taxonomy=self.universe.taxonomy, height=self.height, asked=asked)

    def _ranked(self, base: RecordCells, first: int, last: int) -> Query:
        cells = RankedCells(base=base, first=first, last=last)
        return Query(name=cells.name, cells=cells)

    def _first(self) -> tuple[RecordQuestion, ...]:
        """What is asked before the questions about records within the limit."""
        return (self.histogram, *self.left_out())

    def queries(self, geography: SequenceUniverse) -> tuple[Query, ...]:
        """All questions; before the first is answered, those of a usual crowd."""
        first = (query for query, _ in self._first())
        within = (ranked(query, self.limits.cells) for query in self.counted.queries(geography))
        return (*first, *within)

    def events(self, geography: SequenceUniverse, _bound: Bound) -> tuple[Event, ...]:
        """What `measure` will do, up to the number of cells of the last two questions."""
        first = (
            counting_event(query.name, query.cells.size, spend, _bound_of(query))
            for query, spend in self._first()
        )
        return (*first, *self.counted.events(geography, Bound.of_records(self.limits.cells)))

    def forecast(self, geography: SequenceUniverse, _bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise in one count of each question about records within the limit."""
        return self.counted.forecast(geography, Bound.of_records(self.limits.cells))

    def measure(self, curator: Curator, geography: SequenceUniverse) -> Measurements:
        """Asks how many records people have, then everything else with the limits that follow.

        Privacy:
            Spends the budget, whatever the first answer is: shares of what is left of it add up to
            that. A person is in one class of the first question, and moves each other one by no
            more than the counter's bound for its ranks.
        """
        first = curator.counts(*self.histogram)
        settled = self.settled((first,))
        left = [curator.counts(*question) for question in settled.left_out()]
        within = WithinLimit(curator, settled.limits.cells)
        found = settled.counted.measure(within, geography)
        assert isinstance(found, Answers)  # noqa: S101  what learnt sequences return
        answers = Answers((first, *left, *within.answers))
        answers.found = found.found
        return answers

    def settled(self, measured: Measurements) -> "PeopleSequences":
        """Returns the mechanism with what its first answer decides."""
        first = measured[0]
        assert isinstance(first, Measured)  # noqa: S101  the first question is asked of all classes
        return replace(self, people=tuple(int(value) for value in first.values))

    def fit(self, measured: Measurements, geography: SequenceUniverse) -> RecordTable:
        """Finds records that agree with all answers, completes them, and says what is sure."""
        settled = self.settled(measured)
        answers = [one for one in measured if isinstance(one, Measured)]
        size = 1 + len(settled.left_out())
        lengths, firsts, *_ = (*answers[1:size], None, None)
        limits = settled.limits
        within = Answers(self.closely(measured))
        within.found = measured.found if isinstance(measured, Answers) else None
        table = settled.counted.completed(
            within,
            geography,
            LeftOut(crowd=settled.crowd, limits=limits, lengths=lengths, firsts=firsts),
        )
        first = chain.from_iterable(map(summaries_of, answers[:size]))
        return replace(
            table,
            questions=(*first, *table.questions),
            diagnostics={
                **table.diagnostics,
                "most_records_looked_at": limits.cells,
                "most_records_in_sums": limits.sums,
            },
        )

    def closely(self, measured: Measurements) -> tuple[Measured, ...]:
        """Returns the answers about records within the limit, as if all records were."""
        answers = [one for one in measured if isinstance(one, Measured)]
        first = 1 + len(self.settled(measured).left_out())
        return tuple(unranked(one) for one in answers[first:])

    def events_of(self, stated: Sequence[tuple[str, int, int]]) -> tuple[int, ...] | None:
        """Returns the event that each stated question belongs to; None if they are not its own."""
        own = [(query.name, query.cells.size, 1) for query, _ in self._first()]
        within = self.counted.events_of(stated[len(own) :])
        if list(stated[: len(own)]) != own or within is None:
            return None
        return (*range(len(own)), *(len(own) + at for at in within))


class WithinLimit(Curator):
    """A curator that is asked about the records of a person within a limit.

    Attributes:
        answers: What was answered, with the ranks that were asked for.
    """

    __slots__ = ("_inside", "_limit", "answers")

    def __init__(self, inside: Curator, limit: int) -> None:
        self._inside, self._limit = inside, limit
        self.answers: list[Measured] = []

    def bound(self, query: AnyQuery) -> Bound:
        """Returns how far one unit can move a query."""
        assert isinstance(query, Query)  # noqa: S101  all that learnt sequences ask
        return self._inside.bound(ranked(query, self._limit))

    def counts(self, query: Query | PartitionQuery, spend: Loss) -> Measured:
        """Returns a noisy count for every cell, of records within the limit."""
        assert isinstance(query, Query)  # noqa: S101  likewise
        self.answers.append(self._inside.counts(ranked(query, self._limit), spend))
        return unranked(self.answers[-1])


def ranked(query: Query, limit: int) -> Query:
    """Returns the question about records below a rank."""
    return Query(name=query.name, cells=RankedCells(base=query.cells, first=0, last=limit))


def unranked(answer: Measured) -> Measured:
    """Returns an answer with its question as it is for records of which all count."""
    cells = answer.query.cells
    assert isinstance(cells, RankedCells)  # noqa: S101  what `ranked` has made
    return replace(answer, query=Query(name=answer.query.name, cells=cells.base))


def _bound_of(query: Query) -> Bound:
    cells = query.cells
    assert isinstance(cells, UnitsByRecords | RankedCells)  # noqa: S101  what is asked first
    if isinstance(cells, UnitsByRecords):
        return cells.bound
    base = Query(name=query.name, cells=cells.base)
    return bound_of_query(base, Bound.of_records(cells.last - cells.first))


def record_ladder(most: int | None, limit: int | None) -> tuple[int, ...]:
    """Returns the limits to choose from.

    Args:
        most: How many records a person can have, by public facts; None if that is not known.
        limit: A limit of a steward's own.
    """
    steps = {*LADDER, limit or 1}
    if most is not None:
        # Nobody is in the class above `most`, so that the one before it is known exactly.
        steps = {*(step for step in steps if step < most), most, most + 1}
    return tuple(sorted(steps))


def certified_people(parameters: Mapping[str, Any], universe: SequenceUniverse) -> PeopleSequences:
    """Returns the mechanism of a certificate."""
    limit, people = parameters["limit"], parameters["people_by_records"]
    ladder = parameters["ladder"]
    numbers = [*people, *ladder, *(() if limit == "auto" else (limit,))]
    if not all(type(number) is int for number in numbers):
        raise TypeError
    if ladder != sorted({1, *ladder}) or ladder[0] != 1 or len(people) != len(ladder):
        raise ValueError
    budget = loss_of(stated_measure(parameters), exact(str(parameters["budget"])))
    inner = LearnedSequences(
        universe=universe, height=parameters["max_stops"], spends=learned_spends(budget)
    )
    made = PeopleSequences(
        inner=inner,
        ladder=tuple(ladder),
        limit=None if limit == "auto" else limit,
        people=tuple(people),
        others=certified_others(parameters),
        first_day=certified_first_day(parameters),
    )
    if made.limits.cells not in ladder:
        raise ValueError
    return made
