"""Every engine gives the counts that the rule in words gives, to the last one, in every family."""

from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest

from support.conformance.case import Case
from support.conformance.engines import Engine
from support.little_plans import FAMILIES

CASES: list[Case] = [
    case for family in FAMILIES for case in import_module(f"support.conformance.{family}").CASES
]
IN_MEMORY = [case for case in CASES if case.by_memory is not None]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_engine_counts_what_the_rule_says(engine: Engine, case: Case, tmp_path: Path) -> None:
    if engine.reads == "csv" and not case.in_csv:
        pytest.skip("ids of CSV files are text, and have no lists")
    if engine.reads == "csv" and engine.name == "cluster":
        pytest.skip(
            "a worker reads a CSV file as one machine does; findings and refusals look at it"
        )
    rows = case.rows()
    if engine.name == "clickhouse" and any(pa.types.is_list(kind) for kind in rows.schema.types):
        pytest.skip("a list cannot be missing in ClickHouse, and here some are")
    assert all(case.expected)
    for placed in engine.put(rows, tmp_path):
        assert case.count(placed.path, placed.settings) == case.expected


@pytest.mark.parametrize("case", IN_MEMORY, ids=str)
def test_arrays_in_memory_count_what_the_rule_says(case: Case) -> None:
    assert case.by_memory is not None
    assert case.by_memory() == case.expected
