"""What a step of a series measured, question by question, for steps that learn from it.

Privacy:
    Everything here is noisy, or public.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.fit.answers import (
    Answer,
    read_answers,
    read_closer,
    read_together,
    twice,
)
from hushway.families.sequences.fit.posterior import Noise
from hushway.families.sequences.fit.record_model import learn_outline
from hushway.families.sequences.public.questions import (
    FIRST_TOGETHER,
    Asked,
    KnownPrefixCells,
    NewStopCells,
)
from hushway.privacy.measured import Measured

# Behind the questions about all records come these.
BY_PLACE, PAIRS, TRIPLES, LOOK = range(len(Asked), len(Asked) + 4)
_JOINT, _CLOSER, _LAST = range(FIRST_TOGETHER, FIRST_TOGETHER + 3)
# Of these, numbers are shares of all new stops that count, and of all others shares of records.
_OF_NEW_STOPS: Final = (BY_PLACE, PAIRS, TRIPLES)


@dataclass(frozen=True, kw_only=True, eq=False)
class StepAnswers:
    """All noisy answers of a step.

    Attributes:
        places: The names of its places.
        answers: Those in the order of `Asked`, then `BY_PLACE`, `PAIRS`, `TRIPLES` and `LOOK`.
        grams: The triples that it looked at, as in `NewStopCells`.
        look: The prefixes that it looked at.
        records: How many records were counted, as its own answers say.
        counted: How many new stops were, of which at most `most` of a record.
    """

    places: tuple[str, ...]
    answers: tuple[Answer, ...]
    grams: IntArray
    look: KnownPrefixCells
    records: float
    counted: float
    most: int

    def level(self, question: int) -> float:
        """Returns what the numbers of a question are shares of."""
        return max(self.counted if question in _OF_NEW_STOPS else self.records, 1.0)


def step_answers(measured: Sequence[Measured]) -> StepAnswers:
    """Returns the answers of a step to the questions of `learned`."""
    closer, look = (measured[at].query.cells for at in (_CLOSER, _LAST))
    assert isinstance(closer, NewStopCells)  # noqa: S101  what `measure` asks
    assert isinstance(look, KnownPrefixCells)  # noqa: S101  likewise
    locations = look.taxonomy.locations
    first = read_answers(measured)
    outline = learn_outline(first, len(locations))
    by_place, pairs = read_together(measured[_JOINT])[-2:]
    grams, triples = closer.grams, read_closer(measured[_CLOSER])
    if grams is None:
        # Nothing deserved a closer look, so pairs were asked about once more.
        pairs, grams = twice(pairs, triples), np.empty(0, dtype=np.int64)
        triples = replace(triples, values=np.empty(0))
    last = measured[_LAST]
    seen = Answer(values=last.values.astype(np.float64), noise=Noise.of(last))
    return StepAnswers(
        places=tuple(locations.ids),
        answers=(*first, by_place, pairs, triples, seen),
        grams=grams,
        look=look,
        records=outline.records,
        counted=outline.reached(closer.most),
        most=closer.most,
    )
