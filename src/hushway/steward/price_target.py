"""The smallest budget that makes a figure good enough."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from hushway.errors import PlanError
from hushway.progress import Progress, quiet
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job
from hushway.steward.price_curve import FigureError, errors_at

_TARGET: Final = re.compile(
    r"(?P<figure>.*[^\s])\s*=\s*(?P<number>\d+(?:\.\d*)?|\.\d+)\s*"
    r"(?P<percent>%)?(?:\s*of\s*(?P<size>\d+(?:\.\d*)?|\.\d+))?",
    re.ASCII,
)
_ADVICE: Final = (
    'Write it like this: --within "origins=5%" with a guess of the crowd, or without one '
    '--within "one cell=10" or --within "one cell=5% of 200".'
)
# Every number of two digits from 0.010 to 99.
GRID: Final = tuple(
    Fraction(digits) * Fraction(10) ** power for power in range(-3, 1) for digits in range(10, 100)
)


@dataclass(frozen=True, kw_only=True)
class Target:
    """How far off a figure may be.

    Attributes:
        figure: Words that tell the figure from others.
        share: The most as a share of the figure's size, if it was given so.
        size: The size that the share is of; None for the size on invented rows.
        amount: The most as a number, if it was given so.
        text: The target, as it was written.
    """

    figure: str
    share: float | None = None
    size: float | None = None
    amount: float | None = None
    text: str = field(default="", compare=False)

    def is_met(self, found: FigureError) -> bool:
        """Whether a figure is off by no more than that.

        Raises:
            PlanError: It is a share of a size that nobody knows.
        """
        if self.amount is not None:
            return found.error <= self.amount
        size = found.size if self.size is None else self.size
        if self.share is None or not size:
            raise PlanError(
                f"Nothing is known about the size of the figure {found.figure!r}.",
                advice="Give a guess of the crowd (--trips), or say what the share is of: "
                f'--within "{found.figure}=5% of 200".',
            )
        return found.error <= self.share * size


@dataclass(frozen=True, kw_only=True)
class Enough:
    """The smallest budget that meets a target.

    Attributes:
        within: The target, as it was written.
        epsilon: The budget, two digits, rounded up.
        delta: The delta that the epsilon holds at; None if it holds without.
        found: What the figure is off by at that budget.
    """

    within: str
    epsilon: Fraction
    delta: Fraction | None
    found: FigureError


def target_of(text: str) -> Target:
    """Reads a target such as "origins=5%", "one cell=10" or "one cell=5% of 200".

    Raises:
        PlanError: It is none.
    """
    match = _TARGET.fullmatch(text.strip())
    if match is None or (match["size"] and not match["percent"]) or float(match["number"]) == 0:
        raise PlanError(f"{text!r} does not say how far off a figure may be.", advice=_ADVICE)
    number = float(match["number"])
    size = None if match["size"] is None else float(match["size"])
    if match["percent"]:
        return Target(text=text, figure=match["figure"], share=number / 100, size=size)
    return Target(text=text, figure=match["figure"], amount=number)


def figure_meant(words: str, figures: Sequence[str]) -> str:
    """Returns the figure that some words mean: its name, or a part of it that no other has.

    Raises:
        PlanError: They mean none, or several.
    """
    asked = _letters(words)
    fits = (
        lambda name: name == asked,
        lambda name: name.startswith(asked),
        lambda name: asked in name,
    )
    for fit in fits:
        meant = [figure for figure in figures if fit(_letters(figure))]
        if len(meant) == 1:
            return meant[0]
        if meant:
            break
    raise PlanError(
        f"{words!r} means {'several figures' if meant else 'none of the figures'} of this release.",
        advice=f"Name one of these, or a part of it: {'; '.join(figures)}.",
    )


def smallest_epsilon(
    job: Job, target: Target, *, crowd: ExpectedPopulation | None = None, progress: Progress = quiet
) -> Enough:
    """Returns the smallest epsilon of two digits at which a figure is off by no more than that.

    The grid is halved again and again: a larger budget is taken to be no worse. On invented rows
    that holds but for luck, so the last digit is no guarantee.

    Privacy:
        Reads the plan and public files; neither rows nor budget are touched.

    Raises:
        PlanError: No epsilon is enough, the figure is not one, or nothing is known of its size.
    """
    tried: dict[int, FigureError] = {}
    figure = figure_meant(
        target.figure, [one.figure for one in errors_at(job, job.plan.privacy.epsilon, crowd)[0]]
    )

    def met(position: int) -> bool:
        progress(f"Trying ε {float(GRID[position]):g}")
        found = next(
            (one for one in errors_at(job, GRID[position], crowd)[0] if one.figure == figure), None
        )
        if found is None:  # a mechanism may measure fewer sums for less
            return False
        tried[position] = found
        return target.is_met(found)

    low, high = -1, len(GRID) - 1
    if not met(high):
        raise PlanError(
            f"No epsilon up to {float(GRID[high]):g} makes the figure {figure!r} that good.",
            advice="Raise the contribution limit if it leaves much out, use longer periods or "
            "coarser places, or accept a larger error.",
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return Enough(
        within=target.text,
        epsilon=GRID[high],
        delta=job.plan.privacy.delta,
        found=tried[high],
    )


def _letters(words: str) -> str:
    """Returns what counts when names are compared: small letters and digits, without an article."""
    plain = re.sub(r"[^a-z0-9 ]", "", words.casefold())
    return re.sub(r"^(a|an|the) ", "", plain.strip()).replace(" ", "")
