r"""Texts of strangers on a screen: whatever a reader cannot see is written out.

A name of a file, an id or a title may hold characters that move the cursor, turn the direction of
the text or show nothing at all. With those a name can paint over what a program says. Here they
become visible: ESC becomes \x1b, a change of direction \u202e.
"""

import re
import unicodedata
from collections.abc import Iterable

# Controls, format characters (direction, zero width), surrogates, private use, unassigned, and the
# separators of lines and paragraphs.
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Fillers and joiners that Unicode calls letters or marks and that show nothing.
_UNSEEN_LETTERS = frozenset(map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)))
# Letters that need no second look; all others are looked at one by one.
_ODD = re.compile(r"[^ -~]")
_BYTE, _SHORT = 0xFF, 0xFFFF


def visible(text: str) -> str:
    """Returns a text on one line in which everything that cannot be seen is written out."""
    return _ODD.sub(lambda found: _written_out(found[0]), text)


def visible_json(text: str) -> str:
    """Returns JSON, as `json.dumps` lays it out, that says the same with visible characters."""
    return _ODD.sub(lambda found: _json_escape(found[0]), text)


def _is_unseen(letter: str) -> bool:
    return unicodedata.category(letter) in _UNSEEN_CATEGORIES or letter in _UNSEEN_LETTERS


def _written_out(letter: str) -> str:
    if not _is_unseen(letter):
        return letter
    code = ord(letter)
    if code <= _BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _SHORT else f"\\U{code:08x}"


def _json_escape(letter: str) -> str:
    # Newlines stand between values only: inside of texts JSON has escaped them already.
    if letter == "\n" or not _is_unseen(letter):
        return letter
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


_SHOWN = 20


def some_of(names: Iterable[str], shown: int = _SHOWN) -> str:
    """Returns names for a message, separated by commas: all of a few, or the first of many."""
    every = tuple(names)
    more = f" and {len(every) - shown:,} more" if len(every) > shown else ""
    return ", ".join(every[:shown]) + more
