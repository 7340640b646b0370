"""Sums over the steps of a series, and what changed between steps beyond noise.

Privacy:
    Made of published numbers alone: free, as often as one likes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import ReleaseError
from hushway.privacy.ledger.span import Span, Step
from hushway.release.questions.answers import MISSED, Answer, interval

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
        steps: The steps that are in it.
        missing: Steps of the same quarter or year that are not: no release answers for them.
    """

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


def error_of_sum(errors: Sequence[float], *, independent: bool) -> float:
    """Returns the standard error of a sum over steps.

    Noise is drawn anew for every step. What a fit expects of a place is not: the same city makes
    it wrong in the same direction, month after month. So errors of fitted steps are added up, which
    is right whatever they share.
    """
    return math.hypot(*errors) if independent else math.fsum(errors)


def error_of_change(earlier: float, later: float) -> float:
    """Returns the standard error of a difference between two steps, or more.

    It is that of independent errors. What errors of two steps share cancels, so that changes are
    known better than this says.
    """
    return math.hypot(earlier, later)


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
    wider = ("step", span.step, *_WIDER[span.step])
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
            steps=own,
            missing=tuple(each for each in every if each not in own),
            **interval(value, error_of_sum(errors, independent=independent)),
        )


def _name(step: str, day: date) -> str:
    return f"{day.year:04}" if step == "year" else _span(step).name(day)


def _days(step: str, name: str) -> tuple[date, date]:
    if step == "year":
        return date(int(name), 1, 1), date(int(name), 12, 31)
    return _span(step).days(name)


def _span(step: str) -> Span:
    return Span(step=step, steps=1)  # type: ignore[arg-type]  # it says so if there is none


def changes(
    measured: Mapping[str, Mapping[str, Measured]],
    pairs: Sequence[tuple[str, str]],
    *,
    top: int | None = None,
) -> Iterator[Change]:
    """Yields the changes that are larger than noise alone makes them, the surest first.

    Of what is listed 5% at most is noise, on average (Benjamini and Hochberg 1995). They were
    picked for being large, so their intervals are wider: of the listed ones 95% hold on average
    (Benjamini and Yekutieli 2005).

    Args:
        measured: The sums of every step, by what they are of.
        pairs: Which steps are compared, the earlier one first. Only what both have is.
        top: At most so many.
    """
    asked = [
        (earlier, later, key)
        for earlier, later in pairs
        for key in measured[earlier]
        if key in measured[later]
    ]
    steps = [(measured[earlier][key], measured[later][key]) for earlier, later, key in asked]
    differences = np.array([after.value - before.value for before, after in steps])
    errors = np.array([error_of_change(before.error, after.error) for before, after in steps])
    order = _beyond_noise(differences, errors)[:top]
    for i in order:
        earlier, later, key = asked[i]
        found = interval(
            float(differences[i]),
            float(errors[i]),
            floor=-math.inf,
            missed=MISSED * len(order) / len(asked),
        )
        label = measured[later][key].label
        yield Change(label=label, earlier=earlier, later=later, **found)


def _beyond_noise(differences: FloatArray, errors: FloatArray) -> list[int]:
    """Returns which differences are not noise alone, the surest first."""
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = np.nan_to_num(np.abs(differences) / errors, nan=0.0, posinf=math.inf)
    order = np.argsort(-deviations, kind="stable")
    chances = np.array([math.erfc(deviations[i] / math.sqrt(2)) for i in order])
    below = chances <= MISSED * np.arange(1, len(order) + 1) / max(1, len(order))
    return [int(i) for i in order[: int(np.flatnonzero(below).max(initial=-1)) + 1]]
