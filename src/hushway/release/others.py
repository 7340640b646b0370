"""Other releases of a series that one learns from: how certificates name them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hushway.privacy.certificate import Certificate

# Among the parameters of a mechanism.
LEARNT_FROM: Final = "learnt_from"


@dataclass(frozen=True, kw_only=True)
class OtherRelease:
    """A release of another step, whose files are as they were sealed.

    Attributes:
        facts: What its data package says about its table.
        seal: The digest of its seal, which stands for all of its files.
        steps: How many steps it is away; later ones have a negative number, and a release that is
            revised is 0 steps away from its revision.
    """

    folder: Path
    certificate: Certificate
    facts: Mapping[str, Any]
    seal: str
    steps: int

    @property
    def stated(self) -> dict[str, Any]:
        """What a certificate says of it."""
        return {
            "release": self.certificate.release_id,
            "seal": self.seal,
            "steps_away": self.steps,
        }


def named(certificate: Certificate) -> Sequence[Mapping[str, Any]]:
    """Returns how a certificate names the releases that it learnt from."""
    names: Sequence[Mapping[str, Any]] = certificate.terms.mechanism.parameters.get(LEARNT_FROM, ())
    return names


def revised_by(names: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Returns how the release is named that a revision revises; None if it is no revision."""
    return next((each for each in names if each["steps_away"] == 0), None)


def is_revision(certificate: Certificate) -> bool:
    """Whether a release holds no answers of its own, but those of one that it revises."""
    return revised_by(named(certificate)) is not None
