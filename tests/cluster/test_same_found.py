"""The steward's check finds the same on a cluster and on one machine, oddities included."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from hushway.engine.settings import Cluster, EngineSettings
from hushway.families.load import plan_from, prepare
from support.little_plans import little_plan, write_little_files
from support.spark_cluster import SparkCluster

_ROWS = {"od": "trips", "sequences": "taps", "density": "events", "links": "traces"}
HERE = EngineSettings(memory_limit="500MB", threads=1, batch_rows=3)


def odd(table: pa.Table) -> pa.Table:
    """Adds rows with nothing in them, with strange ids, times and places, and many of one id."""
    first = table.slice(0, 1).to_pylist()[0]
    texts = {name for name in table.column_names if pa.types.is_string(table[name].type)}
    strange: list[dict[str, Any]] = [
        dict.fromkeys(table.column_names),
        {**first, "person": None},
        {**first, "person": " "},
        {**first, "time": "2026-03-29T02:30:00"},
        {**first, "time": "yesterday"},
        *({**first, name: "nowhere"} for name in sorted(texts - {"person", "time"})),
        *(first for _ in range(400)),
    ]
    return pa.concat_tables([table, pa.Table.from_pylist(strange, schema=table.schema)])


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("family", _ROWS)
def test_the_same_problems_and_the_same_facts_are_found(
    cluster: SparkCluster, family: str, form: str, tmp_path: Path
) -> None:
    write_little_files(tmp_path)
    name = _ROWS[family]
    stops = pa_csv.ConvertOptions(column_types={"person": pa.string(), "time": pa.string()})
    table = odd(pa_csv.read_csv(tmp_path / f"{name}.csv", convert_options=stops))
    folder = tmp_path / "many"
    folder.mkdir()
    for i in range(3):
        piece = table.take(list(range(i, len(table), 3)))
        if form == "csv":
            pa_csv.write_csv(piece, folder / f"{i}.csv")
            with (folder / f"{i}.csv").open("a") as file:
                file.write("too,few\n")
        else:
            pq.write_table(piece, folder / f"{i}.parquet", row_group_size=7)
    facts = little_plan(family)
    facts["data"][name] = "many"
    job = prepare(plan_from(facts, folder=tmp_path))
    there = replace(HERE, cluster=Cluster(master=cluster.master, parts=3))
    found = job.rows.check(HERE, notes=True)
    assert found.problems
    assert job.rows.check(there, notes=True) == found
