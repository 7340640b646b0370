"""Text in CSV files that no spreadsheet takes for a formula.

Spreadsheets run what begins with =, +, - or @, and so with a stranger's name of a place. As OWASP
advises, a quote is put in front of such text: spreadsheets then show it and do nothing. Who reads
the file takes the quote away again; text that has quotes there already gets one more, so that
nothing is lost.
"""

import re

# Spreadsheets skip blanks, and take full-width forms for the narrow ones. A tab or a line break in
# front can push the rest into another cell.
_RISKY = re.compile(
    r"'*(?:[\s\x00-\x1f\ufeff\u200b]*[=+\-@＝＋－＠﹢﹣﹦﹫−]|[^\S\t\r\n]*[\t\r\n])"  # noqa: RUF001
)
# What a spreadsheet reads as a number it does not run.
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?", re.ASCII)


def is_risky(text: str) -> bool:
    """Whether text begins as a formula does, after any number of quotes."""
    return _RISKY.match(text) is not None


def guarded(text: str) -> str:
    """Returns text as it is written to a CSV file; numbers stay as they are."""
    return f"'{text}" if is_risky(text) and not _NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """Returns the text that `guarded` made this of."""
    return text[1:] if text.startswith("'") and is_risky(text) else text
