"""Exact amounts as text, for the database, and as short numbers, for readers."""

import re
from decimal import Context
from fractions import Fraction

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.loss import Measure

_WRITTEN = re.compile(r"(0|[1-9][0-9]*)(/[1-9][0-9]*)?")
_SYMBOLS = {Measure.PURE: "epsilon", Measure.ZCDP: "rho"}
_DIGITS = 9


def amount_to_text(amount: Fraction) -> str:
    """Returns an amount exactly, such as "10" or "1/3".

    Raises:
        BudgetError: The fraction is longer than Python writes (4300 digits).
    """
    try:
        return str(amount)
    except ValueError:
        raise BudgetError(
            "An exact amount has become too long to write down; nothing was spent.",
            advice="Round the losses of the release up to a short decimal, which is always safe.",
        ) from None


def amount_from_text(text: str) -> Fraction:
    """Reads an amount back.

    Raises:
        LedgerError: The text is not what `amount_to_text` writes.
    """
    # Only plain digits: Fraction("1e999999999") alone would keep the machine busy for hours.
    if isinstance(text, str) and _WRITTEN.fullmatch(text):
        try:
            return Fraction(text)
        except ValueError:
            pass
    raise LedgerError(
        "An amount in the ledger is not an exact fraction.",
        advice="Compare the ledger with a backup before spending again: it was edited.",
    )


def readable(measure: Measure, amount: Fraction) -> str:
    """Returns an amount with its currency, short enough for a message: rho 0.25, epsilon 1/3."""
    symbol = _SYMBOLS[measure]
    rounded = Context(prec=_DIGITS).divide(amount.numerator, amount.denominator)
    if Fraction(rounded) == amount:
        style = "f" if abs(rounded.adjusted()) <= _DIGITS else "E"
        return f"{symbol} {rounded.normalize():{style}}"
    if max(abs(amount.numerator), amount.denominator) < 10**_DIGITS:
        return f"{symbol} {amount}"
    return f"{symbol} {rounded} (rounded)"
