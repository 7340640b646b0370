"""Other releases of a series that one learns from: how certificates name them."""

from collections.abc import Mapping
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
        steps: How many steps it is away; later ones have a negative number.
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
