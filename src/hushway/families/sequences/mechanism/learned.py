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
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import chain, pairwise
from typing import Any, ClassVar, Final

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import PlanError, PrivacyError
from hushway.families.sequences.fit.answers import (
    Answer,
    read_answers,
    read_closer,
    read_together,
    twice,
)
from hushway.families.sequences.fit.ngrams import (
    NewPairs,
    Triples,
    join_contexts,
    learn_pairs,
    triples_to_ask,
)
from hushway.families.sequences.fit.past import Known, learnt_again
from hushway.families.sequences.fit.posterior import Noise
from hushway.families.sequences.fit.prediction import predict
from hushway.families.sequences.fit.reconciliation import LeftOut
from hushway.families.sequences.fit.record_model import (
    RecordModel,
    learn_outline,
    learn_record_model,
)
from hushway.families.sequences.fit.records import learn_records
from hushway.families.sequences.fit.steps import step_answers
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.mechanism.queries import (
    bound_of_query,
    closer_look,
    parts_of,
    query_of,
    summaries_of,
    worth_of,
)
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.questions import (
    FIRST_NEW,
    FIRST_TOGETHER,
    WHOLE,
    Asked,
    JointCells,
    KnownPrefixCells,
    NewStopCells,
    RecordCells,
)
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event, noise_for, refuse_noise_that_cannot_be_drawn
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event, LaplaceEvent
from hushway.privacy.loss import Loss, loss_of, total
from hushway.privacy.measured import Measured
from hushway.privacy.query import Query
from hushway.release.mechanism import Forecast, Measurements
from hushway.release.others import (
    OtherStep,
    answers_of,
    learnt_words,
    stated_first_day,
    stated_others,
)

LEARNED: Final = "learned"
"""What plans and certificates call this mechanism."""

MOST_PLACES: Final = 4096
"""With more places than this, pairs of them are too many to be counted all."""

FEWEST_STOPS: Final = FIRST_NEW + 1
"""Records of fewer stops have no new ones after the second."""

# In the order of asking: lengths, new stops, turns twice, what is asked together, the closer look,
# the look at whole records.
_SHARES: Final = tuple(Fraction(part, 100) for part in (3, 2, 3, 3, 46, 7, 36))
_JOINT, _CLOSER, _LOOK = range(FIRST_TOGETHER, FIRST_TOGETHER + 3)
_TOGETHER: Final = tuple(Asked)[FIRST_TOGETHER:]
# Prefixes are looked at from this many scales of the noise on.
_LEAST: Final = 0.5


def learned_spends(budget: Loss) -> tuple[Loss, ...]:
    """Returns what each question costs; all together cost the budget."""
    return tuple(loss_of(budget.measure, budget.amount * share) for share in _SHARES)


