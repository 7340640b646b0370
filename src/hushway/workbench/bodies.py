"""What is sent to the server: small JSON objects with known values."""

import json
from typing import Any

from starlette.requests import Request

from hushway.workbench.answers import RefusalError
from hushway.workbench.guard import MOST_BYTES, TOO_MUCH

_DEEPEST = 20


async def body_of(request: Request) -> dict[str, Any]:
    """Reads a JSON object; an empty body is an empty one.

    Raises:
        RefusalError: It is too long, is no JSON, or no object.
    """
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > MOST_BYTES:
            raise RefusalError(413, TOO_MUCH.message, advice=TOO_MUCH.advice)
    if not data:
        return {}
    try:
        facts = json.loads(bytes(data), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise _unreadable() from None
    if not isinstance(facts, dict) or _depth(facts) > _DEEPEST:
        raise _unreadable()
    return facts


def text_of(facts: dict[str, Any], name: str) -> str:
    """Returns a text that must be there.

    Raises:
        RefusalError: It is not.
    """
    value = facts.get(name)
    if not isinstance(value, str) or not _is_whole(value):
        raise RefusalError(422, f"{name} must be a text.", advice="Send it in quotes.")
    return value


def guess_of(facts: dict[str, Any], name: str) -> int | None:
    """Returns a positive whole number, or None if there is none.

    Raises:
        RefusalError: It is something else.
    """
    value = facts.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _MOST:
        raise RefusalError(
            422, f"{name} must be a whole number above 0.", advice="Send a rough public guess."
        )
    return value


_MOST = 10**12


def _is_whole(text: str) -> bool:
    """Whether a text has no half letters, which no file can hold."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _depth(facts: Any) -> int:
    """Returns how deeply values lie in values; JSON has been read, so that is not very deep."""
    deepest, level = 0, [facts]
    while level and deepest <= _DEEPEST:
        deepest += 1
        level = [
            below
            for one in level
            if isinstance(one, dict | list)
            for below in (one.values() if isinstance(one, dict) else one)
        ]
    return deepest


def _refuse_constant(_name: str) -> None:
    raise ValueError


def _unreadable() -> RefusalError:
    return RefusalError(
        400, "What was sent is not a JSON object.", advice="Send names and values in braces."
    )
