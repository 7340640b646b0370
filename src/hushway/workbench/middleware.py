"""Security middleware: Host and Origin headers, access, size of bodies, response headers.

It prevents DNS rebinding (foreign Host headers), CSRF (changes need our own Origin header, and a
session token that is no cookie), framing, and content that a page does not expect (CSP).
"""

from typing import Final, Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hushway.exit_messages import ErrorMessage
from hushway.workbench.addresses import Address
from hushway.workbench.responses import error_response, refused

MOST_BYTES: Final = 1_000_000
# Files of data come under this path: rows of a year of a city.
DATA: Final = "/api/data/"
MOST_FILE_BYTES: Final = 1_000_000_000

_SAFE: Final = {"GET", "HEAD"}
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    # Responses may count rows, or tell what is left of a budget.
    "cache-control": "no-store",
}


class Access(Protocol):
    """Who is admitted."""

    @property
    def read_only(self) -> bool:
        """Whether only safe methods are allowed."""

    @property
    def refusal(self) -> ErrorMessage:
        """The error for everyone else."""

    def is_public(self, path: str, /) -> bool:
        """Whether a path needs no secret."""

    def knows(self, path: str, headers: Headers, /) -> bool:
        """Whether a request has the secret."""


class SecurityMiddleware:
    """ASGI middleware that refuses requests which no page of ours sends, and sets headers.

    Args:
        app: The application behind it.
        address: Where the server listens.
        access: Who is admitted.
    """

    def __init__(self, app: ASGIApp, *, address: Address, access: Access) -> None:
        self._app = app
        self._address = address
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses a request, or passes it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            # There are no WebSockets here.
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        if refusal is not None:
            await refused(*refusal)(scope, receive, sending)
            return
        try:
            await self._app(scope, receive, sending)
        except Exception as error:  # noqa: BLE001  its text may quote a row: no log may have it
            if not started:
                await error_response(error)(scope, receive, sending)

    def _refusal(self, method: str, path: str, headers: Headers) -> tuple[int, ErrorMessage] | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._address.is_ours(hosts[0]):
            return 421, ErrorMessage(
                message="The request names another host than this server.",
                advice=f"Open it under its own address: {self._address.url}",
            )
        if method not in _SAFE and (refused_as := self._cross_site(headers)) is not None:
            return refused_as
        if not self._access.is_public(path) and not self._access.knows(path, headers):
            return 401, self._access.refusal
        length = headers.get("content-length", "0")
        most, refusal = (
            (MOST_FILE_BYTES, TOO_LARGE) if path.startswith(DATA) else (MOST_BYTES, TOO_MUCH)
        )
        if not (length.isascii() and length.isdigit()) or int(length) > most:
            return 413, refusal
        return None

    def _cross_site(self, headers: Headers) -> tuple[int, ErrorMessage] | None:
        """Returns why an unsafe request is refused, if none of our pages sent it (CSRF)."""
        if self._access.read_only:
            return 405, ErrorMessage(message="Nothing can be changed here.", advice="Only read.")
        origins = headers.getlist("origin")
        if len(origins) == 1 and self._address.is_our_origin(origins[0]):
            return None
        return 403, ErrorMessage(
            message="A change was asked for by another page, or by none.",
            advice="Use the pages of the workbench; browsers send their Origin along.",
        )


TOO_LARGE: Final = ErrorMessage(
    message=f"More than {MOST_FILE_BYTES:,} bytes are not taken from a browser.",
    advice="Put the file into the folder of the plans yourself.",
)
TOO_MUCH: Final = ErrorMessage(
    message=f"More was sent than the {MOST_BYTES:,} bytes that anything here needs.",
    advice="Send less.",
)