class Answers(tuple[Measured, ...]):  # noqa: SLOT001  it carries one thing more
    """Answers, with what was predicted on the way: so that it need not be worked out again."""

    found: Known | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Learnt:
    """What the answers before the closer look tell; `asked` are the triples that deserve one."""

    known: RecordModel
    pairs: NewPairs
    asked: Triples
    by_pair: Answer
    most: int


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedSequences:
    """Publishes records that agree with all noisy answers.

    Attributes:
        universe: The public places; times are not kept.
        spends: What each question costs, in the order of asking.
        others: Other steps of the series that the fit learns from.
        first_day: The day that the step begins with, if it is one of a series.
    """

    universe: SequenceUniverse
    height: int
    spends: tuple[Loss, ...]
    others: tuple[OtherStep, ...] = ()
    first_day: date | None = None
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
            "max_stops": self.height,
            "noise": self.spends[0].measure.noise,
            "questions": [query.name for query in self.queries(self.universe)],
            "spends": [str(spend.amount) for spend in self.spends],
            **stated_first_day(self.first_day),
            **stated_others(self.others),
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
        return learnt, *learnt_words(self.others), continued, moved, sure

    def queries(self, geography: SequenceUniverse) -> tuple[Query, ...]:
        """What is asked; of cells that depend on answers, some stand for all."""
        nothing = np.zeros(1, dtype=np.int64)
        root = np.full(1, -1, dtype=np.int64)
        even = tuple(WHOLE // 5 for _ in range(len(_TOGETHER) + 2))
        return (
            *self._fixed(geography),
            query_of(self._together(geography, even, most=1)),
            closer_look(self._new_stops(geography, 3, most=1, grams=nothing)),
            query_of(
                KnownPrefixCells(
                    taxonomy=geography.taxonomy, height=self.height, parent=root, place=root
                )
            ),
        )

    def events(self, geography: SequenceUniverse, bound: Bound) -> tuple[Event, ...]:
        """What `measure` will do, up to the number of cells of the last two questions."""
        return tuple(
            counting_event(query.name, query.cells.size, spend, bound_of_query(query, bound))
            for query, spend in zip(self.queries(geography), self.spends, strict=True)
        )

    def forecast(self, geography: SequenceUniverse, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise in one count of each question, if those asked together share evenly."""
        return tuple(
            Forecast(
                figure=part.name,
                standard_error=math.sqrt(noise_for(spend, bound_of_query(query, bound)).variance)
                / worth_of(query, part.cells),
                bias=0.0,
            )
            for query, spend in zip(self.queries(geography), self.spends, strict=True)
            for part in parts_of(query)
        )

    def measure(self, curator: Curator, geography: SequenceUniverse) -> Measurements:
        """Asks about all records, then about new stops, then about the prefixes that are likely.

        Privacy:
            Spends `losses`, one for each question. What the later questions ask about follows from
            earlier noisy answers; by how much a unit moves them does not. Noise that cannot be
            drawn is refused before anything is spent.
        """
        record = curator.bound(query_of(self._of_records(geography, Asked.LENGTHS)))
        refuse_noise_that_cannot_be_drawn(self.events(geography, record))
        answers = [
            curator.counts(query, spend)
            for query, spend in zip(self._fixed(geography), self.spends, strict=False)
        ]
        outline = learn_outline(read_answers(answers), len(geography.taxonomy.locations))
        whole = _scale(total(self.spends), record)
        shares = outline.shares(whole)
        pair_noise = _scale(self.spends[_JOINT], record) / float(shares[-1])
        worths = tuple(int(share * WHOLE) for share in shares)
        # Each new stop that counts adds something.
        most = min(outline.stops_that_count(pair_noise), *worths[-2:])
        joint = self._together(geography, worths, most=most)
        answers.append(curator.counts(query_of(joint), self.spends[_JOINT]))
        learnt = self._learn(answers)
        grams = learnt.asked.grams
        cells = self._new_stops(geography, 3 if len(grams) else 2, most=most, grams=grams)
        answers.append(curator.counts(closer_look(cells), self.spends[_CLOSER]))
        found = self._predict(learnt, answers)
        look = KnownPrefixCells(
            taxonomy=geography.taxonomy,
            height=self.height,
            parent=found.tree.parent,
            place=found.tree.place,
        )
        answers.append(curator.counts(query_of(look), self.spends[_LOOK]))
        measured = Answers(answers)
        measured.found = found
        return measured

    def fit(self, measured: Measurements, geography: SequenceUniverse) -> RecordTable:
        """Finds records that agree with all answers, and the prefixes that are sure."""
        return self.completed(measured, geography, None)

    def closely(self, measured: Measurements) -> tuple[Measured, ...]:
        """Returns the answers; all of them are about all records."""
        return tuple(one for one in measured if isinstance(one, Measured))

    def completed(
        self, measured: Measurements, geography: SequenceUniverse, left: LeftOut | None
    ) -> RecordTable:
        """Finds records, with those that a limit has left out, and the prefixes that are sure."""
        answers = self.closely(measured)
        last = answers[_LOOK]
        look = Answer(values=last.values.astype(np.float64), noise=Noise.of(last))
        found = measured.found if isinstance(measured, Answers) else None
        found = found or self._predict(self._learn(answers), answers)
        if self.others:
            steps = answers_of(self.others, geography)
            least = self._least(answers)
            found = learnt_again(step_answers(answers), found, steps, least)
        learnt = learn_records(found.known, found.pairs, found.tree, look, left)
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
            questions=tuple(chain.from_iterable(map(summaries_of, answers))),
            diagnostics={
                "records": int(learnt.counts.sum()),
                "prefixes_looked_at": len(found.tree.parent),
                "new_stops_counted": _most_new(answers),
            },
        )

    def of_share(self, share: Fraction) -> "LearnedSequences":
        """Returns the same questions for a share of what they cost."""
        spends = (loss_of(spend.measure, spend.amount * share) for spend in self.spends)
        return replace(self, spends=tuple(spends))

    def look_noise(self, records: int) -> float:
        """Returns the variance of noise in the last question if so many records of a unit count."""
        return float(noise_for(self.spends[_LOOK], Bound.of_records(records)).variance)

    def events_of(self, stated: Sequence[tuple[str, int, int]]) -> tuple[int, ...] | None:
        """Returns the event that each stated question belongs to; None if they are not its own.

        Args:
            stated: Name, number of cells and worth of every question, as a release states them.
        """
        own = [
            (one, at)
            for at, query in enumerate(self.queries(self.universe))
            for one in parts_of(query)
        ]
        if [name for name, _, _ in stated] != [one.name for one, _ in own]:
            return None
        spent = 0
        for (_, cells, worth), (one, at) in zip(stated, own, strict=True):
            depends = at in (_CLOSER, _LOOK)
            shared = at in (_JOINT, _CLOSER)
            if cells < 1 or (not depends and cells != one.cells.size):
                return None
            if not 1 <= worth <= WHOLE or (not shared and worth != 1):
                return None
            spent += worth if at == _JOINT else 0
        return tuple(at for _, at in own) if spent <= WHOLE else None

    def _learn(self, answers: Sequence[Measured]) -> _Learnt:
        """Learns what the answers before the closer look tell."""
        joint = answers[_JOINT].query.cells
        assert isinstance(joint, JointCells)  # noqa: S101  what `measure` asks
        pairs_cells = joint.parts[-1]
        assert isinstance(pairs_cells, NewStopCells)  # noqa: S101
        most = pairs_cells.most
        known = learn_record_model(
            read_answers(answers), self.universe.taxonomy.locations, self.height
        )
        by_place, by_pair = read_together(answers[_JOINT])[-2:]
        pairs = learn_pairs(known, by_place, by_pair, most=most)
        noise = _scale(self.spends[_CLOSER], answers[0].event.bound) * most
        asked = triples_to_ask(known, pairs, noise)
        return _Learnt(known=known, pairs=pairs, asked=asked, by_pair=by_pair, most=most)

    def _predict(self, learnt: _Learnt, answers: Sequence[Measured]) -> Known:
        """Predicts prefixes once the closer look is there."""
        closer, pairs = read_closer(answers[_CLOSER]), learnt.pairs
        if not len(learnt.asked.grams):
            # Nothing is known well enough for a closer look, so pairs were asked about once more.
            by_place = read_together(answers[_JOINT])[-2]
            both = twice(learnt.by_pair, closer)
            pairs = learn_pairs(learnt.known, by_place, both, most=learnt.most)
        contexts = join_contexts(
            learnt.known, pairs, learnt.asked, closer if len(learnt.asked.grams) else None
        )
        tree = predict(learnt.known, contexts, self._least(answers))
        return Known(known=learnt.known, pairs=pairs, tree=tree)

    def _least(self, answers: Sequence[Measured]) -> float:
        """Returns how many records are expected of prefixes that are looked at."""
        return _LEAST * _scale(self.spends[_LOOK], answers[0].event.bound)

    def _fixed(self, geography: SequenceUniverse) -> Iterable[Query]:
        return (query_of(self._of_records(geography, asked)) for asked in tuple(Asked)[:_JOINT])

    def _of_records(self, geography: SequenceUniverse, asked: Asked) -> RecordCells:
        return RecordCells(taxonomy=geography.taxonomy, height=self.height, asked=asked)

    def _together(
        self, geography: SequenceUniverse, worths: tuple[int, ...], *, most: int
    ) -> JointCells:
        """Returns the questions about places, each with what a record is worth to it."""
        new = (
            replace(self._new_stops(geography, order, most=most), whole=worth)
            for order, worth in ((1, worths[-2]), (2, worths[-1]))
        )
        return JointCells(
            taxonomy=geography.taxonomy,
            height=self.height,
            parts=(*(self._of_records(geography, asked) for asked in _TOGETHER), *new),
            worths=worths,
        )

    def _new_stops(
        self, geography: SequenceUniverse, order: int, *, most: int, grams: IntArray | None = None
    ) -> NewStopCells:
        return NewStopCells(
            taxonomy=geography.taxonomy,
            height=self.height,
            order=order,
            most=most,
            grams=grams if order > 2 else None,  # noqa: PLR2004  pairs are all asked about
        )


def _most_new(answers: Sequence[Measured]) -> int:
    """Returns how many new stops of a record were counted."""
    cells = answers[_CLOSER].query.cells
    assert isinstance(cells, NewStopCells)  # noqa: S101  what `measure` asks
    return cells.most


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
            f"A learnt release has no times, at most {MOST_PLACES:,} places and at least "
            f"{FEWEST_STOPS} stops a record; here are {places:,} places and {height} stops.",
            advice='Choose mechanism.name = "prefix_tree", which has none of these limits.',
        )


def _scale(spend: Loss, bound: Bound) -> float:
    """Returns how wide noise is: the scale of Laplace noise, and as much of other noise.

    That of a whole budget is never drawn, and may be too small for it.
    """
    event = counting_event(LEARNED, 1, spend, bound)
    if isinstance(event, LaplaceEvent):
        return float(event.scale)
    return math.sqrt(event.sigma_squared / 2)
