"""Texts that stewards and releases leave in a ledger: one line each, and not too long."""

import unicodedata

from hushway.errors import BudgetError

_LONGEST = 10_000
# Controls would garble a bank statement on a terminal; lone surrogates cannot be written as UTF-8.
_REFUSED_CATEGORIES = ("Cc", "Cs")


def check_note(what: str, text: str) -> None:
    """Makes sure that a text can be kept.

    Raises:
        BudgetError: The text is too long or cannot be written as one line.
    """
    if len(text) > _LONGEST:
        raise BudgetError(
            f"The {what} is longer than {_LONGEST} characters.", advice=f"Shorten the {what}."
        )
    if any(unicodedata.category(character) in _REFUSED_CATEGORIES for character in text):
        raise BudgetError(
            f"The {what} holds characters that cannot be printed.",
            advice=f"Write the {what} as one line of ordinary text.",
        )


def check_reference(text: str) -> None:
    """Makes sure that a text can refer to a release.

    Raises:
        BudgetError: The text is blank, too long or cannot be written as one line.
    """
    check_note("reference", text)
    if not text.strip():
        raise BudgetError(
            "The reference is blank.", advice="Give the digest of the release's seal."
        )
