"""Request bodies: small JSON objects, and the options of tasks, checked before one is started."""

import json
from typing import Any, Final

from starlette.requests import Request

from hushway.errors import PrivacyError
from hushway.privacy.loss import exact
from hushway.workbench.middleware import MOST_BYTES, TOO_MUCH
from hushway.workbench.plan_folder import PlanFile, revision_of
from hushway.workbench.responses import RefusalError

KINDS: Final = (
    "check",
    "price",
    "curve",
    "preview",
    "account",
    "publish",
    "ask",
    "verify",
    "revise",
)
_MOST_EPSILONS: Final = 30
_LONGEST_NUMBER: Final = 40
_MOST_GUESSED: Final = 10**12
_DEEPEST: Final = 20


async def body_of(request: Request) -> dict[str, Any]:
    """Reads a JSON object; an empty body is an empty object.

    Raises:
        RefusalError: It is too long, or is not a JSON object.
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
    """Returns a required text.

    Raises:
        RefusalError: It is missing, or is no text.
    """
    value = facts.get(name)
    if not isinstance(value, str) or not _is_whole(value):
        raise RefusalError(422, f"{name} must be a text.", advice="Send it in quotes.")
    return value


def texts_of(facts: dict[str, Any], name: str) -> list[str]:
    """Returns a required list of texts.

    Raises:
        RefusalError: It is missing, or is something else.
    """
    found = facts.get(name)
    if not isinstance(found, list):
        raise RefusalError(422, f"{name} must be a list of texts.", advice="Send it as a list.")
    return [text_of({name: one}, name) for one in found]


def guess_of(facts: dict[str, Any], name: str) -> int | None:
    """Returns a positive whole number, or None if there is none.

    Raises:
        RefusalError: It is something else.
    """
    value = facts.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= _MOST_GUESSED:
        raise RefusalError(
            422, f"{name} must be a whole number above 0.", advice="Send a rough public guess."
        )
    return value


def task_options(  # noqa: PLR0911  one for each kind
    kind: str, facts: dict[str, Any], plan: PlanFile
) -> dict[str, Any]:
    """Returns the options of a task.

    Raises:
        RefusalError: They make no sense, or the budget was not typed as the plan has it.
    """
    match kind:
        case "price":
            return _crowd(facts)
        case "ask":
            return {"where": texts_of(facts, "where")}
        case "curve":
            return {"epsilons": _epsilons(facts.get("epsilons")), **_crowd(facts)}
        case "preview":
            return {"epsilon": _epsilon(facts, "epsilon"), **_crowd(facts)}
        case "account":
            delta = None if facts.get("delta") is None else _epsilon(facts, "delta")
            return {"epsilon": _epsilon(facts, "epsilon"), "delta": delta}
        case "publish":
            return {"confirm": _confirmed(facts, plan), "anyway": facts.get("anyway") is True}
        case "revise":
            return {"final": facts.get("final") is True}
    return {"aliases": facts.get("aliases") is True}


def _is_whole(text: str) -> bool:
    """Whether a text has no lone surrogates, which no file can hold."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _depth(facts: Any) -> int:
    """Returns how deeply values are nested."""
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


def _crowd(facts: dict[str, Any]) -> dict[str, Any]:
    return {"trips": guess_of(facts, "trips"), "people": guess_of(facts, "people")}


def _epsilons(found: Any) -> list[str]:
    if not isinstance(found, list) or not 1 <= len(found) <= _MOST_EPSILONS:
        raise RefusalError(
            422, "epsilons must be a list of budgets.", advice=f"Send 1 to {_MOST_EPSILONS}."
        )
    return [_epsilon({"epsilon": one}, "epsilon") for one in found]


def _epsilon(facts: dict[str, Any], name: str) -> str:
    text = text_of(facts, name)
    try:
        positive = len(text) <= _LONGEST_NUMBER and exact(text) > 0
    except PrivacyError:
        positive = False
    if not positive:
        raise RefusalError(
            422, f"{name} must be a number above 0.", advice='Send it as text, such as "0.5".'
        )
    return text


def _confirmed(facts: dict[str, Any], plan: PlanFile) -> str:
    """Returns the budget that was typed, if it is the one that the plan spends."""
    text = plan.text()
    if "revision" in facts and facts["revision"] != revision_of(text):
        raise RefusalError(
            409,
            "The plan was changed since it was shown. Nothing was spent.",
            advice="Look at it again, and type its budget then.",
        )
    read = plan.read()
    if read.plan is None:
        raise RefusalError(
            422, "The plan does not describe a release yet.", advice="Put it in order first."
        )
    typed = _epsilon(facts, "confirm")
    if exact(typed) != read.plan.privacy.epsilon:
        raise RefusalError(
            422,
            "What was typed is not the budget of the plan. Nothing was spent.",
            advice="Type the epsilon of the plan, to say that you mean to spend it.",
        )
    return typed
