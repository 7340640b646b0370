# ruff: noqa: RUF001  letters that look alike are part of this file
"""Names and notes in a ledger. Names that look the same are the same, or one of them is refused.

Names decide which account spends. "Metro" beside "metro", or "metro" with a letter that cannot be
seen, would be two budgets over the same rows.
"""

import re
import unicodedata
from functools import cache
from itertools import product

from hushway.errors import BudgetError

_LONGEST_NAME = 200
_LONGEST_NOTE = 10_000
# Controls would garble a statement on a terminal; lone surrogates cannot be written as UTF-8.
_UNPRINTABLE = ("Cc", "Cs")
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
    _refuse_long(what, text, _LONGEST_NAME)
    for character in text:
        if unicodedata.category(character) in _REFUSED_CATEGORIES or ord(character) in _INVISIBLE:
            raise BudgetError(
                f"The {what} holds a character that cannot be seen or printed: "
                f"{_described(character)}.",
                advice="Leave it out: names that look the same must be the same.",
            )


def _refuse_long(what: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise BudgetError(
            f"The {what} is longer than {longest} characters.", advice=f"Shorten the {what}."
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


def check_note(what: str, text: str) -> None:
    """Refuses a text that is too long or cannot be written as one line."""
    _refuse_long(what, text, _LONGEST_NOTE)
    if any(unicodedata.category(character) in _UNPRINTABLE for character in text):
        raise BudgetError(
            f"The {what} holds characters that cannot be printed.",
            advice=f"Write the {what} as one line of ordinary text.",
        )


def check_reference(text: str) -> None:
    """Refuses a text that cannot refer to a release: blank, too long or not one line."""
    check_note("reference", text)
    if not text.strip():
        raise BudgetError(
            "The reference is blank.", advice="Give the digest of the release's seal."
        )


# Names that differ on disk and not to the eye, such as a Latin "copa" and a Cyrillic one.
#
# What the rules above leave are whole names of look-alikes. Two names are compared as they look in
# small letters, as they are shown, and in capitals, as somebody may have written them. Dashes,
# dots, gaps and other punctuation count as one and the same, however many stand together, and as
# nothing at an end. The tables are short: Latin, Greek, Cyrillic, digits and letters that look like
# punctuation. They err on the safe side: a false alarm only costs another name.
_FIRST_ACCENT = 200
_OVERLAY = 1

# Letters of any script that look like a dash, a dot or a stroke: long vowel marks, stretched joins,
# tone letters, and the Han and Hangul letters that are one stroke.
_STROKES = frozenset("ー一ㅡᅳⲻᐨᱼߺـ꓾ꓸꓹꓺꓻꓼꓽǃⵑᐧノ丿ⳇߴߵᑊᛌ〱〲〳〴〵")
# Symbols that are no separators, and look like one.
_SYMBOL = re.compile(
    r"\b(MINUS|DASH|HYPHEN|HORIZONTAL|LINE|STROKE|BAR|DOT|DOTS|BULLET|MACRON|TILDE|OVERLINE|RATIO|"
    r"COLON|SLASH|SOLIDUS|ACCENT|ACUTE|GRAVE|CEDILLA|OGONEK|DIAERESIS|APOSTROPHE|PRIME|STOP|COMMA)\b"
)
_RUN = re.compile("-+")

# What looks like each letter, in small letters and small capitals. I and l and 1 are one letter,
# since a capital I may have been written.
_SMALL = {
    "a": "аαɑᴀ",
    "b": "ьƀʙвβ",
    "c": "сᴄ",
    "d": "ԁđɖᴅ",
    "e": "еєεɛᴇ℮",
    "f": "ƒꜰ",
    "g": "ɡɢ",
    "h": "һħʜн",
    "j": "јϳᴊȷ",
    "k": "кκᴋĸ",
    "l": "i1|ıɩɪιіӏłɨʟ",
    "m": "мᴍ",
    "n": "пηɴո",
    "o": "0оοσөøɵᴏօ",
    "p": "рρᴘ",
    "q": "ԛɋ",
    "r": "гґʀᴦ",
    "s": "ѕꜱʂ",
    "t": "тτŧᴛ",
    "u": "υцᴜս",
    "v": "νѵᴠ",
    "w": "ωԝшᴡѡ",
    "x": "хχ×",
    "y": "уγүʏ",
    "z": "ᴢʐ",
    "3": "зɜӡʒ",
    "4": "ч",
    "6": "б",
}
_CAPITAL = {
    "A": "АΑ",
    "B": "ВΒ",
    "C": "С",
    "E": "ЕΕ",
    "H": "НΗ",
    "I": "1|ІΙӀ",
    "J": "ЈͿ",
    "K": "КΚ",
    "M": "МΜ",
    "N": "Ν",
    "O": "0ОΟ",
    "P": "РΡ",
    "S": "Ѕ",
    "T": "ТΤ",
    "X": "ХΧ",
    "Y": "УΥҮ",
    "Z": "Ζ",
    "3": "З",
    "6": "Б",
}


def look_alike(one: str, other: str) -> bool:
    """Whether a reader may take one name for the other; both must be normal names."""
    return any(
        look(one, stroke) == look(other, stroke)
        for look, stroke in product((_as_small, _as_capitals), ("-", ""))
    )


def _as_small(name: str, stroke: str) -> str:
    letters = _bare(name, stroke).translate(_SMALL_TABLE)
    return letters.replace("rn", "m").replace("vv", "w")


def _as_capitals(name: str, stroke: str) -> str:
    return _bare(name.upper(), stroke).translate(_CAPITAL_TABLE)


def _bare(text: str, stroke: str) -> str:
    """Takes off accents and strokes, writes digits as 0 to 9 and separators as one hyphen.

    Args:
        stroke: What stands for a letter that looks like a stroke: a dash, or nothing.
    """
    plain = "".join(
        stroke if character in _STROKES else _plain(character)
        for character in unicodedata.normalize("NFD", text)
        if not _is_accent(character)
    )
    return _RUN.sub("-", plain).strip("-")


def _is_accent(character: str) -> bool:
    # Vowel signs of other scripts have lower classes: they are letters, not ornaments.
    place = unicodedata.combining(character)
    return place >= _FIRST_ACCENT or place == _OVERLAY


@cache
def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    return "-" if _separates(character) else character


def _separates(character: str) -> bool:
    """Whether a character is a dash, a dot, a gap or other punctuation, or looks like one."""
    if ord(character) in _SMALL_TABLE:
        return False
    category, name = unicodedata.category(character), unicodedata.name(character, "")
    if category[0] in "PZ":
        return True
    if category == "Lm":
        return name.startswith("MODIFIER LETTER ")
    return category[0] == "S" and _SYMBOL.search(name) is not None


def _table(looks: dict[str, str]) -> dict[int, str]:
    return {ord(other): letter for letter, others in looks.items() for other in others}


_SMALL_TABLE = _table(_SMALL)
_CAPITAL_TABLE = _table(_CAPITAL)
