"""From rows as people write them to rows that count, by `init` and `check` alone."""

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hushway.cli.verbs import app
from support.little_plans import little_plan, material_of, rows_file, write_little_files

WINDOW = (
    *("--zone", "Europe/Lisbon", "--first-day", "2026-03-02", "--last-day", "2026-03-02"),
    *("--epsilon", "1", "--yes"),
)
# How a file writes its times, what a steward says of that, and the delimiter of its columns.
MESSY: dict[str, tuple[Callable[[datetime], str], str, str]] = {
    "od": (lambda moment: f"{moment:%d/%m/%Y %H:%M:%S}", "16/11/2009 07:45:00", ";"),
    "sequences": (lambda moment: f"{moment:%d-%b-%y %H:%M:%S}", "%d-%b-%y %H:%M:%S", "\t"),
    "density": (lambda moment: f"{moment:%m/%d/%Y %I:%M:%S %p}", "11/16/2009 7:45:00 AM", ","),
    # In March the clocks of Lisbon show UTC.
    "links": (lambda moment: f"{moment.replace(tzinfo=UTC).timestamp():.0f}", "epoch_s", ","),
}


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code in (0, 2), done.output
    return done.stdout


def rewrite(file: Path, column: str, written: Callable[[datetime], str], delimiter: str) -> None:
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, rows[0], delimiter=delimiter)
        writer.writeheader()
        for row in rows:
            writer.writerow(row | {column: written(datetime.fromisoformat(row[column]))})


@pytest.mark.parametrize("family", MESSY)
def test_times_as_people_write_them_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_little_files(tmp_path)
    written, said, delimiter = MESSY[family]
    plan, public = little_plan(family), material_of(family).PUBLIC
    rewrite(tmp_path / rows_file(family), "time", written, delimiter)
    means = getattr(material_of(family), "INIT_OPTIONS", ())
    files = (f"--{public}", plan[public]["file"])
    run("init", rows_file(family), *means, *files, "--time-format", said, *WINDOW)
    checked = json.loads(run("check", "plan.toml", "--json"))
    assert checked["found"]["kept"] > 0
    assert "unparsable_time" not in json.dumps(checked["problems"])
