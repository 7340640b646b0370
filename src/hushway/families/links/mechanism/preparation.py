"""How positions become the trips that are counted: public numbers, recorded with the mechanism.

The engine does it, to each person's own positions, before anything is measured. A certificate names
the numbers, because what a release says of the ends of trips follows from them.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final


@dataclass(frozen=True, kw_only=True)
class NoisyEnds:
    """Noise at the ends of trips, in addition to the noise on every count.

    Attributes:
        epsilon: What one end loses when it moves by `radius`.
        radius: Metres.
        step: Metres between the points of the grid that ends are put onto.
        max_trips: Most trips of one unit.
    """

    epsilon: Fraction
    radius: int
    step: int
    max_trips: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {**vars(self), "epsilon": str(self.epsilon)}


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How positions become trips.

    Attributes:
        gap_s: A silence of more than so many seconds ends a trip.
        most_speed: Nobody is faster than so many metres a second.
        ends: Noise at the ends of trips, if any.
    """

    gap_s: float = 300.0
    most_speed: float = 70.0
    ends: NoisyEnds | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {
            "gap_s": self.gap_s,
            "most_speed": self.most_speed,
            "ends": None if self.ends is None else self.ends.parameters,
        }


USUAL: Final = Preparation()
