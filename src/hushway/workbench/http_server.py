"""Sockets and uvicorn: how both servers, the steward's and the readers', are run."""

import errno
import socket
from functools import partial
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from hushway.errors import HushwayError
from hushway.workbench.addresses import LOOPBACK, Address
from hushway.workbench.connections import LimitedConnection, UnknownConnections
from hushway.workbench.middleware import Access, SecurityMiddleware

LOOPBACK_6: Final = "::1"
# Connections that are accepted before any of them can be closed again.
BACKLOG: Final = 128
_TRIES: Final = 20
# This machine has no IPv6 at all, or no loopback address of it: nobody can listen there.
_NO_IPV6: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


def uvicorn_server(
    app: ASGIApp, *, address: Address, access: Access, goodbye_seconds: int
) -> uvicorn.Server:
    """Returns a server behind the security middleware, which logs nothing.

    Args:
        app: What it serves.
        address: Where it listens.
        access: Who is admitted.
        goodbye_seconds: How long a shutdown waits for responses that are being sent.
    """
    connection: Any = partial(LimitedConnection, access=access, unknown=UnknownConnections())
    config = uvicorn.Config(
        SecurityMiddleware(app, address=address, access=access),
        http=connection,
        backlog=BACKLOG,
        access_log=False,
        # Errors are answered; a log could quote a row or a token.
        log_config=None,
        log_level="critical",
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=goodbye_seconds,
        ws="none",
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Listens on one port.

    Raises:
        HushwayError: The port is taken.
    """
    try:
        return _bound(host, port)
    except OSError as problem:
        raise HushwayError(
            f"Port {port} of {host} cannot be used: {problem.strerror}.",
            advice="Name another one: hushway serve --port 8322",
        ) from None


def listen_as_localhost() -> list[socket.socket]:
    """Listens on a free port under both numbers of the name localhost.

    Browsers try [::1] first. Another program that listens there would answer in place of this one.

    Raises:
        HushwayError: There is no port that is free under both.
    """
    for _ in range(_TRIES):
        first = listen(LOOPBACK, 0)
        try:
            return [first, _bound(LOOPBACK_6, first.getsockname()[1])]
        except OSError as problem:
            if problem.errno in _NO_IPV6:
                return [first]
            first.close()
    raise HushwayError(
        f"No port is free under both {LOOPBACK} and {LOOPBACK_6}.",
        advice="End other servers on this machine, and start hushway serve again.",
    )


def _bound(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        # Connections before the server is ready wait, and are not refused.
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener
