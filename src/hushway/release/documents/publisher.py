"""Where the publisher of a release can be reached, and on what terms it may be used."""

import re
from typing import Literal

from hushway.privacy.certificate import Certificate

# Plans are asked for more. Here it is only told which is which, also in a stranger's certificate.
_MAIL = re.compile(r"[^\s@:/<>]+@[^\s@:/<>]+")
_WEB = re.compile(r"https?://[^\s<>\"{}|\\^`]+", re.ASCII)
_SPDX = re.compile(r"[A-Za-z0-9.+-]+", re.ASCII)


def address_of(certificate: Certificate) -> tuple[Literal["email", "path"] | None, str]:
    """Returns the publisher's address, and whether it is one for mail or on the web.

    The names are those of the data package. Text that is neither is no address.
    """
    contact = certificate.contact or ""
    if _WEB.fullmatch(contact):
        return "path", contact
    return ("email", contact) if _MAIL.fullmatch(contact) else (None, contact)


def licence_address(licence: str) -> str | None:
    """Returns where the text of a licence is; nothing if it is neither a name nor an address."""
    if _WEB.fullmatch(licence):
        return licence
    return f"https://spdx.org/licenses/{licence}.html" if _SPDX.fullmatch(licence) else None
