"""Fleets sized by draws from a table that learnt, beside O5 of the CBDP paper and the true trips.

The relative error of the number of shuttles at epsilon 1, one trip protected, as in the paper's
study of fleets (`hushway reproduce cbdp --odmts` runs all of it). Run by hand:
`python benchmarks/od_fleets.py [runs]`.
"""

import statistics
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import keep, positional
from hushway.transit.study.reproduce import reproduce_odmts
from hushway.transit.study.run import DAYS

# Printed in the paper for O5.
PRINTED = {"weekday": 0.158, "weekend": 0.252}


def main(runs: int = 10) -> dict[str, dict[str, float]]:
    """Prints a line for every day and mechanism, and returns the errors."""
    with TemporaryDirectory() as name:
        found = reproduce_odmts(
            Path(name),
            runs=runs,
            epsilons=("1",),
            mechanisms=("O5", "learned"),
            progress=lambda *_: None,
        ).value
    errors: dict[str, dict[str, float]] = {}
    for day in DAYS:
        shuttles: dict[str, dict[int, float]] = {}
        for one in found.outcomes:
            if one.task.day == day:
                sized = shuttles.setdefault(one.task.mechanism, {})
                sized[one.task.run] = one.figures["shuttles"]
        truth = shuttles.pop("truth")
        print(f"{day}: truth {statistics.mean(truth.values()):.1f} shuttles; {runs} runs")
        errors[day] = {}
        for mechanism, sized in shuttles.items():
            errors[day][mechanism] = statistics.mean(
                abs(sized[run] - truth[run]) / truth[run] for run in truth
            )
            print(
                f"  {mechanism:<8} {statistics.mean(sized.values()):6.1f} shuttles, relative error "
                f"{errors[day][mechanism]:.3f} (printed for O5: {PRINTED[day]})"
            )
    return errors


if __name__ == "__main__":
    keep("od_fleets", main(int(positional("10")[0])))
