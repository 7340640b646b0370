"""What could be gained by choosing the share of the histogram for each crowd and budget.

Every crowd is released with five fixed shares and with the default one; errors are roots of mean
squares over all areas and bins, and medians of runs: a few releases of a small crowd are scaled by
noise whatever the share. The best of the five, known afterwards, is the most that any rule could
reach which chooses the share by noisy evidence; its first look would cost besides. Of few runs the
best is best by luck, too. So it is also chosen by one half of the runs and measured by the other.
Real sets run if HUSHWAY_DATA names a folder that holds them. Run by hand:
`python benchmarks/density_shares.py [runs [set ...]]`.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from density_crowds import DELTA, EPSILONS, rmse
from density_sets import Crowd, held_out, sets
from harness import keep
from hushway.arrays import FloatArray
from hushway.families.density.mechanism.recommended import recommended_shares
from hushway.families.density.mechanism.series import density_series
from hushway.families.density.planning.trial import budget_of

SHARES = ("0.06", "0.12", "0.25", "0.4", "0.55")
NAMES = (
    "callers 500",
    "callers 20k",
    "check-ins",
    "bikes as a fleet",
    "taxi trips 20k",
    "callers 60k",
)


def errors_of(crowd: Crowd, epsilon: str, share: str | None, runs: int) -> FloatArray:
    """Returns the error of each run; with the default share if none is given."""
    limits = crowd.city.limits
    shares = recommended_shares(limits, scaling=True, clustering=True, cuts=False)
    if share is not None:
        shares = replace(shares, histogram=Fraction(share))
    mechanism = density_series(limits, budget=budget_of(epsilon, DELTA), shares=shares)
    tables = (
        mechanism.fit(crowd.city.measured(mechanism, 500 + run), crowd.city.universe)
        for run in range(runs)
    )
    return np.array([rmse(crowd.truth, table.counts) for table in tables])


def gains(default: FloatArray, fixed: FloatArray) -> tuple[float, float]:
    """Returns what the best share gains: as seen, and chosen by other runs than it is measured by.

    Args:
        default: Errors by run.
        fixed: Errors by (share, run).
    """
    seen = 1 - float(np.median(fixed, axis=1).min() / np.median(default))
    halves = np.arange(len(default)) % 2
    apart = []
    for half in (0, 1):
        best = np.median(fixed[:, halves != half], axis=1).argmin()
        other = halves == half
        apart.append(1 - float(np.median(fixed[best, other]) / np.median(default[other])))
    return seen, float(np.mean(apart))


def main(runs: int = 6, names: Sequence[str] = NAMES) -> list[dict[str, Any]]:
    rows = []
    for name, make in (*sets(), *held_out()):
        if name not in names:
            continue
        crowd = make()
        for epsilon in EPSILONS:
            default = errors_of(crowd, epsilon, None, runs)
            fixed = np.array([errors_of(crowd, epsilon, share, runs) for share in SHARES])
            seen, apart = gains(default, fixed)
            ratios = np.median(fixed, axis=1) / np.median(default)
            rows.append(
                {
                    "set": name,
                    "epsilon": epsilon,
                    "of the default": dict(zip(SHARES, ratios.tolist(), strict=True)),
                    "best, as seen": seen,
                    "best, chosen by other runs": apart,
                }
            )
            told = ", ".join(
                f"{one} {ratio:.3f}" for one, ratio in zip(SHARES, ratios, strict=True)
            )
            print(f"{name}, epsilon {epsilon}: {told}; gain {seen:.1%}, {apart:.1%}", flush=True)
    for key in ("best, as seen", "best, chosen by other runs"):
        found = [row[key] for row in rows]
        print(
            f"{key}: median {np.median(found):.1%}, 90 of 100 below {np.quantile(found, 0.9):.1%}"
        )
    return rows


if __name__ == "__main__":
    keep("density_shares", main(int((*sys.argv, "6")[1]), sys.argv[2:] or NAMES))
