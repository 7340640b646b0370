"""The secret in the address of the readers' pages.

A release may lie in a folder that only the steward can read, while every user of the machine can
reach a port. The secret stands in the path, so that links and files of a page carry it along, and
no browser sends it to another server: pages have the policy to name no referrer.
"""

import secrets
from typing import Final

from starlette.datastructures import Headers

from hushway.exit_messages import Ending
from hushway.workbench.entry import same

_BYTES: Final = 32


class ReaderLink:
    """Admits whoever knows the address.

    Args:
        secret: What stands first in every path.
    """

    read_only: Final = True
    refusal: Final = Ending(
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
        return same(path[: len(self.prefix)], self.prefix)


def new_secret() -> str:
    """Returns a secret that nobody can guess; it touches no release."""
    return secrets.token_urlsafe(_BYTES)
