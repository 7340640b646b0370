"""Text in CSV files: no spreadsheet runs it, and nothing of it is lost."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hushway.geography.locations import Location, Locations, PlaceLabels
from hushway.release.formats.places import csv_bytes, locations_csv, read_locations
from hushway.release.untrusted.limits import csv_rows, guarded, is_risky, unguarded

# Texts that mean something to a spreadsheet, more often than chance would find them.
PARTS = st.sampled_from([*"'=+-@\t\r\n\" ,;＝＋－＠0159.eE", "\ufeff", "\u200b"])  # noqa: RUF001
TEXTS = st.one_of(
    st.text(alphabet=st.characters(codec="utf-8")), st.lists(PARTS, max_size=6).map("".join)
)
RUNS = "=+-@\t\r\n＝＋－＠"  # noqa: RUF001


@given(TEXTS)
@example("=1+1")
@example("'=1+1")
@example("''@a")
@example("-5")
@example("'-5")
@example("'s-Hertogenbosch")
def test_any_text_survives(text: str) -> None:
    assert unguarded(guarded(text)) == text


@given(TEXTS)
@example(" \n")
def test_no_text_that_is_written_is_run(text: str) -> None:
    written = guarded(text)
    assert written.strip(" ")[:1] not in tuple(RUNS) or float(written) is not None


@given(st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers()))
def test_numbers_are_not_touched(number: float) -> None:
    assert guarded(repr(number)) == repr(number)


@given(st.lists(TEXTS, min_size=2, max_size=2), st.lists(TEXTS, min_size=2, max_size=2))
def test_any_row_survives_a_csv_file(header: list[str], row: list[str]) -> None:
    assert csv_rows("x", csv_bytes(header, [row])) == [header, row]


@given(TEXTS, TEXTS, TEXTS)
def test_any_place_survives_its_file(key: str, name: str, label: str) -> None:
    places = (Location(id=key, name=name, lat=-1.5, lon=-2.0, zone=name),)
    locations = Locations(places, (PlaceLabels(column="=column", values=(label,)),))
    data = locations_csv(locations)
    again = read_locations(data)
    assert (again.places, again.labels) == (locations.places, locations.labels)
    for cell in next(iter([*csv.reader(io.StringIO(data.decode(), newline=""))][1:])):
        assert not is_risky(cell) or cell.startswith("'") or float(cell) <= 0


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=SUM(A1)", "'=SUM(A1)"),
        ("+49", "'+49"),
        ("-2+3", "'-2+3"),
        ("@cmd", "'@cmd"),
        ("\t=1", "'\t=1"),
        ("\rx", "'\rx"),
        (" =1", "' =1"),
        ("＝1", "'＝1"),  # noqa: RUF001
        ("'=1", "''=1"),
        ("'t Gooi", "'t Gooi"),
        ("-83.7", "-83.7"),
        ("-1e-05", "-1e-05"),
        ("north-west", "north-west"),
        ("", ""),
    ],
)
def test_a_quote_is_put_before_what_begins_as_a_formula(text: str, written: str) -> None:
    assert guarded(text) == written


def test_numbers_of_columns_stay_numbers() -> None:
    data = csv_bytes(["a"], [[str(number)] for number in np.arange(-2, 3).tolist()])
    assert data == b"a\n-2\n-1\n0\n1\n2\n"


def test_the_recipe_in_the_docs_takes_the_quote_away() -> None:
    docs = Path(__file__).parents[2] / "docs" / "reference" / "release-folder.md"
    (recipe,) = re.findall(r"```python\n(import re\n.*?)```", docs.read_text("utf-8"), re.DOTALL)
    scope: dict[str, Any] = {}
    exec(recipe, scope)  # noqa: S102 - our own documentation
    for text in ("=1", "'=1", "-5", "'s", " +a", "\tx", "＝1", "plain"):  # noqa: RUF001
        assert scope["as_it_was"](guarded(text)) == text
