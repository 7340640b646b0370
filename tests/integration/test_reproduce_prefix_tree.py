"""The experiments of the prefix-tree paper, on cities a hundred times smaller."""

import json
from pathlib import Path

import pytest

from hushway.families.sequences.study.report import headline_tables, report, statements
from hushway.families.sequences.study.reproduce import (
    EPSILON,
    HEIGHT,
    METHODS,
    Reproduction,
    reproduce_prefix_tree,
)
from hushway.privacy.measured import Internal
from hushway.progress import quiet

# All heights and budgets, in a minute and a half.
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def found() -> Internal[Reproduction]:
    return reproduce_prefix_tree(runs=1, records=8000, progress=quiet)


def test_every_method_is_measured_at_every_setting(found: Internal[Reproduction]) -> None:
    for data in ("Metro", "Bus"):
        for method in METHODS:
            error = found.value.of(data, method, EPSILON, HEIGHT, "queries.3")
            patterns = found.value.of(data, method, EPSILON, HEIGHT, "patterns.300")
            assert error is not None
            assert error.mean >= 0
            assert patterns is not None
            assert 0 <= patterns.mean <= 300


def test_a_larger_budget_finds_more_patterns(found: Internal[Reproduction]) -> None:
    for data in ("Metro", "Bus"):
        little = found.value.of(data, "learned", "0.5", HEIGHT, "patterns.300")
        much = found.value.of(data, "learned", "1.5", HEIGHT, "patterns.300")
        assert little is not None
        assert much is not None
        assert much.mean > little.mean


def test_printed_figures_stand_beside_ours(found: Internal[Reproduction]) -> None:
    table = headline_tables(found.value)[0]
    hybrid = next(row for row in table.rows if row[:2] == ["Metro", "Hybrid"])
    assert hybrid[3::2] == ["100", "149", "185", "220", "257"]
    assert any("relative error" in line for line in statements(found.value))


def test_numbers_tables_and_figures_are_saved(
    found: Internal[Reproduction], tmp_path: Path
) -> None:
    report(found).value.save(tmp_path)
    assert json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))["runs"] == 1
    assert "Table 5" in (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert (tmp_path / "figures-3-5.png").read_bytes().startswith(b"\x89PNG")
