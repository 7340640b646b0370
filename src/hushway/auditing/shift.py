"""What releases with Gaussian noise claim: how far a person moves a statistic, and an epsilon.

A rho-zCDP mechanism bounds the chi-square divergence of its outputs by exp(2 rho) - 1, so no
statistic whatsoever moves by more than sqrt(exp(2 rho) - 1) of its standard deviations (Hammersley
1950, Chapman and Robbins 1951). A linear one of Gaussian noise moves by sqrt(2 rho) at most, and
the projection on what the person does moves by just that. A few thousand runs see it, where an
event that proves an epsilon is rare.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.bounds import SHARE_TO_SHOW
from hushway.auditing.harness import Check, Finding, World, enough
from hushway.privacy.accounting import budget_limit_for, epsilon_of_rho
from hushway.privacy.loss import ZCDPLoss

# The means of so many runs are normal to a good approximation; 8 standard errors of the normal law
# have probability 1e-15, which leaves room for it to be wrong by a factor of a million before 1e-9.
_STANDARD_ERRORS = 8


@dataclass(frozen=True, kw_only=True)
class ShiftCheck(Check):
    """The claim that a person moves a statistic by so many standard deviations and no more.

    Attributes:
        most: How many standard deviations it may move.
        tight: Whether it should move as far, but for a fixed share; more noise is a bug too.
    """

    worlds: tuple[World, World]
    most: float
    tight: bool = False

    def examine(self, runs: int) -> Finding:
        """Compares the means of both worlds; the smaller spread counts, as either bounds them."""
        runs = enough(runs, self.effort)
        one, other = (world.sample(runs).astype(np.float64) for world in self.worlds)
        moved = abs(float(one.mean() - other.mean()))
        shift, slack = max(_shift(moved, one, other), _shift(moved, other, one))
        least = SHARE_TO_SHOW * self.most if self.tight else 0.0
        return self.finding(
            runs,
            event=(
                f"{self.statistic} moves by {shift:.4g} standard deviations from "
                f"{self.worlds[1].words} to {self.worlds[0].words}; {self.most:.4g} are allowed"
            ),
            passed=shift - slack <= self.most and shift + slack >= least,
            reason=f"Chance explains {shift - slack:.4g} to {shift + slack:.4g}.",
        )


@dataclass(frozen=True, kw_only=True)
class JointShiftCheck(Check):
    """The claim of a `ShiftCheck` for several statistics of the same runs.

    One that all of them hide in may be sharp by itself.

    Attributes:
        statistics: What is moved; a run has a column for each.
        most: How many standard deviations each may move, and should, but for a fixed share.
    """

    statistics: tuple[str, ...]
    worlds: tuple[World, World]
    most: tuple[float, ...]

    def examine(self, runs: int) -> Finding:
        """Compares the means of both worlds, statistic by statistic, and tells the worst."""
        runs = enough(runs, self.effort)
        samples = [world.sample(runs) for world in self.worlds]
        parts = [
            ShiftCheck(
                name=self.name,
                statistic=statistic,
                epsilon=self.epsilon,
                delta=self.delta,
                worlds=(
                    _column(self.worlds[0], samples[0], number),
                    _column(self.worlds[1], samples[1], number),
                ),
                most=self.most[number],
                tight=True,
            ).examine(runs)
            for number, statistic in enumerate(self.statistics)
        ]
        return next((finding for finding in parts if not finding.passed), parts[-1])


def _column(world: World, sample: IntArray, number: int) -> World:
    return World(words=world.words, sample=lambda _runs: sample[:, number])


def _shift(moved: float, spread: FloatArray, other: FloatArray) -> tuple[float, float]:
    """Returns a move in standard deviations of the first sample, and what chance adds to it."""
    apart = spread - spread.mean()
    variance = float(np.mean(apart**2))
    if variance == 0:
        return (math.inf, 0.0) if moved else (0.0, 0.0)
    shift = moved / math.sqrt(variance)
    tails = float(np.mean(apart**4)) / variance**2 - 1
    squares = 1 + float(other.var()) / variance + shift**2 * tails / 4
    return shift, _STANDARD_ERRORS * math.sqrt(squares / len(spread))


def most_of_rho(rho: Fraction) -> float:
    """Returns how many standard deviations any statistic of a rho-zCDP mechanism moves at most."""
    return math.sqrt(math.expm1(2 * rho))


def most_of_gaussian(rho: Fraction) -> float:
    """Returns how many standard deviations a sum of Gaussian measurements moves at most."""
    return math.sqrt(2 * rho)


# Far larger than any release would use: what happens less often than a run in a million cannot be
# audited, and at this delta the claim is decided by events that are seen.
DELTA = Fraction(1, 100)
_CLAIM_DIGITS = 10**4


def rho_of(epsilon: Fraction) -> ZCDPLoss:
    """Returns the rho that a plan would spend for an epsilon at the audits' delta."""
    return budget_limit_for(epsilon, DELTA)


def claim_of(spend: ZCDPLoss) -> Fraction:
    """Returns the epsilon that rho is worth at the audits' delta, as the accountant derives it."""
    return rounded_up(epsilon_of_rho(spend.rho, DELTA))


def rounded_up(epsilon: float) -> Fraction:
    """Returns a claim of at least an epsilon, in few digits."""
    return Fraction(math.ceil(epsilon * _CLAIM_DIGITS), _CLAIM_DIGITS)
