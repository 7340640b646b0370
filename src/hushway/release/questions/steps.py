"""Sums over the steps of a series, and what changed between steps beyond noise.

Privacy:
    Made of published numbers alone: free, as often as one likes.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Final, TypeVar

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import ReleaseError
from hushway.privacy.ledger.span import Span, Step
from hushway.release.questions.answers import MISSED, Answer, interval

# A number, or an array of numbers.
E = TypeVar("E", float, FloatArray)
# What steps add up to without remainder.
_WIDER: Final[Mapping[Step, Sequence[str]]] = {
    "day": ("week", "month", "quarter", "year"),
    "week": (),
    "month": ("quarter", "year"),
    "quarter": ("year",),
}


@dataclass(frozen=True, kw_only=True)
class StepAnswer(Answer):
    """A sum of one or several steps.

    Attributes:
        period: What it is of, such as 2026-Q1; the label says besides if steps are missing.
        steps: The steps that are in it.
        missing: Steps of the same quarter or year that are not: no release answers for them.
    """

    period: str
    steps: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Change(Answer):
    """How much larger a sum is in one step than in an earlier one.

    Attributes:
        earlier: The earlier step.
        later: The later one.
    """

    earlier: str
    later: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A sum in one step, with its error."""

    label: str
    value: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Sums of two steps, by what they are of.

    Attributes:
        earlier: The earlier step.
        later: The later one.
        before: The sums of the earlier one.
        after: The sums of the later one.
        learnt: Whether one of the two was fitted with what other steps say.
    """

    earlier: str
    later: str
    before: Mapping[str, Measured]
    after: Mapping[str, Measured]
    learnt: bool

    @property
    def both(self) -> list[tuple[Measured, Measured]]:
        """What both publish; a sum of nothing has no error."""
        named = [(one, self.after[key]) for key, one in self.before.items() if key in self.after]
        return [(one, other) for one, other in named if min(one.error, other.error) > 0]


def error_of_sum(errors: Sequence[float], *, independent: bool) -> float:
    """Returns the standard error of a sum over steps.

    Noise is drawn anew for every step. What a fit expects of a place is not: the same city makes
    it wrong in the same direction, month after month. So errors of fitted steps are added up, which
    is right whatever they share.
    """
    return math.hypot(*errors) if independent else math.fsum(errors)


def error_of_change(earlier: E, later: E, *, learnt: bool) -> E:
    """Returns the standard error of a difference between two steps, or more.

    Where steps were fitted apart it is that of independent errors: noise is, and what a fit expects
    of a place goes wrong in the same direction and cancels. Where one learnt from other steps, its
    error may go any way with theirs: then errors are added up, which is right whatever they share.

    Args:
        earlier: The error in the earlier step, or one of each sum.
        later: That in the later one.
        learnt: Whether one of the two was fitted with what other steps say.
    """
    return earlier + later if learnt else (earlier * earlier + later * later) ** 0.5


def added(
    answers: Mapping[str, Answer], span: Span, by: str, *, independent: bool
) -> Iterator[StepAnswer]:
    """Yields sums by step, or by something longer that steps add up to.

    Args:
        answers: What each step answers, in order.
        span: What a step is.
        by: "step", or "week", "month", "quarter" or "year".
        independent: Whether errors of steps are.

    Raises:
        ReleaseError: Steps do not add up to that.
    """
    wider = ("step", *lengths(span.step))
    if by not in wider:
        raise ReleaseError(
            f"A {span.step} does not lie in one {by}." if by else "Sums are by nothing.",
            advice=f"Ask by: {', '.join(wider)}.",
        )
    step = span.step if by == "step" else by
    for name, group in groupby(answers, lambda each: _name(step, span.days(each)[0])):
        own = tuple(group)
        every = tuple(span.names(*_days(step, name)))
        shown = (
            name if len(own) == len(every) else f"{name}, {len(own)} of {len(every)} {span.step}s"
        )
        errors = [answers[each].standard_error for each in own]
        value = math.fsum(answers[each].value for each in own)
        yield StepAnswer(
            label=shown,
            period=name,
            steps=own,
            missing=tuple(each for each in every if each not in own),
            **interval(value, error_of_sum(errors, independent=independent)),
        )


def lengths(step: Step) -> tuple[str, ...]:
    """Returns a step, and what steps add up to, from short to long."""
    return (step, *_WIDER[step])


def _name(step: str, day: date) -> str:
    return f"{day.year:04}" if step == "year" else _span(step).name(day)


def _days(step: str, name: str) -> tuple[date, date]:
    if step == "year":
        return date(int(name), 1, 1), date(int(name), 12, 31)
    return _span(step).days(name)


def _span(step: str) -> Span:
    return Span(step=step, steps=1)  # type: ignore[arg-type]  # it says so if there is none


def changes(pairs: Iterable[Pair], *, top: int | None = None) -> Iterator[Change]:
    """Yields the changes that are larger than noise alone makes them, the surest first.

    Of what is listed 5% at most is noise, on average (Benjamini and Hochberg 1995). They were
    picked for being large, so their intervals are wider: of the listed ones 95% hold on average
    (Benjamini and Yekutieli 2005).

    Args:
        pairs: The steps that are compared.
        top: At most so many.
    """
    asked = [(pair, before, after) for pair in pairs for before, after in pair.both]
    differences = np.array([after.value - before.value for _, before, after in asked])
    errors = np.array(
        [
            error_of_change(before.error, after.error, learnt=pair.learnt)
            for pair, before, after in asked
        ]
    )
    order = _beyond_noise(differences, errors)[:top]
    for i in order:
        pair, _, after = asked[i]
        found = interval(
            float(differences[i]),
            float(errors[i]),
            floor=-math.inf,
            missed=MISSED * len(order) / len(asked),
        )
        yield Change(label=after.label, earlier=pair.earlier, later=pair.later, **found)


def _beyond_noise(differences: FloatArray, errors: FloatArray) -> list[int]:
    """Returns which differences are not noise alone, the surest first."""
    deviations = np.abs(differences) / errors
    order = np.argsort(-deviations, kind="stable")
    chances = np.array([math.erfc(deviations[i] / math.sqrt(2)) for i in order])
    below = chances <= MISSED * np.arange(1, len(order) + 1) / max(1, len(order))
    return [int(i) for i in order[: int(np.flatnonzero(below).max(initial=-1)) + 1]]
