"""What the server answers: plain values as JSON, and refusals in sentences."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from hushway.errors import HushwayError
from hushway.exit_messages import Ending, ending_of


class RefusalError(Exception):
    """A request that is refused.

    Attributes:
        status: The status of HTTP that says why.
        ending: What is said.
    """

    def __init__(self, status: int, message: str, *, advice: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.ending = Ending(message=message, advice=advice)


def answer(facts: Any, status: int = 200) -> Response:
    """Answers with plain values."""
    return Response(to_json(facts), status_code=status, media_type="application/json")


def refused(status: int, ending: Ending) -> Response:
    """Answers with what went wrong."""
    return answer(ending_facts(ending), status)


def refused_by(error: Exception) -> Response:
    """Answers with an error; of one that nobody foresaw only the class: texts may quote a row."""
    if isinstance(error, RefusalError):
        return refused(error.status, error.ending)
    return refused(422 if isinstance(error, HushwayError) else 500, ending_of(error))


def ending_facts(ending: Ending) -> dict[str, Any]:
    """Returns what went wrong as plain values."""
    return {"message": ending.message, "advice": ending.advice, "notes": list(ending.notes)}


def to_json(facts: Any) -> str:
    """Writes plain values: exact numbers as text, and nothing that browsers do not read."""
    return json.dumps(_plain(facts), default=str, ensure_ascii=False, allow_nan=False)


def _plain(facts: Any) -> Any:
    if isinstance(facts, float):
        return facts if math.isfinite(facts) else None
    if isinstance(facts, str):
        # Half a letter cannot be written as UTF-8.
        return facts.encode("utf-8", "replace").decode()
    if isinstance(facts, Mapping):
        return {str(name): _plain(value) for name, value in facts.items()}
    if isinstance(facts, Sequence) and not isinstance(facts, bytes):
        return [_plain(value) for value in facts]
    return facts
