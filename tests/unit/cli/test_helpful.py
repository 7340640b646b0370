"""The command as a whole: examples, silence, a log file, completion, other ways to start it."""

import logging
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from hushway.cli.verbs import app
from support.scene import PLAN, Scene


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def commands(command: Any = None, above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    command = typer.main.get_command(app) if command is None else command
    yield " ".join(above), command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, (*above, name))


@pytest.mark.parametrize("words", [words for words, _ in commands()])
def test_every_help_ends_in_examples_of_that_command(words: str) -> None:
    command = dict(commands())[words]
    assert command.epilog, f"{words} has no examples"
    heading, *examples = command.epilog.split("\n\n")
    assert heading == "Examples:"
    assert examples
    known = dict(commands())
    for example in examples:
        parts = shlex.split(example.partition(" > ")[0])
        parts = [part for part in parts if not re.fullmatch(r"HUSHWAY_\w+=.*", part)]
        assert parts.pop(0) == "hushway"
        assert " ".join(parts).startswith(words)
        name = ""
        while parts and f"{name} {parts[0]}".strip() in known:
            name = f"{name} {parts.pop(0)}".strip()
        options = {option for one in known[name].params for option in one.opts}
        used = {part for part in parts if part.startswith("--")}
        assert used <= options, f"{example} names options that are none"


def test_help_is_light() -> None:
    code = (
        "import sys\nsys.argv = ['hushway', '--help']\n"
        "from hushway.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'duckdb', 'matplotlib', 'pydantic', 'numba'}\n"
        "sys.exit(sorted(heavy & set(sys.modules)) != [])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hushway", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("hushway ")


def test_shells_can_complete_it() -> None:
    shown = run("--help").output
    assert "--install-completion" in shown
    assert "--show-completion" in shown


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.prepared(tmp_path / "scene", "links")


def test_quiet_says_errors_and_json_and_nothing_else(scene: Scene) -> None:
    plan = scene.folder / PLAN
    spoken = run("price", plan)
    assert spoken.exit_code == 0
    assert "costs" in spoken.output
    quiet = run("--quiet", "price", plan)
    assert (quiet.exit_code, quiet.output) == (0, "")
    assert '"cost"' in run("--quiet", "price", plan, "--json").output
    # It is not kept for the next command.
    assert run("price", plan).output == spoken.output


def test_quiet_still_says_what_went_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hushway.cli.app import main

    monkeypatch.setattr(sys, "argv", ["hushway", "-q", "price", str(tmp_path / "none.toml")])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with pytest.raises(SystemExit):
        main()
    assert "There is no plan" in capsys.readouterr().err
    run("--version")


def test_the_log_file_has_beginnings_ends_warnings_and_errors_only(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hushway.cli.app import main

    log = scene.folder / "hushway.log"
    assert run("--log-file", log, "check", scene.folder / PLAN).exit_code == 0
    logging.getLogger("hushway.release.job").warning("Two processors.")
    monkeypatch.setattr(sys, "argv", ["hushway", "--log-file", str(log), "price", "none.toml"])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with pytest.raises(SystemExit):
        main()
    lines = [line.split(" ", 2)[2] for line in log.read_text(encoding="utf-8").splitlines()]
    kinds = [line.partition(" ")[0] for line in lines]
    assert kinds == ["INFO", "INFO", "WARNING", "INFO", "INFO", "ERROR"]
    assert lines[0].endswith("check began")
    assert "There is no plan" in lines[-1]
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    # Another command of the same process writes there no longer.
    run("price", scene.folder / PLAN)
    logging.getLogger("hushway.release.job").warning("Two processors.")
    assert len(log.read_text(encoding="utf-8").splitlines()) == len(lines)


def test_a_log_file_that_cannot_be_is_refused(tmp_path: Path) -> None:
    done = run("--log-file", tmp_path / "none" / "x.log", "price", "plan.toml")
    assert "cannot be written" in str(done.exception)


def test_the_environment_names_the_ledger_to_be_shown(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUSHWAY_LEDGER", str(scene.folder / "ledger.db"))
    assert "traces" in run("ledger", "show").output
