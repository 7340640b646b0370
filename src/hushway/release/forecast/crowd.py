"""What a release would be wrong by if about so many people moved: a guess, and what follows."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ExpectedPopulation:
    """A guess of how many there are, from public knowledge: never a count of the rows.

    Attributes:
        trips: Trips in the window.
        people: People who make them; None if nothing is known about that.
    """

    trips: int
    people: int | None = None


@dataclass(frozen=True, kw_only=True)
class ExpectedError:
    """How far a published figure will typically be off.

    Attributes:
        figure: What the figure is, such as "an origin's total".
        size: The mean of such figures on invented rows.
        error: The mean absolute error of such figures, noise and all else.
    """

    figure: str
    size: float
    error: float

    @property
    def share(self) -> float | None:
        """The error as a share of the size, over all such figures; None if these are all 0."""
        return self.error / self.size if self.size else None


@dataclass(frozen=True, kw_only=True)
class CrowdForecast:
    """What to expect of a release for a crowd, tried on invented rows: no guarantee.

    Attributes:
        errors: Typical errors, of single figures first; none if no forecast is made.
        left_out: Which share of the rows a limit leaves out; None where nothing is known about it.
        notes: What a reader must know, as sentences.
    """

    crowd: ExpectedPopulation
    errors: tuple[ExpectedError, ...]
    left_out: float | None
    notes: tuple[str, ...]
