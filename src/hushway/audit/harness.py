"""The black-box harness: run on neighbours, look for an event that tells them apart, bound it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.bounds import SHARE_TO_SHOW, epsilon_shown, lower_bound, upper_bound
from hushway.audit.finding import Finding
from hushway.errors import AuditError

# A law of large scale has as many values as runs; a few hundred thresholds lose nothing.
_MOST_CANDIDATES = 400


class Side(StrEnum):
    """Which values belong to an event."""

    AT_LEAST = "at least"
    AT_MOST = "at most"
    EXACTLY = "exactly"


@dataclass(frozen=True)
class OutcomeSet:
    """A set of outcomes: all at least, at most or exactly some value."""

    side: Side
    value: int

    def __str__(self) -> str:
        return f"{self.side} {self.value}"

    def count(self, outcomes: IntArray) -> int:
        """Returns how many outcomes belong to the event."""
        if self.side is Side.AT_LEAST:
            return int(np.count_nonzero(outcomes >= self.value))
        if self.side is Side.AT_MOST:
            return int(np.count_nonzero(outcomes <= self.value))
        return int(np.count_nonzero(outcomes == self.value))


def most_telling(likely: IntArray, rare: IntArray, delta: Fraction) -> OutcomeSet:
    """Returns the event that proves the largest epsilon on these runs, as many on each side.

    The event is chosen by what it proves, not by its ratio, or a rare event would win by luck.
    """
    runs = len(likely)
    values = _candidates(np.concatenate([likely, rare]))
    best, found = -1.0, OutcomeSet(Side.AT_LEAST, int(values[0]))
    for side in Side:
        counts = [_counts(side, np.sort(outcomes), values) for outcomes in (likely, rare)]
        shown = epsilon_shown(counts[0], counts[1], runs, delta)
        winner = int(np.argmax(shown))
        if shown[winner] > best:
            best, found = float(shown[winner]), OutcomeSet(side, int(values[winner]))
    return found


def _candidates(outcomes: IntArray) -> IntArray:
    values = np.unique(outcomes)
    if len(values) <= _MOST_CANDIDATES:
        return values
    places = np.linspace(0, len(outcomes) - 1, _MOST_CANDIDATES).astype(np.int64)
    return np.unique(np.sort(outcomes)[places])


def _counts(side: Side, ascending: IntArray, values: IntArray) -> IntArray:
    """Returns how many outcomes belong to the event of each value."""
    below = np.searchsorted(ascending, values, side="left")
    through = np.searchsorted(ascending, values, side="right")
    if side is Side.AT_LEAST:
        return len(ascending) - below
    return through if side is Side.AT_MOST else through - below


Sampler = Callable[[int], IntArray]
"""Runs the audited code so many times and returns one whole number for each run."""

_FEWEST_RUNS = 1000


class Examination(Protocol):
    """Something that can be put to the test: a claim about neighbours, or about a law."""

    @property
    def name(self) -> str:
        """What is audited."""
        ...

    def examine(self, runs: int) -> Finding:
        """Runs the audited code and returns the verdict."""
        ...


@dataclass(frozen=True, kw_only=True)
class World:
    """One of two neighbouring inputs: what it is, in words, and how to run on it."""

    words: str
    sample: Sampler


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A claim about two worlds.

    Attributes:
        name: What is audited.
        statistic: What the whole number of a run is.
        epsilon: The claimed epsilon; 0 claims that nobody can tell the worlds apart.
        worlds: The two neighbouring inputs.
        delta: The claimed delta.
        tight: Whether the claim is all but reached by correct code, as by a single stage; then the
            audit also fails if the runs show less than a fixed share of it.
        effort: How many times the runs that are asked for it takes: more for rare events, fewer
            for slow code.
    """

    name: str
    statistic: str
    epsilon: Fraction
    worlds: tuple[World, World]
    delta: Fraction = Fraction(0)
    tight: bool = False
    effort: Fraction = Fraction(1)

    def examine(self, runs: int) -> Finding:
        """Runs both worlds and returns the verdict.

        Half of the runs choose the event, the other half count it, in both directions.

        Raises:
            AuditError: There are too few runs to say anything.
        """
        half = enough(runs, self.effort) // 2
        one, other = self.worlds
        samples = one.sample(2 * half), other.sample(2 * half)
        best = max(
            _look(self, (one, other), samples, half),
            _look(self, (other, one), samples[::-1], half),
            key=lambda sighting: sighting.shown,
        )
        passed, reason = _verdict(self, best.shown)
        return Finding(
            name=self.name,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            epsilon_lower=best.shown,
            runs=2 * half,
            event=_words(self, best),
            passed=passed,
            reason=reason,
        )


@dataclass(frozen=True, kw_only=True)
class _Sighting:
    """An event counted on fresh runs: more likely in the first world than in the second."""

    event: OutcomeSet
    worlds: tuple[World, World]
    counts: tuple[int, int]
    runs: int
    shown: float


def enough(runs: int, effort: Fraction = Fraction(1)) -> int:
    """Returns the number of runs that an audit of some effort takes.

    Raises:
        AuditError: There are too few to say anything.
    """
    if runs < _FEWEST_RUNS:
        raise AuditError(
            f"{runs:,} runs show nothing.", advice=f"Give at least {_FEWEST_RUNS:,} runs."
        )
    return max(_FEWEST_RUNS, int(runs * effort))


def as_many(release: Callable[[], IntArray], runs: int) -> IntArray:
    """Makes as many releases as it takes for so many runs."""
    seen = [release()]
    while len(seen) * len(seen[0]) < runs:
        seen.append(release())
    return np.concatenate(seen)[:runs]


def _look(
    trial: Trial, worlds: tuple[World, World], samples: tuple[IntArray, IntArray], half: int
) -> _Sighting:
    likely, rare = samples
    event = most_telling(likely[:half], rare[:half], trial.delta)
    counts = event.count(likely[half:]), event.count(rare[half:])
    shown = epsilon_shown(np.array([counts[0]]), np.array([counts[1]]), half, trial.delta)
    return _Sighting(event=event, worlds=worlds, counts=counts, runs=half, shown=float(shown[0]))


def _verdict(trial: Trial, shown: float) -> tuple[bool, str]:
    claim = float(trial.epsilon)
    if shown > claim:
        return False, f"The runs prove a loss of at least {shown:.3f}; {claim:g} is claimed."
    if trial.tight and shown < SHARE_TO_SHOW * claim:
        return False, (
            f"The runs show a loss of only {shown:.3f} where {claim:g} is claimed and paid for: "
            "there is more noise than the claim needs."
        )
    if trial.epsilon == 0:
        return True, "The runs do not tell the two apart."
    return True, f"The runs prove a loss of at least {shown:.3f}, within the claim of {claim:g}."


def _words(trial: Trial, best: _Sighting) -> str:
    if best.shown == 0:
        one, other = best.worlds
        return f"nothing in {trial.statistic} tells {one.words} from {other.words}"
    least = float(lower_bound(np.array([best.counts[0]]), best.runs)[0])
    most = float(upper_bound(np.array([best.counts[1]]), best.runs)[0])
    return (
        f"{trial.statistic} is {best.event}: "
        f"at least {100 * least:.3g}% of the time with {best.worlds[0].words}, "
        f"at most {100 * most:.3g}% with {best.worlds[1].words}"
    )
