# ruff: noqa: RUF001  letters that look alike are what this file is about
"""Names that differ on disk and not to the eye, such as a Latin "copa" and a Cyrillic one.

What the rules of `names` leave are whole names of look-alikes. Two names are compared as they look
in small letters, as they are shown, and in capitals, as somebody may have written them. Dashes,
dots, gaps and other punctuation count as one and the same, however many stand together, and as
nothing at an end. The tables are short: Latin, Greek, Cyrillic, digits and letters that look like
punctuation. They lean to the safe side, since all that a false alarm costs is another name.
"""

import re
import unicodedata
from functools import cache
from itertools import product

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
        text: The name.
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
