"""Every engine finds the same problems, and says the same of the same bad rows."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.engine.settings import EngineSettings
from hushway.errors import HushwayError
from hushway.release.job import Job
from support.conformance.engines import HERE, Engine
from support.conformance.plans import BAD, job_of, little_rows, odd
from support.little_plans import FAMILIES, write_little_files

TIMES = {"text": pa.string(), "timestamps": pa.timestamp("us")}


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_engine_finds_the_same(
    engine: Engine, family: str, time: str, tmp_path: Path
) -> None:
    if engine.reads == "csv" and time == "timestamps":
        pytest.skip("times of CSV files are text")
    write_little_files(tmp_path)
    table = odd(little_rows(family, tmp_path, TIMES[time]))
    pq.write_table(table, tmp_path / "whole.parquet")
    expected = job_of(family, tmp_path, "whole.parquet").rows.check(HERE, notes=True)
    kinds = {problem.kind for problem in expected.problems}
    assert {"null_value", "impossible_time", "duplicate_row"} & kinds
    for placed in engine.put(table, tmp_path):
        found = job_of(family, tmp_path, placed.path).rows.check(placed.settings, notes=True)
        assert found == expected


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_engine_refuses_bad_rows_with_the_same_words(
    engine: Engine, family: str, bad: str, tmp_path: Path
) -> None:
    if engine.reads == "csv" and not BAD[bad].in_csv:
        pytest.skip("whatever CSV files have is text")
    if engine.name == "duckdb" and bad == "two columns alike":
        pytest.skip("DuckDB has no such tables")
    write_little_files(tmp_path)
    table = BAD[bad].spoil(little_rows(family, tmp_path, pa.string()))
    pq.write_table(table, tmp_path / "bad.parquet")
    for placed in engine.put(table, tmp_path):
        said = refusal(job_of(family, tmp_path, placed.path), placed.settings)
        assert BAD[bad].says in said[0]
        if engine.reads is None:
            here = refusal(job_of(family, tmp_path, "bad.parquet"), HERE)
            assert said == (here[0].replace("file bad.parquet", "table kept"), here[1])
        else:
            assert said == refusal(job_of(family, tmp_path, placed.path), HERE)


def refusal(job: Job, settings: EngineSettings) -> tuple[str, str | None]:
    with pytest.raises(HushwayError) as refused:
        job.rows.check(settings, notes=False)
    assert refused.value.__context__ is None
    return str(refused.value), refused.value.advice
