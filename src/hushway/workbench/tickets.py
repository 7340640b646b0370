"""Tickets for what a browser asks for without headers, such as a frame: each works once."""

import secrets
import threading
from pathlib import Path
from typing import Final

_BYTES: Final = 32
# One is used as soon as it is given out; only pages that were closed at once leave theirs.
_MOST_KEPT: Final = 50


class Tickets:
    """Tickets that were given out and not used yet."""

    def __init__(self) -> None:
        self._folders: dict[str, Path] = {}
        self._lock = threading.Lock()

    def give(self, folder: Path) -> str:
        """Returns a new ticket for the certificate of a release; the oldest may end by that."""
        ticket = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._folders[ticket] = folder
            for old in list(self._folders)[:-_MOST_KEPT]:
                del self._folders[old]
        return ticket

    def take(self, ticket: str) -> Path | None:
        """Returns what a ticket is for, once; None if there is no such ticket."""
        with self._lock:
            return self._folders.pop(ticket, None)
