"""The page of a certificate: its structure and colours, for people and for what reads to them."""

import re
from fractions import Fraction
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import pytest

from hushway.release.documents.page import _error, _value_text

PAGE = (files("hushway.release.documents") / "page.html").read_text(encoding="utf-8")
# Normal text on these: WCAG 2.2, level AA.
LEAST_CONTRAST = 4.5


class Structure(HTMLParser):
    """Collects headings, columns of tables, pictures and regions that scroll."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(PAGE)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def colours(part: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def schemes() -> dict[str, dict[str, str]]:
    light = colours(re.findall(r"^:root \{(.*)\}$", PAGE, re.MULTILINE)[0])
    (dark,) = re.findall(r"^@media \(prefers-color-scheme: dark\) \{(.*)\}$", PAGE, re.MULTILINE)
    return {"light": light, "dark": light | colours(dark)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(scheme: str) -> None:
    own = schemes()[scheme]
    for ink in ("ink", "soft", "main", "warn", "alarm"):
        assert contrast(own[ink], own["paper"]) >= LEAST_CONTRAST, ink
    for ink in ("ink", "soft"):
        assert contrast(own[ink], own["wash"]) >= LEAST_CONTRAST, ink


def test_the_two_schemes_differ() -> None:
    both = schemes()
    assert luminance(both["light"]["paper"]) > 0.9
    assert luminance(both["dark"]["paper"]) < 0.05


def test_the_structure_can_be_read_aloud() -> None:
    tags = Structure().tags
    assert ("html", {"lang": "en"}) in tags
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    assert all(facts.get("scope") == "col" for tag, facts in tags if tag == "th")
    assert all(facts.get("alt") for tag, facts in tags if tag == "img")
    # What scrolls can be reached by the keyboard and has a name.
    wide = [facts for _, facts in tags if facts.get("class") == "wide"]
    assert len(wide) == 2
    assert all(facts["tabindex"] == "0" and facts["aria-label"] for facts in wide)


def test_what_to_conclude_stands_before_all_else() -> None:
    headings = re.findall(r"<h2>(.*?)</h2>", PAGE)
    assert headings[:2] == ["What you may conclude", "What you may not conclude"]


def test_many_deviations_are_a_list_and_few_a_sentence() -> None:
    few = "Standard deviations of the noise: 2.8 (trips), 4 (all trips)."
    assert _error(few) == f'<p class="small">{few}</p>'
    named = ", ".join(f"{i}.5 (prefixes of {i} stops)" for i in range(24))
    many = _error(f"Standard deviations of the noise: {named}. Counts have their own.")
    assert many.count("<li>") == 24
    assert "<summary>Standard deviations of the noise:</summary>" in many
    assert many.endswith('<p class="small">Counts have their own.</p>')


def test_parameters_are_numbers_that_people_read() -> None:
    exact = Fraction(64881598393, 2500000000000)
    assert _value_text({"spends": [str(exact), "zone"]}) == '{"spends": ["0.02595", "zone"]}'
