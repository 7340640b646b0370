"""Sequences learnt from what is common to all positions, then looked at as whole records.

A prefix tree spends its budget from the first stop on, so the middle of records is starved; chains
of stops pool all positions, but forget how records began and how long they are. Here a little is
asked about everything: lengths, first and last stops, how records turn, which stops are new. From
the noisy answers the prefixes are predicted that records are likely to have. Then all of them are
looked at in one question: every record has exactly one longest known prefix, so the whole tree
costs as much as one count. At last, records are found that agree with all answers.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Final

import numpy as np

from hushway.errors import PlanError, PrivacyError
from hushway.families.sequences.fit.beginnings import Answer, Beginnings, learn_beginnings
from hushway.families.sequences.fit.contexts import (
    NewPairs,
    Triples,
    join_contexts,
    learn_pairs,
    triples_to_ask,
)
from hushway.families.sequences.fit.posterior import Noise
from hushway.families.sequences.fit.prediction import Prediction, predict
from hushway.families.sequences.fit.records import learn_records
from hushway.families.sequences.mechanism.record_table import QuestionSummary, RecordTable
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.questions import (
    FIRST_NEW,
    WHOLE,
    Asked,
    KnownPrefixCells,
    NewStopCells,
    QuestionCells,
    RecordCells,
)
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss, loss_of
from hushway.privacy.measured import Measured
from hushway.privacy.query import Query
from hushway.release.mechanism import Forecast, Measurements

LEARNED: Final = "learned"
"""What plans and certificates call this mechanism."""

MOST_PLACES: Final = 4096
"""With more places than this, pairs of them are too many to be counted all."""

FEWEST_STOPS: Final = FIRST_NEW + 1
"""Records of fewer stops have no new ones after the second."""

# In the order of asking: the fixed questions, new stops by place, by pair and by triple, the look.
_SHARES: Final = tuple(Fraction(part, 100) for part in (3, 2, 3, 3, 8, 5, 15, 4, 14, 7, 36))
_PAIRS, _TRIPLES, _LOOK = len(Asked) + 1, len(Asked) + 2, len(Asked) + 3
# Prefixes are looked at from this many scales of the noise on.
_LEAST: Final = 0.5


def learned_spends(budget: Loss) -> tuple[Loss, ...]:
    """Returns what each question costs; all together cost the budget."""
    return tuple(loss_of(budget.measure, budget.amount * share) for share in _SHARES)


class _Answers(tuple[Measured, ...]):  # noqa: SLOT001  it carries one thing more
    """Answers, with what was predicted on the way: so that it need not be worked out again."""

    found: "_Found"


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """What the answers before the last look tell.

    Attributes:
        known: How records begin, turn and end.
        pairs: Where they go that go somewhere new.
        tree: The prefixes to look at.
        most: How many new stops of a record were counted.
    """

    known: Beginnings
    pairs: NewPairs
    tree: Prediction
    most: int


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedSequences:
    """Publishes records that agree with all noisy answers.

    Attributes:
        universe: The public places; times are not kept.
        height: The most stops of a record.
        spends: What each question costs, in the order of asking.
    """

    universe: SequenceUniverse
    height: int
    spends: tuple[Loss, ...]
    name: str = LEARNED

    # Which new stops and prefixes are asked about depends on earlier noisy answers.
    adaptive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        mixed = any(type(one) is not type(other) for one, other in pairwise(self.spends))
        if len(self.spends) != len(_SHARES) or mixed:
            raise PrivacyError(
                "A learnt release needs one spend for each question, all in one currency.",
                advice="Split one budget with hushway.families.sequences.learned_spends.",
            )
        refuse_unlearnable(self.universe, self.height)

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "height": self.height,
            "noise": self.spends[0].measure.noise,
            "questions": [query.name for query in self.queries(self.universe)],
            "spends": [str(spend.amount) for spend in self.spends],
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price of each question."""
        return self.spends

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        learnt = (
            "From noisy answers alone, chances are learnt of how records begin, turn, go to new "
            "places and end; the prefixes that they make likely are looked at in the last question."
        )
        continued = "Records that leave these prefixes are continued as the learnt chances say."
        moved = (
            "Numbers of records are moved towards all noisy answers, as far as these are sure, and "
            "made whole."
        )
        sure = "Prefixes are published with a standard error, where it is small enough."
        return learnt, continued, moved, sure

    def queries(self, geography: SequenceUniverse) -> tuple[Query, ...]:
        """What is asked; of cells that depend on answers, one stands for all."""
        nothing = np.zeros(1, dtype=np.int64)
        root = np.full(1, -1, dtype=np.int64)
        return (
            *self._fixed(geography),
            *(self._new_stops(geography, order, most=1) for order in (1, 2)),
            _closer(self._cells_of_new(geography, 3, most=1, grams=nothing)),
            _query(
                KnownPrefixCells(
                    taxonomy=geography.taxonomy, height=self.height, parent=root, place=root
                )
            ),
        )

    def events(self, geography: SequenceUniverse, bound: Bound) -> tuple[Event, ...]:
        """What `measure` will do, up to the number of cells of the last two questions."""
        return tuple(
            counting_event(query.name, query.cells.size, spend, _bound(query, bound))
            for query, spend in zip(self.queries(geography), self.spends, strict=True)
        )

    def forecast(self, geography: SequenceUniverse, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise in one count of each question."""
        return tuple(
            Forecast(
                figure=query.name,
                standard_error=math.sqrt(noise_for(spend, _bound(query, bound)).variance)
                / _worth(query),
                bias=0.0,
            )
            for query, spend in zip(self.queries(geography), self.spends, strict=True)
        )

    def measure(self, curator: Curator, geography: SequenceUniverse) -> Measurements:
        """Asks about all records, then about new stops, then about the prefixes that are likely.

        Privacy:
            Spends `losses`, one for each question. What the later questions ask about follows from
            earlier noisy answers; by how much a unit moves them does not.
        """
        answers = [
            curator.counts(query, spend)
            for query, spend in zip(self._fixed(geography), self.spends, strict=False)
        ]
        known = learn_beginnings(answers, geography.taxonomy.locations, self.height)
        query = self._new_stops(geography, 2, most=1)
        most = known.stops_that_count(_scale(self.spends[_PAIRS], curator.bound(query)) / WHOLE)
        answers += [
            curator.counts(self._new_stops(geography, order, most=most), self.spends[number])
            for order, number in ((1, _PAIRS - 1), (2, _PAIRS))
        ]
        pairs = _pairs(known, answers, most)
        asked = _triples(known, pairs, answers, self.spends, most)
        cells = self._cells_of_new(
            geography, 3 if len(asked.grams) else 2, most=most, grams=asked.grams
        )
        answers.append(curator.counts(_closer(cells), self.spends[_TRIPLES]))
        found = _found(known, pairs, asked, answers, self.spends, most)
        look = KnownPrefixCells(
            taxonomy=geography.taxonomy,
            height=self.height,
            parent=found.tree.parent,
            place=found.tree.place,
        )
        answers.append(curator.counts(_query(look), self.spends[_LOOK]))
        measured = _Answers(answers)
        measured.found = found
        return measured

    def fit(self, measured: Measurements, geography: SequenceUniverse) -> RecordTable:
        """Finds records that agree with all answers, and the prefixes that are sure."""
        answers = [one for one in measured if isinstance(one, Measured)]
        found = measured.found if isinstance(measured, _Answers) else self._again(answers)
        look = answers[_LOOK]
        learnt = learn_records(
            found.known,
            found.pairs,
            found.tree,
            Answer(values=look.values.astype(np.float64), noise=Noise.of(look)),
        )
        number = np.full(len(found.tree.parent), -1, dtype=np.int64)
        number[learnt.prefixes] = np.arange(len(learnt.prefixes))
        return RecordTable(
            taxonomy=geography.taxonomy,
            height=self.height,
            start=learnt.start,
            stops=learnt.stops.astype(np.int64),
            counts=learnt.counts,
            parent=number[found.tree.parent[learnt.prefixes]],
            place=found.tree.place[learnt.prefixes],
            prefix_counts=learnt.prefix_counts,
            prefix_errors=learnt.prefix_errors,
            questions=tuple(map(_summary, answers)),
            diagnostics={
                "records": int(learnt.counts.sum()),
                "prefixes_looked_at": len(found.tree.parent),
                "new_stops_counted": found.most,
            },
        )

    def _again(self, answers: Sequence[Measured]) -> _Found:
        """Works out from answers what was predicted when they were asked for."""
        cells = answers[_PAIRS].query.cells
        assert isinstance(cells, NewStopCells)  # noqa: S101  what `measure` asks
        known = learn_beginnings(answers, self.universe.taxonomy.locations, self.height)
        pairs = _pairs(known, answers, cells.most)
        asked = _triples(known, pairs, answers, self.spends, cells.most)
        return _found(known, pairs, asked, answers, self.spends, cells.most)

    def _fixed(self, geography: SequenceUniverse) -> Iterable[Query]:
        return (
            _query(RecordCells(taxonomy=geography.taxonomy, height=self.height, asked=asked))
            for asked in Asked
        )

    def _new_stops(self, geography: SequenceUniverse, order: int, *, most: int) -> Query:
        return _query(self._cells_of_new(geography, order, most=most))

    def _cells_of_new(
        self, geography: SequenceUniverse, order: int, *, most: int, grams: Any = None
    ) -> NewStopCells:
        return NewStopCells(
            taxonomy=geography.taxonomy,
            height=self.height,
            order=order,
            most=most,
            grams=grams if order > 2 else None,  # noqa: PLR2004  pairs are all asked about
        )


def is_learnable(universe: SequenceUniverse, height: int) -> bool:
    """Whether this mechanism is made for such records: no times, not too many places."""
    places = len(universe.taxonomy.locations)
    return universe.periods is None and places <= MOST_PLACES and height >= FEWEST_STOPS


def refuse_unlearnable(universe: SequenceUniverse, height: int) -> None:
    """Refuses what this mechanism is not made for.

    Raises:
        PlanError: Times are kept, there are too many places, or records are too short.
    """
    if not is_learnable(universe, height):
        places = len(universe.taxonomy.locations)
        raise PlanError(
            f"A learnt release has no times, at most {MOST_PLACES:,} locations and at least "
            f"{FEWEST_STOPS} stops a record; here are {places:,} locations and {height} stops.",
            advice='Choose mechanism.name = "prefix_tree", which knows none of these limits.',
        )


def _pairs(known: Beginnings, answers: Sequence[Measured], most: int) -> NewPairs:
    by_place, pairs = (_shared(one) for one in answers[_PAIRS - 1 : _PAIRS + 1])
    return learn_pairs(known, by_place, pairs, most=most)


def _triples(
    known: Beginnings,
    pairs: NewPairs,
    answers: Sequence[Measured],
    spends: Sequence[Loss],
    most: int,
) -> Triples:
    bound = answers[_PAIRS].event.bound
    return triples_to_ask(known, pairs, _scale(spends[_TRIPLES], bound) * most / WHOLE)


def _found(  # noqa: PLR0917  what was learnt on the way
    known: Beginnings,
    pairs: NewPairs,
    asked: Triples,
    answers: Sequence[Measured],
    spends: Sequence[Loss],
    most: int,
) -> _Found:
    closer = _shared(answers[_TRIPLES])
    if not len(asked.grams):
        # Nothing is known well enough for a closer look, so pairs were asked about once more.
        pairs = learn_pairs(known, _shared(answers[_PAIRS - 1]), _twice(answers), most=most)
    contexts = join_contexts(known, pairs, asked, closer if len(asked.grams) else None)
    tree = predict(known, contexts, _LEAST * _scale(spends[_LOOK], answers[0].event.bound))
    return _Found(known=known, pairs=pairs, tree=tree, most=most)


def _scale(spend: Loss, bound: Bound) -> float:
    """Returns how wide noise is: the scale of Laplace noise, and as much of other noise."""
    return math.sqrt(noise_for(spend, bound).variance / 2)


def _twice(answers: Sequence[Measured]) -> Answer:
    """Returns the mean of two looks at pairs, each weighted by how sure it is."""
    one, other = (_shared(answers[at]) for at in (_PAIRS, _TRIPLES))
    trust = other.noise.variance / (one.noise.variance + other.noise.variance)
    scale = one.noise.scale * math.sqrt(trust)
    return Answer(
        values=trust * one.values + (1 - trust) * other.values,
        noise=Noise(scale=scale, gaussian=one.noise.gaussian),
    )


def _shared(answer: Measured) -> Answer:
    """Returns an answer about new stops, divided by what each is worth."""
    worth = _worth(answer.query)
    return Answer(values=answer.values / worth, noise=Noise.of(answer, worth))


def _summary(answer: Measured) -> QuestionSummary:
    worth = _worth(answer.query)
    return QuestionSummary(
        name=answer.query.name,
        cells=answer.query.cells.size,
        worth=worth,
        standard_error=math.sqrt(answer.variance) / worth,
    )


def _worth(query: Any) -> int:
    return query.cells.worth if isinstance(query.cells, NewStopCells) else 1


def _bound(query: Query, records: Bound) -> Bound:
    cells: Any = query.cells
    found: Bound = cells.bound(records.total)
    return found


def _query(cells: QuestionCells) -> Query:
    return Query(name=cells.name, cells=cells)


def _closer(cells: NewStopCells) -> Query:
    """Returns the question that looks closer: at triples, or at pairs again if there are none."""
    return Query(name="new stops, a closer look", cells=cells)
