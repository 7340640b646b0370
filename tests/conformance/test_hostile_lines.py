"""Lines of one person that other readers let run on into lines of others touch nobody."""

from itertools import zip_longest
from pathlib import Path

import pyarrow as pa
import pytest

from support.conformance.engines import Engine, in_csv
from support.conformance.plans import HOSTILE_LINES, job_of, little_rows
from support.little_plans import FAMILIES, write_little_files


@pytest.mark.parametrize("family", FAMILIES)
def test_hostile_lines_touch_no_other_line(family: str, tmp_path: Path) -> None:
    hostile_lines_are_malformed_and_no_more(in_csv(), family, tmp_path)


@pytest.mark.parametrize(
    "engine", [pytest.param("cluster, CSV", marks=pytest.mark.cluster)], indirect=True
)
@pytest.mark.parametrize("family", FAMILIES)
def test_hostile_lines_touch_no_other_line_on_a_cluster(
    engine: Engine, family: str, tmp_path: Path
) -> None:
    hostile_lines_are_malformed_and_no_more(engine, family, tmp_path)


def hostile_lines_are_malformed_and_no_more(engine: Engine, family: str, folder: Path) -> None:
    write_little_files(folder)
    table = little_rows(family, folder, pa.string())
    # Columns that nobody asks for are part of a line, too.
    wider = table.append_column("unused", pa.array(["x"] * len(table)))
    for placed in engine.put(wider, folder):
        job = job_of(family, folder, placed.path)
        before = job.rows.check(placed.settings, notes=True)
        spoil(Path(placed.path) / "0.csv")
        after = job.rows.check(placed.settings, notes=True)
        assert before.found is not None
        assert after.found is not None
        assert after.found.kept == before.found.kept
        assert after.found.read == before.found.read + len(HOSTILE_LINES)
        found = {problem.kind: problem.count for problem in after.problems}
        assert found.pop("malformed_row") == len(HOSTILE_LINES)
        assert found == {problem.kind: problem.count for problem in before.problems}


def spoil(file: Path) -> None:
    header, *lines = file.read_bytes().splitlines()
    pairs = zip_longest(HOSTILE_LINES.values(), lines, fillvalue=b"")
    mixed = [line for pair in pairs for line in pair]
    file.write_bytes(b"\n".join([header, *mixed, b""]))
