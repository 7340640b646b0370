"""Finished runs on the disk: kept, taken up again, never mixed with those of another study."""

import json
from pathlib import Path

import pytest

import hushway
from hushway.errors import PlanError
from hushway.transit.study.reproduce import code_digest, fingerprint, opened_journal
from hushway.transit.study.run import Outcome, Task

MARK = {"hushway": "1", "window_s": (0, 60)}


def outcome(run: int) -> Outcome:
    task = Task(day="weekday", epsilon="0.1" if run else None, mechanism="O5", run=run)
    return Outcome(task=task, figures={"shuttles": 40.0 + run, "leg_wait_s": 1 / 3})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "runs.jsonl"
    with opened_journal(path, MARK) as journal:
        for run in range(3):
            journal.add(outcome(run))
    return path


def done(path: Path) -> dict[Task, dict[str, float]]:
    with opened_journal(path, MARK) as journal:
        return journal.done


def test_runs_come_back_exactly(path: Path) -> None:
    assert done(path) == {outcome(run).task: outcome(run).figures for run in range(3)}


def test_a_run_is_on_the_disk_before_the_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with opened_journal(path, MARK) as journal:
        journal.add(outcome(0))
        assert len(path.read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_half_written_last_line_is_dropped_and_written_over(path: Path, cut: int) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with opened_journal(path, MARK) as journal:
        assert [task.run for task in journal.done] == [0, 1]
        journal.add(outcome(2))
    assert path.read_bytes() == whole


def test_a_last_line_of_rubbish_is_dropped(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole + b"\0\0\0\n")
    assert len(done(path)) == 3
    assert path.read_bytes() == whole


def test_a_half_written_first_line_begins_anew(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:10])
    assert done(path) == {}
    assert json.loads(path.read_bytes()) == {"fingerprint": {"hushway": "1", "window_s": [0, 60]}}


def test_damage_in_the_middle_is_refused_and_left_as_it_is(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b'{"day": \n'
    path.write_bytes(b"".join(lines))
    with pytest.raises(PlanError, match="line 3"):
        done(path)
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("line", ['{"day": "weekday"}', "[1]", '{"figures": {"shuttles": "x"}}'])
def test_lines_that_are_no_runs_are_refused(path: Path, line: str) -> None:
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(PlanError, match="one finished run a line"):
        done(path)


def test_runs_of_another_study_are_refused_and_kept(path: Path) -> None:
    whole = path.read_bytes()
    with (
        pytest.raises(PlanError, match="another city") as refused,
        opened_journal(path, MARK | {"hushway": "2"}),
    ):
        pass
    assert "another folder" in refused.value.advice
    assert path.read_bytes() == whole


def test_it_tells_the_days_apart_and_is_the_same_every_time() -> None:
    mark = fingerprint()
    assert mark == fingerprint()
    assert len(set(mark["days"].values())) == 2
    assert mark["window_s"] == [28_800, 36_000]
    assert mark["hushway"] == hushway.__version__


def test_all_code_counts(tmp_path: Path) -> None:
    folder = tmp_path / "transit"
    folder.mkdir(parents=True)
    (folder / "fleet.py").write_text("ENOUGH = 1", encoding="utf-8")
    before = code_digest(tmp_path)
    (folder / "fleet.txt").write_text("no code", encoding="utf-8")
    assert code_digest(tmp_path) == before
    (folder / "fleet.py").write_text("ENOUGH = 2", encoding="utf-8")
    assert code_digest(tmp_path) != before
