import json
import sys
import unicodedata

import pytest

from hushway.escaping import some_of, visible, visible_json

UNSEEN = {
    "\x1b": r"\x1b",
    "\x07": r"\x07",
    "\r": r"\x0d",
    "\n": r"\x0a",
    "\t": r"\x09",
    "\x7f": r"\x7f",
    "\x9b": r"\x9b",
    "\xad": r"\xad",
    "\u034f": r"\u034f",
    "\u200b": r"\u200b",
    "\u200f": r"\u200f",
    "\u2028": r"\u2028",
    "\u202e": r"\u202e",
    "\u2066": r"\u2066",
    "\ufeff": r"\ufeff",
    "\udcff": r"\udcff",
    "\ue000": r"\ue000",
    "\U000e0041": r"\U000e0041",
}


@pytest.mark.parametrize(("letter", "written"), UNSEEN.items(), ids=UNSEEN.values())
def test_what_cannot_be_seen_is_written_out(letter: str, written: str) -> None:
    assert visible(f"a{letter}b") == f"a{written}b"
    assert visible(visible(letter)) == written


def test_what_can_be_seen_stays() -> None:
    text = "Place de l\u2019Étoile → Αθήνα, 東京, ε = ½, 'quoted' [b] \\ 🚲"
    assert visible(text) == text
    assert visible_json(json.dumps(text, ensure_ascii=False)) == json.dumps(
        text, ensure_ascii=False
    )


@pytest.mark.long
def test_nothing_that_is_left_moves_a_cursor_or_turns_a_line() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    left = {unicodedata.category(letter) for letter in visible(everything)}
    assert not left & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@pytest.mark.parametrize("letter", UNSEEN, ids=UNSEEN.values())
def test_json_says_the_same_with_what_can_be_seen(letter: str) -> None:
    facts = {f"key{letter}": [f"a{letter}b", 1]}
    text = visible_json(json.dumps(facts, ensure_ascii=False, indent=2))
    assert json.loads(text) == facts
    assert visible(text.replace("\n", "")) == text.replace("\n", "")


def test_a_long_list_of_names_makes_a_short_message() -> None:
    assert some_of(["a", "b"]) == "a, b"
    told = some_of(f"c{number}" for number in range(100_000))
    assert told.endswith("c19 and 99,980 more")
