"""Starts the readers' process and tells it which releases to show.

Privacy:
    It is given the folders of releases, and neither a plan nor a ledger: not as an argument, not in
    its environment, not as an open file.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from hushway.workbench.addresses import LOOPBACK, READERS

# What Python needs to run at all; above all nothing that names a ledger, an engine or a password.
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
_SECONDS_TO_END: Final = 5.0


class ReaderProcess:
    """A process that serves releases on a port of its own."""

    def __init__(self) -> None:
        listener = socket.socket()
        listener.bind((LOOPBACK, 0))
        # Whoever comes before the process is ready waits, and is not turned away.
        listener.listen()
        self.url = f"http://{READERS}:{listener.getsockname()[1]}/"
        self._slugs: Mapping[str, str] = {}
        self._lock = threading.Lock()
        self._process = subprocess.Popen(  # noqa: S603  our own module
            [sys.executable, "-P", "-m", "hushway.workbench.reader", str(listener.fileno())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(listener.fileno(),),
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            cwd="/",
            start_new_session=True,
        )
        listener.close()

    def show(self, folders: Sequence[Path]) -> None:
        """Shows releases, and waits until they are drawn."""
        assert self._process.stdin is not None and self._process.stdout is not None  # noqa: S101, PT018  pipes
        with self._lock:
            try:
                line = json.dumps([os.fspath(folder) for folder in folders])
                self._process.stdin.write(f"{line}\n".encode())
                self._process.stdin.flush()
                said: dict[str, Any] = json.loads(self._process.stdout.readline())
            except (OSError, ValueError):
                # Readers' pages that ended change nothing for the steward.
                return
            self._slugs = {one["folder"]: one["slug"] for one in said["shown"]}

    def slug_of(self, folder: Path) -> str | None:
        """Returns the address of a release in the readers' pages; None if it is not shown."""
        return self._slugs.get(os.fspath(folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Ends it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
