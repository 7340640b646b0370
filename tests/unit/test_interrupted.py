"""What the command says after Ctrl-C."""

import pytest
import typer

from hushway.cli import app as command


def interrupted() -> None:
    raise KeyboardInterrupt


def test_ctrl_c_is_one_clear_message_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    verbs = typer.Typer()
    verbs.command()(interrupted)
    monkeypatch.setattr(command, "app", verbs)
    monkeypatch.setattr("sys.argv", ["hushway"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "Interrupted." in said
    assert "hushway ledger show" in said
