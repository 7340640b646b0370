# ruff: noqa: RUF001  letters that look alike are what this file is about
"""Names that differ on disk and not to the eye, such as a Latin "copa" and a Cyrillic one.

`hushway.privacy.ledger.names` folds case and variants and keeps scripts apart within a name; what
is left are whole names of look-alikes. Two names are compared as they look in small letters, as
they are shown, and in capitals, as somebody may have written them. The tables are short: Latin,
Greek, Cyrillic and digits. They lean to the safe side, since all that a false alarm costs is
another name.
"""

import unicodedata

_FIRST_ACCENT = 200
_OVERLAY = 1
_SEPARATORS = ("Pd", "Pc", "Zs")

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
    return _as_small(one) == _as_small(other) or _as_capitals(one) == _as_capitals(other)


def _as_small(name: str) -> str:
    letters = _bare(name).translate(_SMALL_TABLE)
    return letters.replace("rn", "m").replace("vv", "w")


def _as_capitals(name: str) -> str:
    return _bare(name.upper()).translate(_CAPITAL_TABLE)


def _bare(text: str) -> str:
    """Takes off accents and strokes, writes digits as 0 to 9 and every dash or gap as a hyphen."""
    return "".join(
        _plain(character)
        for character in unicodedata.normalize("NFD", text)
        if not _is_accent(character)
    )


def _is_accent(character: str) -> bool:
    # Vowel signs of other scripts have lower classes: they are letters, not ornaments.
    place = unicodedata.combining(character)
    return place >= _FIRST_ACCENT or place == _OVERLAY


def _plain(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    return "-" if unicodedata.category(character) in _SEPARATORS else character


def _table(looks: dict[str, str]) -> dict[int, str]:
    return {ord(other): letter for letter, others in looks.items() for other in others}


_SMALL_TABLE = _table(_SMALL)
_CAPITAL_TABLE = _table(_CAPITAL)
