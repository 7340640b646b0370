"""The address of a server, by which foreign Host headers are rejected (DNS rebinding).

In a DNS rebinding attack a stranger's host name resolves to 127.0.0.1, so that a browser sends its
pages' requests to this server. The Host header then has the stranger's name.
"""

import ipaddress
import socket
from dataclasses import dataclass

LOOPBACK = "127.0.0.1"
# The name of 127.0.0.1 and of [::1]. The readers' pages use it: to a browser it is another site
# than the steward's, so that the two share neither a process nor a cookie.
LOOPBACK_NAME = "localhost"
_USUAL_PORT = 80


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a server listens.

    Attributes:
        host: An address or name of this machine.
        port: The port.
    """

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address for a browser."""
        host = socket.gethostname() if self._is_everywhere else self.host
        return f"http://{_bracketed(host)}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        number = _number(self.host)
        return self.host == LOOPBACK_NAME if number is None else number.is_loopback

    def is_ours(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name, port = _split(host)
        if port != self.port:
            return False
        if name == self.host:
            return True
        # No stranger controls a numeric address or the name of this machine.
        return self._is_everywhere and (_number(name) is not None or name == socket.gethostname())

    def is_our_origin(self, origin: str) -> bool:
        """Whether an Origin header names this server."""
        scheme, separator, host = origin.partition("://")
        return bool(separator) and scheme == "http" and self.is_ours(host)

    @property
    def _is_everywhere(self) -> bool:
        number = _number(self.host)
        return number is not None and number.is_unspecified


def _number(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _split(host: str) -> tuple[str, int | None]:
    """Splits a Host header into name and port; the port is None if it is none."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, str(_USUAL_PORT)
    digits = port.isascii() and port.isdigit() and len(port) <= len("65535")
    return name.removeprefix("[").removesuffix("]"), int(port) if digits else None
