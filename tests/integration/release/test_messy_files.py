"""From rows as agencies send them to a verified release, by commands alone."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hushway.cli.verbs import app
from support.messy_files import MESSY, Messy, write_messy

_MOST_COMMANDS = 6


@pytest.mark.one_in(2)
@pytest.mark.parametrize("messy", MESSY, ids=lambda one: one.name)
def test_a_messy_file_becomes_a_verified_release_in_six_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, messy: Messy
) -> None:
    monkeypatch.chdir(tmp_path)
    write_messy(tmp_path, messy)
    said: list[str] = []

    def run(*words: str, exit_code: int = 0) -> str:
        done = CliRunner().invoke(app, words)
        assert done.exit_code == exit_code, done.output
        said.append(words[0])
        return done.stdout

    run("init", *messy.options)
    if messy.aliases:
        run("check", "plan.toml", "--aliases", "aliases.csv", exit_code=1)
    checked = json.loads(run("check", "plan.toml", "--json"))
    assert checked["found"]["kept"] == checked["found"]["read"] > 0
    run("ledger", "open", "plan.toml", "--epsilon", "4")
    run("publish", "plan.toml", "--yes")
    assert "adds up" in run("verify", "release")
    assert len(said) <= _MOST_COMMANDS
