"""What sums over steps of a series would be wrong by, first published and revised."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SumError:
    """How far sums of a figure over several steps will typically be off.

    Attributes:
        figure: What the figure is, such as "an origin's total".
        length: What is summed over: a step, or what steps add up to, such as a year.
        size: The mean of such sums on invented rows.
        first: The mean absolute error of them as they are published.
        revised: The same once all steps have been revised; None if they cannot be.
    """

    figure: str
    length: str
    size: float
    first: float
    revised: float | None


@dataclass(frozen=True, kw_only=True)
class SeriesForecast:
    """What to expect of a year of a series, tried on invented rows: no guarantee.

    Attributes:
        errors: Typical errors, figure by figure, shorter sums first.
        notes: What they assume, as sentences.
    """

    errors: tuple[SumError, ...]
    notes: tuple[str, ...]
