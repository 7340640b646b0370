"""How good a density is for crowds of 500 to 370,000, beside simple ways to spend the budget.

Errors are roots of mean squares over all areas and bins of a typical week, against the truth. An
interval is 1.96 standard errors; what it holds is told by size of the true count. Real sets run
if HUSHWAY_DATA names a folder that holds them. Run by hand:
`python benchmarks/density_crowds.py [runs]`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from density_peers import PEERS
from density_sets import Crowd, sets
from hushway.arrays import FloatArray
from hushway.families.density.mechanism.terms import density_series
from hushway.families.density.study.scene import budget_of

EPSILONS = ("0.3", "1", "4")
DELTA = "0.000002"
SIZES = {"0": (0, 0.5), "1-5": (0.5, 5.5), "6-20": (5.5, 20.5), "21-100": (20.5, 100.5)}
SIZES["more"] = (100.5, float("inf"))
OURS = "default"


def rmse(truth: FloatArray, counts: FloatArray) -> float:
    return float(np.sqrt(((truth - counts) ** 2).mean()))


def held(truth: FloatArray, counts: FloatArray, errors: FloatArray) -> dict[str, float]:
    """Returns the share of counts within 1.96 standard errors, by size of the truth."""
    inside = np.abs(truth - counts) <= 1.96 * errors
    classes = {name: (truth >= low) & (truth < high) for name, (low, high) in SIZES.items()}
    return {name: float(inside[of].mean()) for name, of in classes.items() if of.any()}


def study(crowd: Crowd, epsilon: str, runs: int) -> dict[str, Any]:
    budget = budget_of(epsilon, DELTA)
    found: dict[str, list[float]] = {name: [] for name in (OURS, *PEERS)}
    kept: list[dict[str, float]] = []
    totals = []
    mechanism = density_series(crowd.city.limits, budget=budget)
    for seed in range(runs):
        table = mechanism.fit(crowd.city.measured(mechanism, seed), crowd.city.universe)
        found[OURS].append(rmse(crowd.truth, table.counts))
        kept.append(held(crowd.truth, table.counts, table.standard_error))
        truth = crowd.truth.sum(axis=1)
        totals.append(np.abs(table.counts.sum(axis=1) - truth).sum() / truth.sum())
        for name, peer in PEERS.items():
            found[name].append(rmse(crowd.truth, peer(crowd.city, budget, seed)))
    return {
        "rmse": {name: float(np.mean(errors)) for name, errors in found.items()},
        "held": {name: float(np.mean([one[name] for one in kept])) for name in kept[0]},
        "area totals off": float(np.mean(totals)),
        "clusters": table.diagnostics["clusters"],
    }


def main(runs: int = 3) -> list[dict[str, Any]]:
    """Prints a table of every set; returns all rows."""
    rows = []
    for name, make in sets():
        crowd = make()
        areas, bins = crowd.truth.shape
        print(f"\n{name}: {crowd.people:,} people, {crowd.visits:.1f} visits, {areas} x {bins}")
        for epsilon in EPSILONS:
            found = study(crowd, epsilon, runs)
            rows.append({"set": name, "epsilon": epsilon, **found})
            ours = found["rmse"][OURS]
            best = min(PEERS, key=found["rmse"].__getitem__)
            print(
                f"  epsilon {epsilon:>3}: {ours:9.4g}, {ours / found['rmse'][best]:.2f} of {best}; "
                f"{found['clusters']} clusters; area totals off {found['area totals off']:.2f}; "
                "held " + ", ".join(f"{size} {share:.2f}" for size, share in found["held"].items()),
                flush=True,
            )
            peers = sorted(PEERS, key=found["rmse"].__getitem__)
            print("      " + ", ".join(f"{peer} {found['rmse'][peer]:.4g}" for peer in peers))
    return rows


if __name__ == "__main__":
    results = main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    Path("bench-results").mkdir(exist_ok=True)
    Path("bench-results/density_crowds.json").write_text(json.dumps(results, indent=1) + "\n")
