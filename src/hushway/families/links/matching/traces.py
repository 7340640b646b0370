"""Traces in metres on the plane of a road network, matched paths, and the HMM's parameters."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, get_type_hints

from hushway.arrays import BoolArray, FloatArray, IntArray
from hushway.errors import GeographyError


class Reason(IntEnum):
    """What became of a trace."""

    MATCHED = 0
    TOO_SHORT = 1
    OFF_ROAD = 2
    NO_ROUTE = 3
    BROKEN = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Traces:
    """Positions of trips, one trip after the other, each in the order of time.

    Attributes:
        start: Where each trip begins; one entry more than trips.
        x: Metres east on the plane of the road network.
        seconds: When each position was taken, ascending within a trip.
    """

    start: IntArray
    x: FloatArray
    y: FloatArray
    seconds: FloatArray

    def __len__(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Ways:
    """Matched trips as links, one after the other.

    A trip that breaks is several connected stretches; within a stretch each link begins where the
    one before ends.

    Attributes:
        start: Where the links of each trip begin; one entry more than trips.
        entered: Second at which each link was entered, interpolated between positions.
        left: Second at which it was left.
        fresh: Whether a stretch begins with this link: true for the first of every trip.
        reason: A `Reason` for each trip: matched whole, broken, or why not at all.
        point_link: The link of each position of the traces; -1 where there is none.
    """

    start: IntArray
    link: IntArray
    entered: FloatArray
    left: FloatArray
    fresh: BoolArray
    reason: IntArray
    point_link: IntArray

    def __len__(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """The HMM of map matching (Newson and Krumm 2009). All lengths are in metres.

    Attributes:
        sigma: Standard deviation of positions (emission).
        beta: By how much routes usually differ from the straight line between positions
            (transition).
        radius: Roads further from a position are no candidates.
        candidates: Most links that are considered for a position, the nearest ones.
        most_detour: A route between two positions may be this many times the straight line.
        slack: It may always be this much longer than the straight line.
        turn: A U-turn counts as this much more, except at a dead end.
        longest_step: Positions further apart than this are not connected.
        spacing: Positions nearer than this to the one before say nothing new.
        skipped: How many positions that no route leads to may be left out before a path breaks.
    """

    sigma: float = 10.0
    beta: float = 20.0
    radius: float = 50.0
    candidates: int = 16
    most_detour: float = 2.0
    slack: float = 300.0
    turn: float = 100.0
    longest_step: float = 5000.0
    spacing: float = 50.0
    skipped: int = 2

    def __post_init__(self) -> None:
        above = (self.sigma, self.beta, self.radius, self.candidates, self.longest_step)
        other = (self.slack, self.turn, self.spacing, self.skipped)
        if not (all(n > 0 for n in above) and all(n >= 0 for n in other)):
            raise GeographyError(
                "Lengths of map matching must be above 0; slack, turn, spacing and skipped may "
                "be 0.",
                advice="Leave out what you are not sure about: the usual values suit cars.",
            )
        if not self.most_detour >= 1:
            raise GeographyError(
                "A route cannot be shorter than the straight line.",
                advice="Set most_detour to at least 1.",
            )


class HMMParameters(NamedTuple):
    """The settings as compiled code reads them."""

    sigma: float
    beta: float
    radius: float
    candidates: int
    most_detour: float
    slack: float
    turn: float
    longest_step: float
    spacing: float
    skipped: int


def hmm_parameters(settings: MatchSettings) -> HMMParameters:
    """Returns settings as compiled code reads them: always the same types."""
    kinds = get_type_hints(HMMParameters)
    return HMMParameters(**{name: kind(getattr(settings, name)) for name, kind in kinds.items()})
