"""Who may come in: whoever has the address that was printed, once, and then that browser.

This randomness keeps strangers out. It touches no release.
"""

import secrets

_BYTES = 32


class Entry:
    """The token of the printed address, and the one that a browser keeps as a cookie.

    Args:
        port: Cookies are the same for all ports of a machine, so its name tells them apart.
    """

    def __init__(self, port: int) -> None:
        self.cookie_name = f"hushway-{port}"
        self._token: str | None = secrets.token_urlsafe(_BYTES)
        self._session = secrets.token_urlsafe(_BYTES)

    @property
    def token(self) -> str | None:
        """What the printed address holds; None once it was used."""
        return self._token

    def come_in(self, token: str) -> str | None:
        """Returns what the browser is to keep; None if the token is wrong or was used."""
        known = self._token
        if known is None or not _same(token, known):
            return None
        self._token = None
        return self._session

    def admits(self, cookie: str | None) -> bool:
        """Whether a browser has come in before."""
        return cookie is not None and _same(cookie, self._session)


def _same(given: str, known: str) -> bool:
    return secrets.compare_digest(given.encode("utf-8", "replace"), known.encode())
