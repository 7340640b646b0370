"""Responses: plain values as JSON, and errors in sentences."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from hushway.errors import HushwayError
from hushway.exit_messages import ErrorMessage, error_message_of


class RefusalError(Exception):
    """A request that is refused.

    Attributes:
        status: The HTTP status.
        error: What happened and what to do.
    """

    def __init__(self, status: int, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.error = ErrorMessage(message=message, advice=advice)


def answer(facts: Any, status: int = 200) -> Response:
    """Returns plain values as a response."""
    return Response(to_json(facts), status_code=status, media_type="application/json")


def refused(status: int, error: ErrorMessage) -> Response:
    """Returns an error as a response."""
    return answer(error_facts(error), status)


def error_response(error: Exception) -> Response:
    """Returns an exception as a response; unforeseen ones without text, which may quote a row."""
    if isinstance(error, RefusalError):
        return refused(error.status, error.error)
    return refused(422 if isinstance(error, HushwayError) else 500, error_message_of(error))


def error_facts(error: ErrorMessage) -> dict[str, Any]:
    """Returns what went wrong as plain values."""
    return {"message": error.message, "advice": error.advice, "notes": list(error.notes)}


def to_json(facts: Any) -> str:
    """Writes plain values as strict JSON; fractions become text."""
    return json.dumps(_plain(facts), default=str, ensure_ascii=False, allow_nan=False)


def _plain(facts: Any) -> Any:
    if isinstance(facts, float):
        return facts if math.isfinite(facts) else None
    if isinstance(facts, str):
        # A lone surrogate cannot be written as UTF-8.
        return facts.encode("utf-8", "replace").decode()
    if isinstance(facts, Mapping):
        return {str(name): _plain(value) for name, value in facts.items()}
    if isinstance(facts, Sequence) and not isinstance(facts, bytes):
        return [_plain(value) for value in facts]
    return facts
