"""Other releases of a series that one learns from: how they are named, and what they tell."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from hushway.errors import ReleaseError
from hushway.privacy.certificate import Certificate

# Among the parameters of a mechanism.
LEARNT_FROM: Final = "learnt_from"
# The day that a step begins with, where releases hold no periods.
FIRST_DAY: Final = "first_day"


class Vintage(StrEnum):
    """How often a step of a series was fitted: at first, again with other steps, or for good."""

    FIRST = "first"
    REVISED = "revised"
    FINAL = "final"


@dataclass(frozen=True, kw_only=True)
class OtherRelease:
    """A release of another step, whose files are as they were sealed.

    Attributes:
        facts: What its data package says about its table.
        seal: The digest of its seal, which stands for all of its files.
        steps: How many steps it is away; later ones have a negative number, and a release that is
            revised is 0 steps away from its revision.
        final: Whether the publisher revises it for the last time.
    """

    folder: Path
    certificate: Certificate
    facts: Mapping[str, Any]
    seal: str
    steps: int
    final: bool = False

    @property
    def stated(self) -> dict[str, Any]:
        """What a certificate says of it."""
        stated = {
            "release": self.certificate.release_id,
            "seal": self.seal,
            "steps_away": self.steps,
        }
        return stated | {"final": True} if self.final else stated


def named(certificate: Certificate) -> Sequence[Mapping[str, Any]]:
    """Returns how a certificate names the releases that it learnt from."""
    names: Sequence[Mapping[str, Any]] = certificate.terms.mechanism.parameters.get(LEARNT_FROM, ())
    return names


def revised_by(names: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Returns how the release is named that a revision revises; None if it is no revision."""
    return next((each for each in names if each["steps_away"] == 0), None)


def is_revision(certificate: Certificate) -> bool:
    """Whether a release holds no answers of its own, but those of one that it revises."""
    return vintage_of(certificate) is not Vintage.FIRST


def vintage_of(certificate: Certificate) -> Vintage:
    """Returns how often its step was fitted."""
    revised = revised_by(named(certificate))
    if revised is None:
        return Vintage.FIRST
    return Vintage.FINAL if "final" in revised else Vintage.REVISED


@dataclass(frozen=True, kw_only=True, eq=False)
class OtherStep:
    """A release of another step, as a mechanism that learns from it holds it.

    Attributes:
        stated: What a certificate says of it.
        answers: Reads its noisy answers as they lie in the public universe of who asks; None if its
            files are not at hand.
    """

    stated: Mapping[str, Any]
    answers: Callable[..., Any] | None = None


def stated_others(others: Sequence[OtherStep]) -> dict[str, Any]:
    """Returns what a certificate says of other steps: nothing if there are none."""
    return {LEARNT_FROM: [dict(other.stated) for other in others]} if others else {}


def certified_others(parameters: Mapping[str, Any]) -> tuple[OtherStep, ...]:
    """Returns the other steps of a certificate, whose files are not at hand.

    Raises:
        TypeError: They are not written as `stated_others` writes them.
    """
    kinds = {"release": str, "seal": str, "steps_away": int}
    others = parameters.get(LEARNT_FROM, ())
    for other in others:
        final = {"final": True} if "final" in other and other.get("steps_away") == 0 else {}
        types = {name: type(value) for name, value in other.items() if name not in final}
        if types != kinds or not final.items() <= other.items():
            raise TypeError
    return tuple(OtherStep(stated=other) for other in others)


def stated_first_day(day: date | None) -> dict[str, Any]:
    """Returns what a certificate says of the first day of a step: nothing if it need not."""
    return {} if day is None else {FIRST_DAY: day.isoformat()}


def certified_first_day(parameters: Mapping[str, Any]) -> date | None:
    """Returns the first day of a step, if a certificate states it.

    Raises:
        TypeError: It is not text.
        ValueError: It is not a day.
    """
    stated = parameters.get(FIRST_DAY)
    return None if stated is None else date.fromisoformat(stated)


def learnt_words(others: Sequence[OtherStep]) -> tuple[str, ...]:
    """Says what other steps were used for, on certificates."""
    if not others:
        return ()
    revised = revised_by([other.stated for other in others])
    many = len(others) - (revised is not None)
    releases = "1 other release" if many == 1 else f"{many} other releases"
    learnt = (
        f"Expectations come from the published noisy answers of {releases} of the series, too, "
        "which the parameters name: no row was read for that, and nothing spent."
    )
    rest = (learnt, "Errors of steps that learn from each other are not independent.")
    if revised is None:
        return rest
    kind = Vintage.FINAL if "final" in revised else Vintage.REVISED
    words = (
        f"This is a {kind} fit of the release {revised['release']}: it holds the noisy answers of "
        "that one, has measured nothing itself and has cost nothing; the account stands as it was "
        "stated there."
    )
    return words, *rest


def answers_of(others: Sequence[OtherStep], *universe: Any) -> Iterator[tuple[int, Any]]:
    """Yields how many steps away each other step is, and its noisy answers, one at a time.

    Raises:
        ReleaseError: Its files are not at hand.
    """
    for other in others:
        if other.stated["steps_away"] == 0:
            continue  # its answers are those that are fitted
        if other.answers is None:
            raise ReleaseError(
                f"The release learnt from {other.stated['release']}, which is not here.",
                advice="Give the folder that holds the other releases of the series.",
            )
        yield other.stated["steps_away"], other.answers(*universe)
