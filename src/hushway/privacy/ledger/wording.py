"""Which text may enter the ledger.

Names decide which account pays, so two names that look the same must be the same: "metro" beside
"metro " would be two purses for one data set.
"""

import unicodedata

from hushway.errors import BudgetError

_LONGEST_NAME = 200
_LONGEST_NOTE = 10_000
# Controls would garble a bank statement on a terminal; lone surrogates cannot be written as UTF-8.
_REFUSED_CATEGORIES = ("Cc", "Cs")


def check_name(what: str, text: str) -> None:
    """Makes sure that a text can name something: a data set, a period, a release.

    Raises:
        BudgetError: The text is blank, too long, or could be confused with another one.
    """
    _check_characters(what, text, _LONGEST_NAME)
    if not text.strip():
        raise BudgetError(f"The {what} is blank.", advice=f"Give the {what} a name.")
    if text != text.strip() or not unicodedata.is_normalized("NFC", text):
        raise BudgetError(
            f"The {what} could be mistaken for another one.",
            advice="Leave out spaces at both ends, and use Unicode NFC for accents.",
        )


def check_note(what: str, text: str) -> None:
    """Makes sure that a text can be kept: a purpose, a reason, a secret.

    Raises:
        BudgetError: The text is too long or cannot be written as one line.
    """
    _check_characters(what, text, _LONGEST_NOTE)


def _check_characters(what: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise BudgetError(
            f"The {what} is longer than {longest} characters.", advice=f"Shorten the {what}."
        )
    if any(unicodedata.category(character) in _REFUSED_CATEGORIES for character in text):
        raise BudgetError(
            f"The {what} holds characters that cannot be printed.",
            advice=f"Write the {what} as one line of ordinary text.",
        )
