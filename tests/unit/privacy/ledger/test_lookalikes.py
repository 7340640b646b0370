import unicodedata

import pytest

from hushway.privacy.ledger.names import _CAPITAL, _SMALL, look_alike, normal_name

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
