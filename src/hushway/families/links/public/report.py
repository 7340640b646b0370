"""What became of the roads of a file. Roads are public: these are numbers for anyone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# Why a link may be left out, and the words for it.
REASONS: Final[Mapping[str, str]] = {
    "no_length": "have no length",
    "duplicate": "repeat the course of another link between the same nodes",
    "not_connected": "cannot be reached from the rest of the network and left again",
}
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class RoadsReport:
    """Numbers of directed links.

    Attributes:
        read: Links in the file that cars may use.
        kept: Links of the network.
        dropped: Links left out, by reason.
        cut_off: Ways that lead beyond the edge of the file, and were cut there.
        turned: Links whose course was drawn against their direction, and was turned round.
        assumed_speeds: Links of the network whose speed is the usual one of their kind.
        unknown_classes: Words for classes that are in no table; such links have class 5.
    """

    read: int
    kept: int
    dropped: Mapping[str, int]
    cut_off: int
    turned: int
    assumed_speeds: int
    unknown_classes: tuple[str, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The numbers in words, for a screen."""
        parts = [f"{self.kept:,} of {self.read:,} directed links are used."]
        parts += [
            f"{count:,} {REASONS[reason]}." for reason, count in self.dropped.items() if count
        ]
        if self.cut_off:
            parts.append(f"{self.cut_off:,} ways lead beyond the edge of the file and end there.")
        if self.turned:
            parts.append(f"{self.turned:,} were drawn against their direction and turned round.")
        if self.assumed_speeds:
            parts.append(f"{self.assumed_speeds:,} have the usual speed of their kind of road.")
        if self.unknown_classes:
            shown = ", ".join(self.unknown_classes[:_SHOWN])
            more = len(self.unknown_classes) - _SHOWN
            rest = f" and {more} more" if more > 0 else ""
            parts.append(f"Unknown kinds of roads count as class 5: {shown}{rest}.")
        return tuple(parts)
