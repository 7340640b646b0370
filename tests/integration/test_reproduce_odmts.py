"""The transit study of the CBDP paper: few runs of fixed seeds, interrupted and taken up again."""

import json
import multiprocessing
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hushway.cli.app import app
from hushway.errors import PlanError
from hushway.privacy.measured import Internal
from hushway.progress import quiet
from hushway.transit.picture import picture as network_picture
from hushway.transit.study import reproduce as odmts
from hushway.transit.study import run as odmts_run
from hushway.transit.study.report import headline_tables, report
from hushway.transit.study.reproduce import JOURNAL, reproduce_odmts
from hushway.transit.study.run import SERVICE_FIGURES, TABLE_FIGURES, ODMTSReproduction, Task

TASKS = 4


class Interrupting:
    """Stands for someone who presses Ctrl-C when so many runs are done."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.done = 0

    def __call__(self, step: str, _share: float | None = None, /) -> None:
        self.done += ", run " in step
        if self.done == self.after:
            raise KeyboardInterrupt


def study(
    folder: Path,
    *,
    processes: int = 1,
    progress: Callable[..., None] = quiet,
) -> Internal[ODMTSReproduction]:
    return reproduce_odmts(
        folder,
        runs=2,
        processes=processes,
        days=("weekend",),
        epsilons=("1",),
        mechanisms=("O5",),
        progress=progress,
    )


def numbers(found: Internal[ODMTSReproduction]) -> list[tuple[Task, dict[str, float]]]:
    """What must be the same every time: all but the seconds."""
    return [
        (outcome.task, {k: v for k, v in outcome.figures.items() if k != "sizing_s"})
        for outcome in found.value.outcomes
    ]


def runs_kept(folder: Path) -> list[str]:
    return (folder / JOURNAL).read_text(encoding="utf-8").splitlines()[1:]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odmts")


@pytest.fixture(scope="module")
def found(folder: Path) -> Internal[ODMTSReproduction]:
    return study(folder)


def test_every_run_records_table_fleet_and_service(found: Internal[ODMTSReproduction]) -> None:
    assert [str(outcome.task) for outcome in found.value.outcomes] == [
        "weekend: truth, run 1",
        "weekend, ε = 1: O5, run 1",
        "weekend: truth, run 2",
        "weekend, ε = 1: O5, run 2",
    ]
    for outcome in found.value.outcomes:
        assert set(outcome.figures) == {*TABLE_FIGURES, *SERVICE_FIGURES}
    true = found.value.outcomes[0].figures
    assert true["private_trips"] == found.value.trips["weekend"] == 2365
    assert true["private_cells"] == 287
    assert 0 < true["leg_wait_s"] <= true["trip_wait_s"]
    assert 0 < true["idle_s"] < 7200
    # Another seed draws other moments, and with them another day.
    assert true != found.value.outcomes[2].figures


def test_private_tables_need_more_shuttles_than_the_truth(
    found: Internal[ODMTSReproduction],
) -> None:
    true = found.value.true("weekend", "shuttles").mean
    assert true < found.value.of("weekend", "1", "O5", "shuttles").mean < 3 * true


@pytest.mark.long
@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupted_study_goes_on_where_it_stopped(
    processes: int, found: Internal[ODMTSReproduction], tmp_path: Path
) -> None:
    before = multiprocessing.active_children()
    with pytest.raises(KeyboardInterrupt):
        study(tmp_path, processes=processes, progress=Interrupting(after=3))
    assert multiprocessing.active_children() == before
    kept = runs_kept(tmp_path)
    assert len(kept) == 3
    shares = []

    def watch(_step: str, share: float | None = None, /) -> None:
        shares.append(share)

    # Most of it was found by so many processes, and is what one process finds.
    assert numbers(study(tmp_path, progress=watch)) == numbers(found)
    assert shares == [None, 3 / TASKS, 1.0]
    # What was done is neither written again nor changed: even its seconds are the old ones.
    assert runs_kept(tmp_path)[:3] == kept
    assert len(runs_kept(tmp_path)) == TASKS


def test_a_finished_study_runs_nothing_again(
    found: Internal[ODMTSReproduction], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(odmts_run, "size_fleet", None)
    assert study(folder).value == found.value


def test_a_half_written_run_is_done_again(
    found: Internal[ODMTSReproduction], folder: Path, tmp_path: Path
) -> None:
    whole = (folder / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(whole[:-20])
    assert numbers(study(tmp_path)) == numbers(found)
    assert [json.loads(line)["run"] for line in runs_kept(tmp_path)] == [0, 0, 1, 1]


def test_numbers_tables_and_pictures_are_saved(
    found: Internal[ODMTSReproduction], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, object] = {}

    def draw(plan: object, network: object, **rest: object) -> bytes:
        drawn.update(rest, plan=plan, network=network)
        return b"a picture"

    monkeypatch.setattr(network_picture, "draw_network", draw)
    # Pictures are of weekdays; what day it really was does not matter here.
    moved = tuple(
        replace(outcome, task=replace(outcome.task, day="weekday"))
        for outcome in found.value.outcomes
    )
    weekday = replace(found.value, outcomes=moved)
    report(Internal(weekday)).value.save(tmp_path, prefix="odmts-")
    facts = json.loads((tmp_path / "odmts-numbers.json").read_text(encoding="utf-8"))
    shuttles = [row for row in facts["figures"] if row["figure"] == "shuttles"]
    assert [row["mechanism"] for row in shuttles] == ["truth", "O5"]
    error = weekday.error("weekday", "1", "O5", "shuttles").mean
    assert shuttles[1]["relative_error"]["mean"] == error
    assert "Table 1, weekday" in (tmp_path / "odmts-tables.md").read_text(encoding="utf-8")
    assert (tmp_path / "figure-5cd.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "network-weekday.png").read_bytes() == b"a picture"
    assert drawn["title"] == "Sized by the exact trips, weekday 08:00-10:00"


def test_a_study_of_the_weekend_has_no_pictures(
    found: Internal[ODMTSReproduction], tmp_path: Path
) -> None:
    report(found).value.save(tmp_path, prefix="odmts-")
    assert {path.name for path in tmp_path.iterdir()} == {"odmts-numbers.json", "odmts-tables.md"}


def test_printed_errors_stand_beside_ours(found: Internal[ODMTSReproduction]) -> None:
    table = headline_tables(found.value)[0]
    assert table.rows[0][0::2][:1] == ["O5"]
    assert table.rows[0][2::2] == ["0.252", "0.005", "0.004"]
    assert table.rows[-1][2::2] == ["48", "127.8", "4779"]


def test_ctrl_c_says_how_to_go_on_and_nothing_of_budgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(odmts, "reproduce_odmts", interrupted)
    answer = CliRunner().invoke(app, ["reproduce", "cbdp", "--odmts", "--folder", str(tmp_path)])
    assert answer.exit_code == 1
    assert "Interrupted." in answer.output
    assert "the same command goes on" in answer.output
    assert "ledger" not in answer.output


def test_the_command_shows_tables_and_statements_and_saves_them(
    found: Internal[ODMTSReproduction], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, object] = {}

    def known(folder: Path, **options: object) -> Internal[ODMTSReproduction]:
        asked.update(options, folder=folder)
        return found

    monkeypatch.setattr(odmts, "reproduce_odmts", known)
    arguments = ["--odmts", "--runs", "2", "--processes", "3", "--folder", str(tmp_path)]
    answer = CliRunner().invoke(app, ["reproduce", "cbdp", *arguments], env={"COLUMNS": "200"})
    assert answer.exit_code == 0
    assert (asked["folder"], asked["runs"], asked["processes"]) == (tmp_path, 2, 3)
    assert "Table 1, weekend" in answer.output
    assert "2 runs each." in answer.output
    assert (tmp_path / "odmts-tables.md").exists()


def test_processes_without_the_transit_study_are_refused(tmp_path: Path) -> None:
    arguments = ["reproduce", "cbdp", "--processes", "2", "--folder", str(tmp_path)]
    refused = CliRunner().invoke(app, arguments).exception
    assert isinstance(refused, PlanError)
    assert "--odmts" in refused.advice
