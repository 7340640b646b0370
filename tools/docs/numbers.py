"""Numbers in a text, and whether they come out of a result.

A number of the text is right if some number of the result, rounded to the digits that the text
prints, equals it; signs are not looked at. Besides,

- in a line with a percent sign it may be the percents of a fraction of the result, and a fraction
  of the text may be percents of the result;
- followed by "thousand" or "million" it may be a number of the result in such steps.

Small whole numbers are found in nearly every result. That does not matter: a result that changes
changes its other numbers, too, and a block has many.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)(?:e[-+]?\d+)?"
# A letter before it or after it makes it a name, such as O5, 20k or 3-grams.
_IN_TEXT = re.compile(rf"(?<![\w.,^])({_DIGITS})(?![\w^⁰¹²³⁴-⁹⁻])(?!-[a-z])( thousand| million)?")
_IN_RESULT = re.compile(rf"(?<![A-Za-z_\d.])({_DIGITS})( ?%)?")
_STEPS = {" thousand": 1e3, " million": 1e6}
_PERCENT = 100.0


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number as a text prints it."""

    printed: str
    value: float
    half_a_digit: float


def numbers_of(text: str) -> list[Number]:
    """Returns the numbers of a text, in order."""
    found = []
    for match in _IN_TEXT.finditer(text):
        printed, word = match.groups()
        step = _STEPS.get(word, 1.0)
        mantissa, _, exponent = printed.partition("e")
        decimals = len(mantissa.partition(".")[2])
        last_digit = 10.0 ** (int(exponent or 0) - decimals)
        value = float(printed.replace(",", ""))
        found.append(
            Number(printed=printed, value=value * step, half_a_digit=last_digit / 2 * step)
        )
    return found


class KnownNumbers:
    """The numbers of some results."""

    def __init__(self, text: str) -> None:
        plain: set[float] = set()
        percents: set[float] = set()
        for printed, sign in _IN_RESULT.findall(text):
            value = float(printed.replace(",", ""))
            plain.add(value)
            if sign:
                percents.add(value / _PERCENT)
        self._plain = sorted(plain | percents)

    def hold(self, number: Number, *, percent: bool) -> bool:
        """Says whether a number comes out of the results.

        Args:
            number: The number.
            percent: Whether it may be the percents of a fraction.
        """
        return self._near(number.value, number.half_a_digit) or (
            percent and self._near(number.value / _PERCENT, number.half_a_digit / _PERCENT)
        )

    def _near(self, value: float, distance: float) -> bool:
        # Decimal digits are no binary ones: a half is taken with a little more.
        distance = distance * (1 + 1e-6) + 1e-12 * abs(value)
        place = bisect_left(self._plain, value - distance)
        return place < len(self._plain) and self._plain[place] <= value + distance
