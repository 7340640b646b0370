"""Other steps of a series, as a table that learns from them sees them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushway.errors import ReleaseError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.release.others import LEARNT_FROM, revised_by

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
    words = (
        f"This is a revised fit of the release {revised['release']}: it holds the noisy answers of "
        "that one, has measured nothing itself and has cost nothing; the account stands as it was "
        "stated there."
    )
    return words, *rest


def answers_of(
    others: Sequence[OtherStep], universe: ODCells, features: Sequence[Feature]
) -> Iterator[tuple[int, "NoisyStep"]]:
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
        yield other.stated["steps_away"], other.answers(universe, features)
