"""What a curator lets in: exactly the kinds of questions that it knows, made of public facts."""

from typing import Any

from hushway.errors import PrivacyError
from hushway.privacy.loss import PureLoss, ZCDPLoss
from hushway.privacy.public_facts import refuse_undeclared
from hushway.privacy.query import Query


def admit(question: object, *kinds: type, spend: object = None, groups: object = None) -> None:
    """Refuses whatever is not exactly of a kind; asked before anything is charged or counted.

    Privacy:
        Exact counts meet the code of the question on their way. So a look-alike, a subclass, an
        object with methods of its own, or cells that nobody declared public are turned away.

    Args:
        question: What is asked.
        *kinds: The queries that the verb takes.
        spend: What is paid, if anything is.
        groups: The groups that come with it, if any.

    Raises:
        PrivacyError: Something is not what it should be.
    """
    kind: Any = type(question)
    if kind not in kinds:
        raise PrivacyError(
            f"This verb of a curator takes {_either(kinds)}, and was given {kind.__name__}.",
            advice="Ask with one of these; a class that looks like it does not do.",
        )
    refuse_undeclared(question)
    if kind is not Query and type(getattr(question, "base", None)) is not Query:
        raise PrivacyError(
            f"The base of a {kind.__name__} is not a Query.", advice="Build it from a Query."
        )
    if spend is not None and type(spend) not in {PureLoss, ZCDPLoss}:
        raise PrivacyError(
            f"A spend is a PureLoss or a ZCDPLoss, not {type(spend).__name__}.",
            advice="Give one of these.",
        )
    if groups is not None:
        refuse_undeclared(groups)


def _either(kinds: tuple[type, ...]) -> str:
    return " or ".join(kind.__name__ for kind in kinds)
