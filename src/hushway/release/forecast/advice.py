"""Recommends contribution limits, and says whether the data suffice, from public guesses alone."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hushway.progress import Progress
from hushway.release.forecast.crowd import CrowdForecast, ExpectedError, ExpectedPopulation
from hushway.release.job import Job
from hushway.release.mechanism import Forecast

# What a reader is content with, where nobody says otherwise.
WITHIN: Final = 0.10

# A limit that is so often worse than the best one is followed by worse ones.
_WORSE: Final = 3
# How busy people are follows a Weibull law of this shape, as in the invented trips.
_TAIL_SHAPE: Final = 0.8
_POINTS: Final = 1000
_WHOLE_FROM: Final = 9.5


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One way to run a plan, and how it did.

    Attributes:
        score: How far off it is; less is better.
        details: What the score is made of, by figure.
    """

    options: Mapping[str, Any]
    score: float
    details: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What is recommended for a plan.

    Attributes:
        measured: What the scores are, in words.
        lines: The best, as lines for a plan.
        could_add: What the release could tell besides, as sentences.
        enough: Whether the data are enough, figure by figure, as sentences.
    """

    measured: str
    tried: tuple[Choice, ...]
    lines: str
    could_add: tuple[str, ...]
    enough: tuple[str, ...]


def limits_up_to(most: float) -> Iterator[int]:
    """Yields contribution limits, ever further apart, up to the first that leaves nothing out."""
    # 1, 2, 3, 4, 6, 8, 12, 16, 24, ...
    limit, power = 1, 2
    yield limit
    while limit < most:
        limit, power = (power, power) if limit < power else (power * 3 // 2, power * 2)
        yield limit


def best_limits(
    limits: Iterator[int], score_of: Callable[[int], float], *, progress: Progress
) -> dict[int, float]:
    """Scores limits from the smallest on, until they have been getting worse for a while."""
    scores: dict[int, float] = {}
    for limit in limits:
        progress(f"Trying a contribution limit of {limit:,}")
        scores[limit] = score_of(limit)
        best = min(scores, key=lambda one: scores[one])
        if math.isfinite(scores[best]) and sum(one > best for one in scores) >= _WORSE:
            break
    return scores


def activity(crowd: ExpectedPopulation) -> tuple[float, ...]:
    """Returns how much typical people of a guessed crowd have, the idlest first.

    Everybody has one, and what remains is spread with a long tail. It is a general law and no fact
    about anybody: a wrong one costs accuracy, never privacy.
    """
    people = crowd.trips if crowd.people is None else crowd.people
    more = max(crowd.trips / people - 1, 0.0)
    eager = [(-math.log(1 - (i + 0.5) / _POINTS)) ** (1 / _TAIL_SHAPE) for i in range(_POINTS)]
    mean = sum(eager) / _POINTS
    return tuple(1 + more * one / mean for one in eager)


def left_out(busy: Sequence[float], limit: int) -> float:
    """Returns which share of everything a contribution limit leaves out."""
    return sum(max(one - limit, 0.0) for one in busy) / sum(busy)


def smallest_within(error: float, lost: float, within: float = WITHIN) -> float:
    """Returns the size from which a figure is off by no more than a share of itself.

    Args:
        error: What it is off by whatever its size.
        lost: The share of it that is left out.
        within: The share that it may be off by.
    """
    return error / (within - lost) if lost < within else math.inf


def recommend_limit(
    job: Job,
    crowd: ExpectedPopulation,
    with_limit: Callable[[int], Job],
    *,
    option: str | None,
    progress: Progress,
) -> Advice:
    """Recommends a contribution limit by noise, and by what a limit leaves out of a guessed crowd.

    Privacy:
        Reads no row and spends nothing. What is recommended is as public as the guess.

    Args:
        with_limit: Makes the job for another limit.
        option: What the plan calls the limit; None if everybody counts once.
    """
    busy = activity(crowd)
    counted = job.wording.counted
    limits = iter((1,)) if option is None else limits_up_to(busy[-1])
    first = job.mechanism.forecast(job.geography, job.bound)[0].figure

    def lost(limit: int) -> float:
        return 0.0 if option is None else left_out(busy, limit)

    def score(limit: int) -> float:
        tried = with_limit(limit)
        noise = tried.mechanism.forecast(tried.geography, tried.bound)[0].standard_error
        return smallest_within(noise, lost(limit))

    scores = best_limits(limits, score, progress=progress)
    best = min(scores, key=lambda limit: scores[limit])
    chosen = with_limit(best)
    return Advice(
        measured=f"The size from which the figure {first!r} is within {WITHIN:.0%}, in {counted} "
        "(less is better)",
        tried=tuple(
            Choice(
                options={option or "everybody counts": limit},
                score=scores[limit],
                details={"left out": lost(limit)},
            )
            for limit in sorted(scores, key=lambda one: scores[one])
        ),
        lines="" if option is None else f"[privacy]\n{option} = {best}\n",
        could_add=(),
        enough=tuple(
            enough_for_noise(
                chosen.mechanism.forecast(chosen.geography, chosen.bound), lost(best), counted
            )
        ),
    )


def enough_for_noise(forecasts: Sequence[Forecast], lost: float, counted: str) -> Iterator[str]:
    """Yields how large figures must be, where nothing but their noise is known."""
    yield (
        f"By noise alone (one standard deviation), with {lost:.0%} left out by the contribution "
        "limit:"
    )
    for forecast in forecasts:
        least = smallest_within(forecast.standard_error, lost)
        yield (
            f"{forecast.figure}: no size is within {WITHIN:.0%}"
            if math.isinf(least)
            else f"{forecast.figure}: within {WITHIN:.0%} from {rounded_up(least)} {counted} on"
        )


def enough_for_crowd(expected: CrowdForecast, counted: str) -> Iterator[str]:
    """Yields whether a guessed crowd is enough, figure by figure."""
    for error in expected.errors:
        lost = expected.left_out or 0.0
        # Errors below that are those of a release that puts back what its limit leaves out.
        yield _enough(error, lost if error.error >= lost * error.size else 0.0, counted)
    if not expected.errors:
        yield from expected.notes


def _enough(error: ExpectedError, lost: float, counted: str) -> str:
    share = error.share
    if share is None:
        return f"{error.figure}: the invented rows have none, so nothing can be said."
    # The part that a limit leaves out grows with the figure; the rest is about the same for all.
    least = smallest_within(max(error.error - lost * error.size, 0.0), lost)
    verdict = "enough" if share <= WITHIN else "NOT ENOUGH"
    needs = (
        "no size is, with this contribution limit"
        if math.isinf(least)
        else f"those of at least {rounded_up(least)} {counted} are"
    )
    return (
        f"{error.figure}: {verdict}. It is about {_about(error.size)} {counted} and off by "
        f"{_about(100 * share)}% on average; within {WITHIN:.0%}, {needs}."
    )


def _about(size: float) -> str:
    return f"{size:,.0f}" if size >= _WHOLE_FROM else f"{size:.2g}"


def rounded_up(size: float) -> str:
    """Writes a size so that it guarantees nothing: two digits, rounded up."""
    if size <= 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(size)) - 1)
    # What is a whole number of units but for the last bit stays what it is.
    up = math.ceil(size / unit - 1e-9) * unit
    return f"{up:,.0f}" if up >= _WHOLE_FROM else f"{up:.2g}"
