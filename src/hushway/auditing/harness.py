"""The black-box harness: run on neighbours, look for an event that tells them apart, bound it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.bounds import SHARE_TO_SHOW, epsilon_shown, lower_bound, power_of, upper_bound
from hushway.auditing.runs import FEWEST_RUNS
from hushway.errors import AuditError
from hushway.privacy.events import Event
from hushway.privacy.loss import PureLoss


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The verdict of one audit, in plain numbers and sentences.

    Attributes:
        epsilon_lower: The epsilon that the runs prove; the true one is at least this. 0 for a check
            of the noise's law, which proves none.
        event: What was looked at, and what was seen.
        epsilon_provable: The largest epsilon that so many runs could have proved; 0 if none can be.
        epsilon_detected: A loss of so much or more would have failed with probability 99%, if it
            showed as often as one noisy count does, in half of the runs; None if none would have.
    """

    name: str
    epsilon: float
    delta: float
    epsilon_lower: float
    runs: int
    event: str
    passed: bool
    reason: str
    epsilon_provable: float = 0.0
    epsilon_detected: float | None = None


@dataclass(frozen=True, kw_only=True)
class MutantFinding:
    """Whether a planted mistake was caught.

    Attributes:
        epsilon: The epsilon that the mutant still claims.
        by: The audits that failed, separated by semicolons.
        epsilon_lower: The largest epsilon that they prove; 0 if only the noise's law gave the
            mutant away.
    """

    name: str
    epsilon: float
    caught: bool
    by: str
    epsilon_lower: float


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
class Check:
    """What all claims have in common; each says how it is examined.

    Attributes:
        statistic: What the whole number of a run is.
        effort: How many times the runs that are asked for it takes: more for rare events, fewer
            for slow code.
    """

    name: str
    statistic: str = ""
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    effort: Fraction = Fraction(1)

    def finding(
        self, runs: int, *, event: str, passed: bool, reason: str, epsilon_lower: float = 0.0
    ) -> Finding:
        """Returns the verdict of so many runs; few claims put a bound on epsilon."""
        return Finding(
            name=self.name,
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            epsilon_lower=epsilon_lower,
            runs=runs,
            event=event,
            passed=passed,
            reason=reason,
        )


@dataclass(frozen=True, kw_only=True)
class World:
    """One of two neighbouring inputs: what it is, in words, and how to run on it."""

    words: str
    sample: Sampler


@dataclass(frozen=True, kw_only=True)
class Trial(Check):
    """A claim about two worlds; an epsilon of 0 claims that nobody can tell them apart.

    Attributes:
        tight: Whether the claim is all but reached by correct code, as by a single stage; then the
            audit also fails if the runs show less than a fixed share of it.
    """

    worlds: tuple[World, World]
    tight: bool = False

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
        found = self.finding(
            2 * half,
            event=_words(self, best),
            passed=passed,
            reason=reason,
            epsilon_lower=best.shown,
        )
        return replace(found, **vars(power_of(2 * half, self.epsilon, self.delta)))


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
    if runs < FEWEST_RUNS:
        raise AuditError(
            f"{runs:,} runs show nothing.", advice=f"Give at least {FEWEST_RUNS:,} runs."
        )
    return max(FEWEST_RUNS, int(runs * effort))


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
            f"The runs show a loss of only {shown:.3f} where {claim:g} is claimed and spent on: "
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


_THOUSAND = 1000


def evidence(values: IntArray, event: Event, one: ArrayLike, other: ArrayLike = 0) -> FloatArray:
    """Returns the logarithm of the likelihood ratio of each noisy count, up to a constant.

    Args:
        event: What they cost, and so how noisy they are.
        one: What the counts would be in one world but for the noise, as far as the worlds differ.
        other: The same in the other world.
    """
    here, there = np.asarray(one), np.asarray(other)
    loss, bound = event.loss, event.bound
    if isinstance(loss, PureLoss):
        nearer = np.abs(values - there) - np.abs(values - here)
        return np.asarray(nearer * float(loss.epsilon / bound.l1))
    return np.asarray(float(2 * loss.rho / bound.l2_squared) * ((here - there) * values))


def in_thousandths(numbers: ArrayLike) -> IntArray:
    """Returns real numbers, such as evidence, as outcomes of runs, which are whole ones."""
    return np.rint(_THOUSAND * np.asarray(numbers, dtype=np.float64)).astype(np.int64)
