"""Other steps of a series, as a table that learns from them sees them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushway.errors import ReleaseError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.release.others import LEARNT_FROM

if TYPE_CHECKING:
    from hushway.families.od.fit.learning.series import NoisyStep

Answers = Callable[[ODCells, Sequence[Feature]], "NoisyStep"]


@dataclass(frozen=True, kw_only=True, eq=False)
class OtherStep:
    """A release of another step.

    Attributes:
        stated: What a certificate says of it.
        answers: Reads its noisy answers onto the cells and totals of another table; None if its
            files are not at hand.
    """

    stated: Mapping[str, Any]
    answers: Answers | None = None


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
        if {name: type(value) for name, value in other.items()} != kinds:
            raise TypeError
    return tuple(OtherStep(stated=other) for other in others)


def learnt_words(others: Sequence[OtherStep]) -> tuple[str, ...]:
    """Says what other steps were used for, on certificates."""
    if not others:
        return ()
    releases = "1 other release" if len(others) == 1 else f"{len(others)} other releases"
    learnt = (
        f"Expectations come from the published noisy answers of {releases} of the series, too, "
        "which the parameters name: no row was read for that, and nothing spent."
    )
    return learnt, "Errors of steps that learn from each other are not independent."


def answers_of(
    others: Sequence[OtherStep], universe: ODCells, features: Sequence[Feature]
) -> Iterator[tuple[int, "NoisyStep"]]:
    """Yields how many steps away each other step is, and its noisy answers, one at a time.

    Raises:
        ReleaseError: Its files are not at hand.
    """
    for other in others:
        if other.answers is None:
            raise ReleaseError(
                f"The release learnt from {other.stated['release']}, which is not here.",
                advice="Give the folder that holds the other releases of the series.",
            )
        yield other.stated["steps_away"], other.answers(universe, features)
