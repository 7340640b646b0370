"""Months of records in a small city, drawn from the same ways; places close and drift."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.families.sequences.city.cards import metro
from hushway.families.sequences.files.learnt import begun_with
from hushway.families.sequences.files.others import LearningSequences, noisy_answers
from hushway.families.sequences.fit.table import RecordTable
from hushway.families.sequences.mechanism.learned import LearnedSequences, learned_spends
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.families.sequences.study.data import SequenceScene, card_scene
from hushway.privacy.bound import Unit
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.others import OtherStep

HEIGHT, RECORDS = 6, 12_000
WAYS: SequenceScene = card_scene(metro(11, records=20_000))
PLACES = len(WAYS.taxonomy.locations)
_FIRST, _LAST = WAYS.stops[WAYS.start[:-1]], WAYS.stops[WAYS.start[1:] - 1]
BUSIEST, NEXT = (int(one) for one in np.argsort(-np.bincount(_FIRST), kind="stable")[:2])


def way(epsilon: str = "1", taxonomy: Taxonomy = WAYS.taxonomy) -> LearnedSequences:
    """Returns the mechanism; a record is protected."""
    return LearnedSequences(
        universe=SequenceUniverse(taxonomy=taxonomy),
        height=HEIGHT,
        spends=learned_spends(PureLoss(Fraction(epsilon))),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Month:
    """The records of a month."""

    taxonomy: Taxonomy
    start: IntArray
    stops: IntArray

    def counter(self) -> ArraySequences:
        """Returns exact counts."""
        return ArraySequences(
            taxonomy=self.taxonomy,
            unit=Unit.RECORD,
            max_records=1,
            max_stops=HEIGHT,
            key=BoundingKey.draw(SeededSource(0)),
            start=self.start,
            stops=self.stops,
        )

    @cached_property
    def begun(self) -> tuple[IntArray, IntArray, IntArray]:
        """Its records, cut to the stops that count."""
        length = np.minimum(np.diff(self.start), HEIGHT)
        start = np.concatenate([[0], np.cumsum(length)])
        at = np.repeat(self.start[:-1] - start[:-1], length) + np.arange(start[-1])
        return start, self.stops[at], np.ones(len(length), dtype=np.int64)


@cache
def month(number: int, closed: int = -1) -> Month:
    """Returns a month in which as many ways begin at places as in others, but for a closed one."""
    random = np.random.default_rng((5, number))
    calls = np.add.reduceat(WAYS.stops == closed, WAYS.start[:-1]) > 0
    level = 0.05 * random.normal(size=PLACES)
    share = np.exp(level[_FIRST] + level[_LAST]) * ~calls
    chosen = random.choice(len(share), RECORDS, p=share / share.sum())
    length = np.diff(WAYS.start)[chosen]
    start = np.concatenate([[0], np.cumsum(length)])
    at = np.repeat(WAYS.start[chosen] - start[:-1], length) + np.arange(start[-1])
    return Month(taxonomy=WAYS.taxonomy, start=start, stops=WAYS.stops[at])


@cache
def measured(one: Month, seed: int, epsilon: str = "1") -> Any:
    """Returns the noisy answers about a month."""
    curator = Curator(counter=one.counter(), budget=StudyBudget(), source=SeededSource(seed))
    made = way(epsilon, one.taxonomy)
    return made.measure(curator, made.universe)


def told_by(one: Month, seed: int, away: int, epsilon: str = "1") -> OtherStep:
    """Returns a month as another step, so many away."""
    answers = noisy_answers(way(epsilon, one.taxonomy), measured(one, seed, epsilon))
    return OtherStep(stated={"steps_away": away}, answers=lambda _: answers)


def fitted(
    one: Month, seed: int, others: Sequence[OtherStep] = (), made: LearningSequences | None = None
) -> RecordTable:
    """Returns what is published of a month that learns from others."""
    made = replace(made or way(taxonomy=one.taxonomy), others=tuple(others))
    return made.fit(measured(one, seed), made.universe)


@cache
def asked() -> RecordTable:
    """Returns the busiest prefixes of all ways, without numbers."""
    ways = Month(taxonomy=WAYS.taxonomy, start=WAYS.start, stops=WAYS.stops)
    start, stops, _ = ways.begun
    found: dict[tuple[int, ...], int] = {}
    for begin, end in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        for length in range(1, end - begin + 1):
            prefix = tuple(stops[begin : begin + length].tolist())
            found[prefix] = found.get(prefix, 0) + 1
    top = sorted(found, key=lambda one: (-found[one], len(one), one))[:300]
    number = {prefix: at for at, prefix in enumerate(top)}
    nothing = np.zeros(0, dtype=np.int64)
    return RecordTable(
        taxonomy=WAYS.taxonomy,
        height=HEIGHT,
        start=np.zeros(1, dtype=np.int64),
        stops=nothing,
        counts=nothing,
        parent=np.array([number.get(one[:-1], -1) for one in top], dtype=np.int64),
        place=np.array([one[-1] for one in top], dtype=np.int64),
        prefix_counts=np.array([found[one] for one in top], dtype=np.int64),
        prefix_errors=np.ones(len(top)),
        questions=(),
    )


def apart(table: RecordTable, one: Month) -> FloatArray:
    """Returns how far the busiest prefixes are from the truth."""
    published = begun_with(asked(), table.start, table.stops, table.counts)
    return np.asarray((published - begun_with(asked(), *one.begun)).astype(np.float64))
