import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushway.errors import BudgetError
from hushway.privacy.ledger.names import normal_name

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
