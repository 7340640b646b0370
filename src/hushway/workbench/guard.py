"""What stands before everything else: who asks, under which name, from which page, how much."""

from typing import Final, Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hushway.exit_messages import Ending
from hushway.workbench.addresses import Address
from hushway.workbench.answers import refused, refused_by

MOST_BYTES: Final = 1_000_000

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
    # Whatever is answered may count rows, or tell what is left of a budget.
    "cache-control": "no-store",
}


class Access(Protocol):
    """Who is let in."""

    @property
    def read_only(self) -> bool:
        """Whether nothing can be changed, whoever asks."""

    @property
    def refusal(self) -> Ending:
        """What is said to those who are not let in."""

    def is_public(self, path: str, /) -> bool:
        """Whether a path is for everybody."""

    def knows(self, path: str, headers: Headers, /) -> bool:
        """Whether a request has the secret."""


class Guard:
    """Refuses what no page of ours asks, and says to browsers what our pages may do.

    Args:
        app: What is guarded.
        address: Where the server listens.
        access: Who is let in.
    """

    def __init__(self, app: ASGIApp, *, address: Address, access: Access) -> None:
        self._app = app
        self._address = address
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses a request, or lets it pass."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] != "http":
            # Nothing here speaks by other means than requests and answers.
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        if refusal is not None:
            await refused(*refusal)(scope, receive, sending)
            return
        try:
            await self._app(scope, receive, sending)
        except Exception as error:  # noqa: BLE001  its text may quote a row: no log may have it
            if not begun:
                await refused_by(error)(scope, receive, sending)

    def _refusal(self, method: str, path: str, headers: Headers) -> tuple[int, Ending] | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._address.is_ours(hosts[0]):
            return 421, Ending(
                message="This server is not the one that was asked for.",
                advice=f"Open it under its own address: {self._address.url}",
            )
        if method not in _SAFE and (foreign := self._foreign(headers)) is not None:
            return foreign
        if not self._access.is_public(path) and not self._access.knows(path, headers):
            return 401, self._access.refusal
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > MOST_BYTES:
            return 413, TOO_MUCH
        return None

    def _foreign(self, headers: Headers) -> tuple[int, Ending] | None:
        """Returns why a change is refused, if no page of ours asks for it."""
        if self._access.read_only:
            return 405, Ending(message="Nothing can be changed here.", advice="Only read.")
        origins = headers.getlist("origin")
        if len(origins) == 1 and self._address.is_our_origin(origins[0]):
            return None
        return 403, Ending(
            message="A change was asked for by another page, or by none.",
            advice="Use the pages of the workbench; browsers send their Origin along.",
        )


TOO_MUCH: Final = Ending(
    message=f"More was sent than the {MOST_BYTES:,} bytes that anything here needs.",
    advice="Send less.",
)
