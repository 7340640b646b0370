"""Coarser periods and places that a plan could ask for: public groupings, and nothing from rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hushway.geography.periods import Periods
from hushway.release.plans.sections import AnyPlan

_HOUR: Final = 60
_LENGTHS: Final = (60, 120, 180, 240, 360, 480, 720)


@dataclass(frozen=True, kw_only=True)
class Coarser:
    """A plan with coarser places or periods.

    Attributes:
        words: What is coarser, such as "periods of 4 hours".
        changes: What the plan says otherwise, by option; None takes an option out.
        plan: The plan that says so.
    """

    words: str
    changes: Mapping[str, Any]
    plan: AnyPlan


def longer_periods(plan: Any, periods: Periods) -> Iterator[Coarser]:
    """Yields a plan with longer periods that divide its day, up to one that is all of it.

    Args:
        plan: A plan whose time has `opens`, `closes` and `minutes`.
        periods: Its periods; named parts of the day give way to equal ones.
    """
    span, named = periods.closes - periods.opens, bool(periods.named)
    lengths = [length for length in _LENGTHS if periods.minutes < length < span and not named]
    for length in (*(one for one in lengths if span % one == 0), span):
        if len(periods.day_parts) == 1:
            return
        time = {"minutes": length}
        changes: dict[str, Any] = {"time.minutes": length}
        if named:
            time |= {"opens": periods.opens, "closes": periods.closes}
            changes |= {"time.parts": None, "time.opens": _clock(periods.opens)}
            changes |= {"time.closes": _clock(periods.closes)}
        changed = plan.time.model_copy(update={**time, **({"parts": {}} if named else {})})
        yield Coarser(
            words="one period a day" if length == span else f"periods of {length // _HOUR} h",
            changes=changes,
            plan=plan.model_copy(update={"time": changed}),
        )


def _clock(minute: int) -> str:
    return f"{minute // _HOUR:02}:{minute % _HOUR:02}"
