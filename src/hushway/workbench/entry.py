"""Who may come in: whoever has the address that was printed, once, and then that browser.

The session token travels in a header that only the workbench's own pages can set. It is not a
cookie: browsers send cookies to every port of a host, and so to every other server on this machine.

This randomness keeps strangers out. It touches no release.
"""

import secrets
from typing import Final

from starlette.datastructures import Headers

from hushway.exit_messages import Ending

# Sent in the body: addresses end up in histories.
ENTER: Final = "/api/enter"
# Pages of certificates, which a frame asks for without headers; each has a ticket of its own.
CERTIFICATES: Final = "/certificates/"

_BYTES: Final = 32
_BEARER: Final = "Bearer "
# The page itself and its parts, the same for everybody who has installed hushway.
_PUBLIC_PAGES: Final = ("/", ENTER)
_PUBLIC_FOLDERS: Final = ("/assets/", CERTIFICATES)


class Entry:
    """The token of the printed address, and the one that a browser keeps for the session."""

    read_only: Final = False
    refusal: Final = Ending(
        message="This browser has not come in yet.",
        advice="Open the address that hushway serve has printed; it works once.",
    )

    def __init__(self) -> None:
        self._token: str | None = secrets.token_urlsafe(_BYTES)
        self._session = secrets.token_urlsafe(_BYTES)

    @property
    def token(self) -> str | None:
        """What the printed address holds; None once it was used."""
        return self._token

    def address(self, url: str) -> str:
        """Returns the address to print. Browsers send what stands behind the # to nobody."""
        return f"{url}/#token={self._token}"

    def come_in(self, token: str) -> str | None:
        """Returns what the browser is to keep; None if the token is wrong or was used."""
        known = self._token
        if known is None or not same(token, known):
            return None
        self._token = None
        return self._session

    def is_public(self, path: str) -> bool:
        """Whether a path holds nothing of the steward's, or has another way to know who asks."""
        return path in _PUBLIC_PAGES or path.startswith(_PUBLIC_FOLDERS)

    def knows(self, _path: str, headers: Headers) -> bool:
        """Whether a request has the session token."""
        given = headers.getlist("authorization")
        return (
            len(given) == 1
            and given[0].startswith(_BEARER)
            and same(given[0].removeprefix(_BEARER), self._session)
        )


def same(given: str, known: str) -> bool:
    """Whether two secrets are the same; how long that takes tells nothing about them."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), known.encode())
