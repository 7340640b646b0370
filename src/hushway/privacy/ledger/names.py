"""Names: two that a reader takes for the same one are the same one, or one of them is refused.

Names decide which account spends. "Metro" beside "metro", or "metro" with a letter that cannot be
seen, would be two budgets over the same rows.
"""

import unicodedata

from hushway.errors import BudgetError

_LONGEST = 200
# Controls, format characters, surrogates, private use, unassigned, and separators of lines.
_REFUSED_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# Fillers, joiners and selectors that Unicode calls letters or marks and that show nothing.
_INVISIBLE = frozenset(
    [
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F),
        *(0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)),
    ]
)
# A letter's Unicode name begins with its script; with these words begin names of letters that
# belong to no script or to several.
_NO_SCRIPT = frozenset(
    ["CARON", "IDEOGRAPHIC", "KATAKANA-HIRAGANA", "MASU", "MODIFIER", "TURNED", "VEDIC", "VERTICAL"]
)
# Scripts that are written together every day, and hardly a letter of one looks like one of another.
_WRITTEN_TOGETHER = frozenset(["BOPOMOFO", "CJK", "HANGUL", "HIRAGANA", "KATAKANA", "LATIN"])


def normal_name(what: str, text: str) -> str:
    """Returns a name in the one form that is stored, compared and shown.

    Letters lose their case and their variants (NFKC), white space becomes single spaces.

    Args:
        what: What is named, for messages: "data set", "period", "release id".
        text: The name as somebody wrote it.

    Raises:
        BudgetError: The text is blank, too long, holds something that cannot be seen, or mixes
            scripts.
    """
    _refuse_unseen(what, text)
    name = _folded(text)
    # Some letters unfold into fillers, a few into eighteen letters.
    _refuse_unseen(what, name)
    if not name:
        raise BudgetError(f"The {what} is blank.", advice=f"Give the {what} a name.")
    _refuse_mixed(what, name)
    return name


def _folded(text: str) -> str:
    """Folds case and variants until nothing changes: folding one can bring back the other."""
    while True:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        folded = " ".join(folded.split())
        if folded == text:
            return text
        text = folded


def _refuse_unseen(what: str, text: str) -> None:
    if len(text) > _LONGEST:
        raise BudgetError(
            f"The {what} is longer than {_LONGEST} characters.", advice=f"Shorten the {what}."
        )
    for character in text:
        if unicodedata.category(character) in _REFUSED_CATEGORIES or ord(character) in _INVISIBLE:
            raise BudgetError(
                f"The {what} holds a character that cannot be seen or printed: "
                f"{_described(character)}.",
                advice="Leave it out: names that look the same must be the same.",
            )


def _refuse_mixed(what: str, name: str) -> None:
    scripts = {_script(character) for character in name if character.isalpha()} - _NO_SCRIPT
    if len(scripts) > 1 and not scripts <= _WRITTEN_TOGETHER:
        listed = " and ".join(sorted(script.capitalize() for script in scripts))
        raise BudgetError(
            f"The {what} {name} mixes letters of {listed}, which can look the same.",
            advice=f"Write the {what} in one script.",
        )


def _script(letter: str) -> str:
    # Only Tangut has letters without a name in the Unicode tables of Python 3.11.
    return unicodedata.name(letter, "TANGUT").partition(" ")[0]


def _described(character: str) -> str:
    code = f"U+{ord(character):04X}"
    name = unicodedata.name(character, "")
    return f"{code} ({name.lower()})" if name else code
