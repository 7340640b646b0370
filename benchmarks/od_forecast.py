"""How far off a forecast from a guessed crowd is: `hushway price --trips` beside the real errors.

Trips that are known are published as the default does, one trip protected, and so is a synthetic
stand-in of as many trips, with other noise. Printed is what the stand-in says over what was true:
the error, its share and the size of every figure. Synthetic Ann Arbor always; bike share and green
taxi if HUSHWAY_DATA names a folder that holds them. Run by hand: `python benchmarks/od_forecast.py
[runs] [epsilons] [scenes]`.
"""

import time
from fractions import Fraction

from harness import keep, positional
from hushway.families.od.mechanism.learned import od_learned, with_ends
from hushway.families.od.mechanism.shares import learned_shares, worth_measuring
from hushway.families.od.planning.forecast import figures, runs_for, typical_errors
from hushway.families.od.planning.stand_in import stand_in
from hushway.families.od.planning.trial import ODScene, trips_scene
from hushway.privacy.bound import Bound
from hushway.privacy.loss import PureLoss
from od_defaults import scenes


def compared(scene: ODScene, epsilon: Fraction, runs: int) -> dict[str, dict[str, float]]:
    """Returns forecast over truth for every figure: error, share and size."""
    cells, budget = scene.cells, PureLoss(epsilon)
    one_trip = Bound.of_records(1)
    features = worth_measuring(with_ends(cells, scene.features), budget, one_trip)
    shares = learned_shares(features, budget, one_trip)
    mechanism = od_learned(cells, features, budget=budget, shares=shares)
    looked = figures(cells, features)
    trips = int(scene.truth.values.sum())
    start = time.perf_counter()
    invented = trips_scene(cells, looked, stand_in(cells, trips=trips, people=trips))
    told = typical_errors(mechanism, invented, seeds=range(runs_for(cells))).value
    print(f"forecast in {time.perf_counter() - start:.1f} s", flush=True)
    known = ODScene(cells=cells, features=looked, counter=scene.counter, truth=scene.truth)
    real = typical_errors(mechanism, known, seeds=range(100, 100 + runs)).value
    return {
        one.figure: {
            "error": one.error / other.error,
            "share": (one.share or 0.0) / (other.share or 1.0),
            "size": one.size / other.size,
            "really": other.error,
        }
        for one, other in zip(told, real, strict=True)
    }


def main(
    runs: int = 4, epsilons: tuple[str, ...] = ("0.1", "1", "4"), only: str = ""
) -> list[dict[str, object]]:
    """Prints a table for every scene and budget, and returns all rows."""
    rows: list[dict[str, object]] = []
    for name, scene in scenes():
        if only and name not in only.split(","):
            continue
        for epsilon in epsilons:
            print(f"\n{name}, epsilon {epsilon} ({runs} runs)", flush=True)
            for figure, found in compared(scene, Fraction(epsilon), runs).items():
                text = " ".join(f"{key} {value:8.3g}" for key, value in found.items())
                print(f"{figure:<36} {text}", flush=True)
                rows.append({"scene": name, "epsilon": epsilon, "figure": figure, **found})
    return rows


if __name__ == "__main__":
    runs, epsilons, only = positional("4", "0.1,1,4", "")
    keep("od_forecast", main(int(runs), tuple(epsilons.split(",")), only))
