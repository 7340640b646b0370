"""Sentences that certificates of all families share."""

from hushway.errors import PrivacyError
from hushway.privacy.unit import Unit

_NOT_PROTECTED = (
    "That the data set exists, who holds it and which period it covers.",
    "What is true of the city as a whole: busy places and busy hours show, and are meant to.",
    "What other sources tell, or other releases of the same people that this ledger does not know.",
)
_SINGLE = (
    "A person with many {unit}s: only single {unit}s are protected, so what somebody did with or "
    "in many of them, such as a habit, can show."
)


def check_unit(unit: Unit, *allowed: Unit, most: int = 1) -> None:
    """Makes sure that a family bounds a unit, and single ones to one of each.

    Raises:
        PrivacyError: No code would enforce the promise.
    """
    if unit not in allowed or (most > 1 and not unit.has_many_records):
        raise PrivacyError(
            f"A {unit} cannot be protected here, or not with more than one of each.",
            advice=f"Choose one of {', '.join(allowed)}, and count a single one once.",
        )


def not_protected(unit: Unit, *further: str) -> tuple[str, ...]:
    """Returns what releases do not protect where this unit is protected, one sentence each."""
    single = () if unit is Unit.PERSON else (_SINGLE.format(unit=unit),)
    return (*_NOT_PROTECTED, *single, *further)


def plural(number: int, noun: str) -> str:
    """Writes a number of things."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
