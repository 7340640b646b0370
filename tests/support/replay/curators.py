"""Curators that keep the answers of one release, and give them again to another.

Both count, charge and draw as any curator does; only what they hand out is another's.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import ref

import numpy as np
import pytest

from hushway.privacy import measured
from hushway.privacy.curator import Curator
from hushway.privacy.measured import KeptAnswer, Measured, MeasuredSparse

# Every way to ask. `test_replay.py` makes sure that a curator has no other.
VERBS = ("counts", "weighted", "counts_above", "counts_lazily", "select", "cuts")
_LOOKS = ("reveal", "reveal_groups")


class AskedOtherwiseError(Exception):
    """Other rows were asked something else, although all answers were the same."""


@dataclass
class Tape:
    """What one release asked, what it was answered, and how it looked at sparse answers."""

    questions: list[Any] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    looks: list[Any] = field(default_factory=list)


class _Watched(Curator):
    """A curator whose answers go through other hands."""

    def __init__(self, tape: Tape, **given: Any) -> None:
        super().__init__(**given)
        self.tape = tape
        self.told: list[Any] = []

    @property
    def kept_answers(self) -> tuple[KeptAnswer, ...]:
        """What whoever asked was told, as a release keeps it."""
        return tuple(_kept(answer) for answer in self.told)

    def handed_out(self, question: Any, answer: Any) -> Any:
        """Returns what whoever asked is told."""
        raise NotImplementedError


def _watched(verb: str) -> Callable[..., Any]:
    real = getattr(Curator, verb)

    def ask(self: _Watched, query: Any, *details: Any, **named: Any) -> Any:
        told = [_plain(detail) for detail in (*details, *named.values())]
        question = (verb, query.name, query.cells.digest, told)
        answer = self.handed_out(question, real(self, query, *details, **named))
        self.told.append(_copied(answer))
        return answer

    return ask


for _verb in VERBS:
    setattr(_Watched, _verb, _watched(_verb))


class Recorder(_Watched):
    """Gives its own answers, and keeps them."""

    def handed_out(self, question: Any, answer: Any) -> Any:
        """Returns the answer."""
        self.tape.questions.append(question)
        self.tape.answers.append(_copied(answer))
        return answer

    @property
    def kept_answers(self) -> tuple[KeptAnswer, ...]:
        """What a curator keeps by itself, which must be what it told."""
        told, kept = super().kept_answers, Curator.kept_answers.__get__(self)
        assert _plainly(told) == _plainly(kept)
        return told


class Player(_Watched):
    """Gives the answers of another release, in order.

    Args:
        recorded: The other release.
        tape: Where to keep what is asked, and what the answers to its own rows were.
        **given: What every curator is given.
    """

    def __init__(self, recorded: Tape, tape: Tape, **given: Any) -> None:
        super().__init__(tape, **given)
        self.recorded = recorded

    def handed_out(self, question: Any, answer: Any) -> Any:
        """Returns the other release's answer, with everything beside the noisy values as here.

        Raises:
            AskedOtherwiseError: The other release was asked something else.
        """
        place = len(self.tape.questions)
        self.tape.questions.append(question)
        self.tape.answers.append(answer)
        if self.recorded.questions[place : place + 1] != [question]:
            raise AskedOtherwiseError(question)
        return _with_values_of(answer, self.recorded.answers[place])


@contextmanager
def looks_kept(tape: Tape) -> Iterator[None]:
    """Keeps at which thresholds sparse answers are looked at."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _LOOKS:
            patch.setattr(MeasuredSparse, name, _kept_look(name, tape))
        yield


def _kept_look(name: str, tape: Tape) -> Callable[..., Any]:
    real = getattr(MeasuredSparse, name)

    def look(self: MeasuredSparse, *thresholds: Any) -> Any:
        tape.looks.append((name, self.query.name, [_plain(one) for one in thresholds]))
        return real(self, *thresholds)

    return look


def _with_values_of(own: Any, other: Any) -> Any:
    if _is_dense(own):
        return replace(own, values=other.values.copy())
    if not isinstance(own, MeasuredSparse):
        return other
    return MeasuredSparse(
        query=own.query,
        threshold=own.threshold,
        groups=own.groups,
        variance=own.variance,
        event=own.event,
        vector=measured._VECTORS[ref(other)],
    )


def _copied(answer: Any) -> Any:
    """Returns an answer that stays as it is: a fit may work on what it is given."""
    return replace(answer, values=answer.values.copy()) if _is_dense(answer) else answer


def _kept(answer: Any) -> KeptAnswer:
    if isinstance(answer, MeasuredSparse):
        return answer.kept()
    return KeptAnswer(values=answer.values if _is_dense(answer) else np.array([answer]))


def _plainly(answers: Sequence[KeptAnswer]) -> list[list[Any]]:
    return [
        [_plain(part) for part in (one.values, one.cells, one.thresholds) if part is not None]
        for one in answers
    ]


def _is_dense(answer: Any) -> bool:
    return isinstance(answer, Measured)


def _plain(detail: Any) -> Any:
    """Returns a spend, a threshold or groups as something that can be compared."""
    if hasattr(detail, "tolist"):
        return detail.tolist()
    return detail.sizes.tolist() if hasattr(detail, "sizes") else detail
