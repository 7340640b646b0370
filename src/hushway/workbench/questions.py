"""What a task may be asked: checked before its process is started."""

from typing import Any, Final

from hushway.errors import PrivacyError
from hushway.privacy.loss import exact
from hushway.workbench.answers import RefusalError
from hushway.workbench.bodies import guess_of, text_of
from hushway.workbench.shelf import ShelvedPlan, revision_of

KINDS: Final = ("check", "price", "curve", "standin", "account", "publish")
_MOST_EPSILONS: Final = 30
_LONGEST_NUMBER: Final = 40


def question_of(kind: str, facts: dict[str, Any], plan: ShelvedPlan) -> dict[str, Any]:
    """Returns the options of a task.

    Raises:
        RefusalError: They make no sense, or the budget was not typed as the plan has it.
    """
    match kind:
        case "price":
            return _crowd(facts)
        case "curve":
            return {"epsilons": _epsilons(facts.get("epsilons")), **_crowd(facts)}
        case "standin":
            return {"epsilon": _epsilon(facts, "epsilon"), **_crowd(facts)}
        case "account":
            delta = None if facts.get("delta") is None else _epsilon(facts, "delta")
            return {"epsilon": _epsilon(facts, "epsilon"), "delta": delta}
        case "publish":
            return {"confirm": _confirmed(facts, plan)}
    return {}


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


def _confirmed(facts: dict[str, Any], plan: ShelvedPlan) -> str:
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
