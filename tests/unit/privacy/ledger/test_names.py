import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushway.errors import BudgetError
from hushway.privacy.ledger.names import _CAPITAL, _SMALL, _STROKES, look_alike, normal_name

CYRILLIC_O = "\N{CYRILLIC SMALL LETTER O}"


def normal(text: str) -> str:
    return normal_name("data set", text)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("metro", "metro"),
        ("METRO", "metro"),
        ("  Metro \u00a0 Nord\u3000", "metro nord"),
        ("cafe\u0301", "café"),
        ("CAFÉ", "café"),
        ("Straße", "strasse"),
        ("ｍｅｔｒｏ", "metro"),  # noqa: RUF001
        ("𝓶𝓮𝓽𝓻𝓸", "metro"),
        ("ﬁne Ⅳ", "fine iv"),
        ("2026-03", "2026-03"),
        ("Öffis 東京 🚋", "öffis 東京 🚋"),
        ("МЕТРО", "метро"),  # noqa: RUF001
        ("地下鉄メトロ", "地下鉄メトロ"),
        ("서울 metro", "서울 metro"),
    ],
)
def test_a_name_has_one_form(written: str, name: str) -> None:
    assert normal(written) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("met\u200bro", r"U\+200B \(zero width space\)"),
        ("met\u00adro", r"U\+00AD \(soft hyphen\)"),
        ("metro\u200d", r"U\+200D"),
        ("\ufeffmetro", r"U\+FEFF"),
        ("metro\u202e", r"U\+202E"),
        ("metro\x00", r"U\+0000"),
        ("me\ntro", r"U\+000A"),
        ("metro\u2028", r"U\+2028"),
        ("metro\ue000", r"U\+E000"),
        ("metro\ud800", r"U\+D800"),
        ("metro\u0378", r"U\+0378"),
        ("metro\ufe0f", r"U\+FE0F"),
        ("metro\u034f", r"U\+034F"),
        ("metro\u3164", r"U\+3164"),
        ("metro\u2800", r"U\+2800"),
        ("metro\U000e0100", r"U\+E0100"),
    ],
)
def test_what_cannot_be_seen_is_refused_by_its_number(text: str, said: str) -> None:
    with pytest.raises(BudgetError, match=said) as refusal:
        normal(text)
    assert "Leave it out" in refusal.value.advice


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        (f"metr{CYRILLIC_O}", "Cyrillic and Latin"),
        ("metr\N{GREEK SMALL LETTER OMICRON}", "Greek and Latin"),
        ("\N{ARMENIAN SMALL LETTER OH}slo", "Armenian and Latin"),
        (f"東京{CYRILLIC_O}", "Cjk and Cyrillic"),
    ],
)
def test_letters_of_two_scripts_are_refused(text: str, scripts: str) -> None:
    with pytest.raises(BudgetError, match=f"mixes letters of {scripts}") as refusal:
        normal(text)
    assert refusal.value.advice == "Write the data set in one script."


@pytest.mark.parametrize("text", ["", "   ", "\u3000"])
def test_a_blank_name_is_refused(text: str) -> None:
    with pytest.raises(BudgetError, match="The data set is blank"):
        normal(text)


@pytest.mark.parametrize(
    "text", ["m" * 201, "\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}" * 20]
)
def test_a_long_name_is_refused_also_if_it_becomes_long(text: str) -> None:
    with pytest.raises(BudgetError, match="longer than 200"):
        normal(text)


# Letters, marks and signs of the scripts in use, where most folding happens.
@given(st.lists(st.integers(0x20, 0x33FF).map(chr), max_size=12).map("".join))
def test_a_normal_name_is_its_own_normal_form(text: str) -> None:
    try:
        name = normal(text)
    except BudgetError:
        return
    assert normal(name) == name
    assert normal(unicodedata.normalize("NFD", name)) == name
    assert name == " ".join(name.split())


