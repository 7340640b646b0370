"""Verifications in a process of their own."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hushway.cli.app import app
from hushway.errors import HushwayError
from hushway.release.untrusted import confined
from hushway.steward.verify_confined import verify_confined


def verdict(folder: Path) -> tuple[int, dict[str, object]]:
    done = CliRunner().invoke(app, ["verify", str(folder), "--json"])
    return done.exit_code, json.loads(done.output)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A folder that a verifier looks at, and finds nothing good in."""
    (tmp_path / "seal.json").write_text("{}")
    return tmp_path


def test_what_is_found_comes_back(broken: Path) -> None:
    code, answer = verdict(broken)
    assert code == 1
    assert answer["result"] == "failed"
    assert [check["name"] for check in answer["checks"]] == ["seal"]  # type: ignore[attr-defined]


def test_what_takes_too_long_is_stopped_and_fails(
    broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "READING", confined.Limits(0, 2 << 30))
    code, answer = verdict(broken)
    assert (code, answer["result"], answer["passed"]) == (1, "failed", False)
    assert "longer than 0 seconds" in str(answer["checks"])


def test_what_takes_too_much_memory_ends_and_fails(
    broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "READING", confined.Limits(60, 16 << 20))
    code, answer = verdict(broken)
    assert (code, answer["result"], answer["passed"]) == (1, "failed", False)
    assert "memory" in str(answer["checks"])


def test_what_cannot_be_asked_is_said_as_ever(tmp_path: Path) -> None:
    with pytest.raises(HushwayError, match="There is no folder nowhere") as caught:
        verify_confined(tmp_path / "nowhere", key=None, ledger=None)
    assert caught.value.advice


def test_modules_where_somebody_stands_are_not_ours(
    broken: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (broken / "json.py").write_text("raise SystemExit(3)")
    (broken / "resource.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(broken)
    _, answer = verdict(Path())
    assert answer["checks"][0]["name"] == "seal"


SPY = """
import json, os
from hushway.release.untrusted.confined import answer_confined
answer_confined(lambda question: {"names": sorted(os.environ)})
"""


def test_a_password_in_the_environment_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spying_module.py").write_text(SPY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for name in ("PGPASSWORD", "HUSHWAY_LEDGER", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "secret")
    told = confined.ask_confined("spying_module", {})["names"]
    assert {"PATH", "PYTHONPATH"} <= set(told)
    assert {"PGPASSWORD", "HUSHWAY_LEDGER", "AWS_SECRET_ACCESS_KEY"}.isdisjoint(told)
