"""A ledger whose connection is interrupted while it closes: the interruption, and no traceback."""

import logging
from pathlib import Path

import pytest
from sqlalchemy.engine.default import DefaultDialect

from hushway.privacy.ledger import Ledger


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_an_interruption_while_closing_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Ledger.connect(tmp_path / "ledger.db") as ledger:
        # Without handlers of the test's own, as in a command.
        monkeypatch.setattr(logging.getLogger(), "handlers", [])
        monkeypatch.setattr(DefaultDialect, "do_close", interrupted)
        monkeypatch.setattr(DefaultDialect, "do_terminate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.accounts()
    assert capfd.readouterr().err == ""
