"""What the command says after Ctrl-C."""

import signal
import sys
import threading

import pytest
import typer

from hushway.cli import verbs
from hushway.cli.app import main


def interrupted() -> None:
    raise KeyboardInterrupt


def test_ctrl_c_is_one_clear_message_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    only = typer.Typer()
    only.command()(interrupted)
    monkeypatch.setattr(verbs, "app", only)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(sys, "argv", ["hushway"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "Interrupted." in said
    assert "Nothing was spent." in said
