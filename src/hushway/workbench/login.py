"""Who is admitted: a one-time login link with a session token, secret paths and one-time tokens.

The session token travels in a header that only the workbench's own pages can set, which also
prevents CSRF. It is not a cookie: browsers send cookies to every port of a host, and so to every
other server on this machine.

This randomness keeps strangers out. It touches no release.
"""

import secrets
import threading
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers

from hushway.exit_messages import ErrorMessage

# The token is sent in the body: URLs end up in browser histories.
LOGIN: Final = "/api/login"
# Pages of certificates, which a frame requests without headers; each has a one-time token.
CERTIFICATES: Final = "/certificates/"

_BYTES: Final = 32
_BEARER: Final = "Bearer "
# The page itself and its parts are the same for everybody who has installed hushway.
_PUBLIC_PAGES: Final = ("/", LOGIN)
_PUBLIC_FOLDERS: Final = ("/assets/", CERTIFICATES)
# A token is used as soon as it is issued; only pages that were closed at once leave theirs.
_MOST_UNUSED: Final = 50


class Login:
    """The one-time token of the printed link, and the session token that the browser keeps."""

    read_only: Final = False
    refusal: Final = ErrorMessage(
        message="This browser is not logged in.",
        advice="Open the address that hushway serve has printed; it works once.",
    )

    def __init__(self) -> None:
        self._token: str | None = new_secret()
        self._session = new_secret()

    @property
    def token(self) -> str | None:
        """The token of the link; None once it was used."""
        return self._token

    def link(self, url: str) -> str:
        """Returns the login link. Browsers never send the part after the # to a server."""
        return f"{url}/#token={self._token}"

    def redeem(self, token: str) -> str | None:
        """Returns the session token, once; None if the token is wrong or was used."""
        known = self._token
        if known is None or not same_secret(token, known):
            return None
        self._token = None
        return self._session

    def is_public(self, path: str) -> bool:
        """Whether a path needs no session token."""
        return path in _PUBLIC_PAGES or path.startswith(_PUBLIC_FOLDERS)

    def knows(self, _path: str, headers: Headers) -> bool:
        """Whether a request has the session token."""
        given = headers.getlist("authorization")
        return (
            len(given) == 1
            and given[0].startswith(_BEARER)
            and same_secret(given[0].removeprefix(_BEARER), self._session)
        )


class SecretPath:
    """Admits requests to the readers' pages, whose paths all begin with a secret.

    A release may be in a folder that only the steward can read, while every user of the machine can
    reach a port. Links and files of a page carry the path along, and no browser sends it to another
    server: the pages forbid referrers.

    Args:
        secret: The first part of every path.
    """

    read_only: Final = True
    refusal: Final = ErrorMessage(
        message="This is not the address of the readers' pages.",
        advice="Open them from the workbench: Read what is published.",
    )

    def __init__(self, secret: str) -> None:
        self.prefix = f"/{secret}/"

    def is_public(self, _path: str) -> bool:
        """Nothing is."""
        return False

    def knows(self, path: str, _headers: Headers) -> bool:
        """Whether a path begins with the secret."""
        return same_secret(path[: len(self.prefix)], self.prefix)


class OneTimeTokens:
    """Tokens for what a browser requests without headers, such as a frame; each works once."""

    def __init__(self) -> None:
        self._folders: dict[str, Path] = {}
        self._lock = threading.Lock()

    def issue(self, folder: Path) -> str:
        """Returns a new token for the certificate of a release; old unused ones expire."""
        token = new_secret()
        with self._lock:
            self._folders[token] = folder
            for old in list(self._folders)[:-_MOST_UNUSED]:
                del self._folders[old]
        return token

    def redeem(self, token: str) -> Path | None:
        """Returns the release of a token, once; None if there is no such token."""
        with self._lock:
            return self._folders.pop(token, None)


def new_secret() -> str:
    """Returns a secret that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


def same_secret(given: str, known: str) -> bool:
    """Whether two secrets are the same, compared in constant time."""
    return secrets.compare_digest(given.encode("utf-8", "replace"), known.encode())
