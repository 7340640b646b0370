"""Limits on unauthenticated connections, in number and time (slow clients, open file handles).

Every program on the machine can open connections and send half a request. Without limits they could
use up all files that the process may open.
"""

import asyncio
from typing import Any, Final

from starlette.datastructures import Headers
from uvicorn.protocols.http.h11_impl import H11Protocol

from hushway.workbench.middleware import Access

# Browsers open six to a server. Beyond the limit the oldest is closed: our pages send their request
# at once, and are authenticated by the next one.
MOST_UNKNOWN: Final = 64
# For the request to arrive and to be answered.
MOST_SECONDS: Final = 10.0


class UnknownConnections:
    """The open connections that are not authenticated yet, the oldest first."""

    def __init__(self) -> None:
        self._open: dict[LimitedConnection, asyncio.TimerHandle] = {}

    def add(self, connection: "LimitedConnection") -> None:
        """Starts the timer of a new connection, and closes the oldest if there are too many."""
        self._open[connection] = connection.loop.call_later(MOST_SECONDS, self.end, connection)
        if len(self._open) > MOST_UNKNOWN:
            self.end(next(iter(self._open)))

    def forget(self, connection: "LimitedConnection") -> None:
        """Stops limiting a connection that is authenticated or closed."""
        timer = self._open.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def end(self, connection: "LimitedConnection") -> None:
        """Closes a connection without a response."""
        self.forget(connection)
        connection.transport.abort()


class LimitedConnection(H11Protocol):
    """A connection that is limited until a request on it is authenticated.

    Args:
        access: Who is admitted.
        unknown: All unauthenticated connections of this server.
        server: Arguments that uvicorn passes to every connection.
    """

    def __init__(self, *, access: Access, unknown: UnknownConnections, **server: Any) -> None:
        super().__init__(**server)
        self._access = access
        self._unknown = unknown

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Starts the limit."""
        super().connection_made(transport)
        self._unknown.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the limit."""
        self._unknown.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Ends the limit if the request is authenticated."""
        super().data_received(data)
        scope: Any = self.scope
        if scope is not None and self._access.knows(scope["path"], Headers(scope=scope)):
            self._unknown.forget(self)
