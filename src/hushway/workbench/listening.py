"""Sockets to listen on: exactly where the address that is announced leads."""

import errno
import socket
from typing import Final

from hushway.errors import HushwayError
from hushway.workbench.addresses import LOOPBACK
from hushway.workbench.serving import BACKLOG

LOOPBACK_6: Final = "::1"
_TRIES: Final = 20
# This machine has no IPv6 at all, or no loopback address of it: nobody can listen there.
_NO_IPV6: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)


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

    Browsers try [::1] first. If somebody else listened there, they would answer in our place.

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
        # Whoever comes before all is ready waits, and is not turned away.
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener
