"""Starts the readers' process and sends it the releases to show.

Privacy:
    It gets the folders of releases, and neither a plan nor a ledger: not as an argument, not in its
    environment, not as an open file. Only requests with the secret path are answered.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from hushway.errors import HushwayError
from hushway.numerics.folders import run_folder
from hushway.release.untrusted.confined import bare_environment
from hushway.workbench.addresses import LOOPBACK_NAME
from hushway.workbench.http_server import listen_as_localhost
from hushway.workbench.login import new_secret

_SECONDS_TO_END: Final = 5.0


class ReaderProcess:
    """A process that serves releases on a port of its own.

    Raises:
        HushwayError: There is no port for it, or no folder for what it draws.
    """

    def __init__(self) -> None:
        self._ends = ExitStack()
        scratch = self._ends.enter_context(_scratch())
        listeners = listen_as_localhost()
        secret, port = new_secret(), listeners[0].getsockname()[1]
        self.url = f"http://{LOOPBACK_NAME}:{port}/{secret}/"
        self._slugs: Mapping[str, str] = {}
        self._lock = threading.Lock()
        handles = [listener.fileno() for listener in listeners]
        self._process = subprocess.Popen(  # noqa: S603  our own module
            [sys.executable, "-P", "-m", "hushway.workbench.reader", *map(str, handles)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=handles,
            env={**bare_environment(), "TMPDIR": str(scratch)},
            cwd="/",
            start_new_session=True,
        )
        for listener in listeners:
            listener.close()
        with suppress(OSError):  # it has ended already
            # Not as an argument: other users can see the arguments of processes.
            self._send({"secret": secret, "scratch": str(scratch)})

    def show(self, folders: Sequence[Path]) -> None:
        """Shows releases, and waits until they are drawn."""
        assert self._process.stdout is not None  # noqa: S101  a pipe
        with self._lock:
            try:
                self._send([os.fspath(folder) for folder in folders])
                said: dict[str, Any] = json.loads(self._process.stdout.readline())
            except (OSError, ValueError):
                # If the readers' pages have ended, the steward can still work.
                return
            self._slugs = {one["folder"]: one["slug"] for one in said["shown"]}

    def slug_of(self, folder: Path) -> str | None:
        """Returns the slug of a release in the readers' pages; None if it is not shown."""
        return self._slugs.get(os.fspath(folder))

    def _send(self, facts: dict[str, str] | list[str]) -> None:
        assert self._process.stdin is not None  # noqa: S101  a pipe
        self._process.stdin.write(f"{json.dumps(facts)}\n".encode())
        self._process.stdin.flush()

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
        # Also if it had to be killed.
        self._ends.close()


@contextmanager
def _scratch() -> Iterator[Path]:
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(run_folder(Path(tempfile.gettempdir()), "reader"))
        except OSError:
            raise HushwayError(
                "There is no folder for temporary files, it cannot be written to, or others could "
                "change what is in it.",
                advice="Set TMPDIR to a folder that only you may write to.",
            ) from None
        yield folder
