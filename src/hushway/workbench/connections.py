"""Limits on connections that have not shown a secret yet: they may be neither many nor slow.

Every program on the machine can open connections and send half a request. Each takes one of the
files that a process may have open, so that without limits the steward would find none left.
"""

import asyncio
from typing import Any, Final

from starlette.datastructures import Headers
from uvicorn.protocols.http.h11_impl import H11Protocol

from hushway.workbench.guard import Access

# Browsers open six to a server. When there are more, the oldest is closed: a page of ours sends its
# request at once, and is known by the next one.
MOST_UNKNOWN: Final = 64
# For the request to arrive and to be answered.
MOST_SECONDS: Final = 10.0


class UnknownConnections:
    """The open connections of a server on which nobody has shown a secret, the oldest first."""

    def __init__(self) -> None:
        self._open: dict[LimitedConnection, asyncio.TimerHandle] = {}

    def add(self, connection: "LimitedConnection") -> None:
        """Gives a new connection its time, and closes the oldest if there are too many."""
        self._open[connection] = connection.loop.call_later(MOST_SECONDS, self.end, connection)
        if len(self._open) > MOST_UNKNOWN:
            self.end(next(iter(self._open)))

    def forget(self, connection: "LimitedConnection") -> None:
        """Limits a connection no more: it is known now, or closed."""
        timer = self._open.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def end(self, connection: "LimitedConnection") -> None:
        """Closes a connection without a word: there may be nobody who reads it."""
        self.forget(connection)
        connection.transport.abort()


class LimitedConnection(H11Protocol):
    """A connection that is limited until a request on it has shown the secret.

    Args:
        access: Tells who is known.
        unknown: All connections of this server that are not.
        server: What uvicorn hands to every connection.
    """

    def __init__(self, *, access: Access, unknown: UnknownConnections, **server: Any) -> None:
        super().__init__(**server)
        self._access = access
        self._unknown = unknown

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begins to count."""
        super().connection_made(transport)
        self._unknown.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts no more."""
        self._unknown.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Looks whether the request that has arrived shows the secret."""
        super().data_received(data)
        scope: Any = self.scope
        if scope is not None and self._access.knows(scope["path"], Headers(scope=scope)):
            self._unknown.forget(self)