# Whole names in another script.
COPA = "".join(
    unicodedata.lookup(f"CYRILLIC SMALL LETTER {letter}") for letter in ("ES", "O", "ER", "A")
)
HAPPY = "".join(
    unicodedata.lookup(f"GREEK CAPITAL LETTER {letter}")
    for letter in ("ETA", "ALPHA", "RHO", "RHO", "UPSILON")
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("copa", COPA),
        ("Happy", HAPPY),
        ("metro", "metr0"),
        ("metro", "métro"),
        ("modern", "modem"),
        ("line 1", "line l"),
        ("MetroI", "metrol"),
        ("2026-03", "2026\N{EN DASH}03"),
        ("2026-03", "2026_03"),
        ("2026-03", "2026 03"),
        ("2026-03", "٢٠٢٦-٠٣"),
        ("istanbul", "\N{LATIN SMALL LETTER DOTLESS I}stanbul"),
        ("istanbul", "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}stanbul"),
        ("lodz", "łódź"),
        ("vvest", "west"),
        ("2026-03", "2026\N{MINUS SIGN}03"),
        ("2026-03", "2026--03"),
        ("2026-03", "2026 - 03"),
        ("2026-03", "2026\N{KATAKANA-HIRAGANA PROLONGED SOUND MARK}03"),
        ("2026-03", "2026-03."),
        ("2026-03", "2026-03-"),
        ("2026-03", "2026.03"),
        ("2026-03", "2026/03"),
        ("2026-03", "2026\N{BOX DRAWINGS LIGHT HORIZONTAL}03"),
        ("2026-03", "2026\N{CJK UNIFIED IDEOGRAPH-4E00}03"),
        ("metro", "metro\N{MODIFIER LETTER PRIME}"),
        ("metro", "'metro'"),
        ("محمد", "محـمد"),
    ],
)
def test_names_that_look_alike_are_told(one: str, other: str) -> None:
    first, second = normal_name("name", one), normal_name("name", other)
    assert first != second
    assert look_alike(first, second)
    assert look_alike(second, first)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("metro", "bus"),
        ("metro", "metro 2"),
        ("2026-03", "2026-04"),
        ("2026-03", "2026-03 again"),
        ("week 11", "week 12"),
        ("north", "south"),
        ("東京", "京都"),
        ("十一月", "十月二"),
        ("2026-03", "202603"),
        ("metro", "metro+"),
        ("north-south", "northsouth"),
        ("कि", "कु"),
    ],
)
def test_names_that_differ_to_the_eye_do_not_look_alike(one: str, other: str) -> None:
    assert not look_alike(normal_name("name", one), normal_name("name", other))


def test_every_letter_of_the_tables_is_one_that_a_name_can_hold() -> None:
    small = [letter for letters in _SMALL.values() for letter in letters]
    assert len(set(small)) == len(small)
    for letter in small:
        if letter.isalnum():
            assert normal_name("name", letter) == letter, letter
    capital = [letter for letters in _CAPITAL.values() for letter in letters]
    assert len(set(capital)) == len(capital)
    assert [letter for letter in capital if letter.upper() != letter] == []


# Every character that Unicode itself calls punctuation or a gap, or names like one.
_NAMED = re.compile(r"\b(HYPHEN|DASH|MINUS|FULL STOP|HORIZONTAL BAR|MIDDLE DOT|BULLET)\b")
_LETTERS = ("Lo", "Lu", "Ll", "Nd", "Nl", "No", "Mn", "Mc", "Me")


def separators() -> list[str]:
    found = []
    for character in map(chr, range(sys.maxunicode + 1)):
        category = unicodedata.category(character)
        if category[0] in "PZ" or (
            category not in _LETTERS and _NAMED.search(unicodedata.name(character, ""))
        ):
            found.append(character)
    return [*found, *sorted(_STROKES)]


def usable(name: str) -> str | None:
    """A name as the ledger keeps it; None where it is refused, or unfolds into letters."""
    try:
        return normal_name("name", name)
    except BudgetError:
        return None


SEPARATORS = separators()


def test_every_dash_dot_and_gap_of_unicode_is_taken_for_a_hyphen() -> None:
    missed = [
        f"{ord(character):04X}"
        for character in SEPARATORS
        if (name := usable(f"2026{character}03")) is not None
        and not look_alike(normal_name("name", "2026-03"), name)
    ]
    assert missed == []


def test_every_dash_dot_and_gap_of_unicode_at_an_end_is_taken_for_nothing() -> None:
    missed = [
        f"{ord(character):04X}"
        for character in SEPARATORS
        for written in (f"metro{character}", f"{character}metro")
        if (name := usable(written)) is not None and not look_alike("metro", name)
    ]
    assert missed == []


gaps = st.text(st.sampled_from(SEPARATORS), min_size=1, max_size=4)
words = st.lists(st.sampled_from(["metro", "north", "2026", "03"]), min_size=2, max_size=4)


@given(words=words, gap=gaps, end=st.one_of(st.just(""), gaps))
def test_names_that_differ_in_punctuation_only_look_alike(
    words: list[str], gap: str, end: str
) -> None:
    name = usable(gap.join(words) + end)
    if name is not None:
        assert look_alike("-".join(words), name)


@given(words=words, others=words, gap=gaps)
def test_names_of_other_words_do_not(words: list[str], others: list[str], gap: str) -> None:
    one, other = usable(gap.join(words)), usable("-".join(others))
    if one is not None and other is not None and words != others and not set(gap) & _STROKES:
        assert not look_alike(one, other)
