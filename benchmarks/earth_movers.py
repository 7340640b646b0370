"""How fast the earth mover's distance is, beside the same solver unreduced and a general one.

Every opponent solves the problem with a flow between every two areas. HiGHS gets a smaller city:
the larger one has a million flows. Nothing is asserted: `off` is the difference of
the distances in metres.
"""

import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from harness import print_figures, timed
from hushway.families.density.study.errors import earth_movers, weekly_earth_movers

with warnings.catch_warnings():
    # The package's own source warns when it is compiled.
    warnings.simplefilter("ignore")
    from ot.lp import emd2

AREAS, HOURS = 989, 168
FEWER_AREAS = 150
RUNS = 5


def city(areas: int, hours: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Areas ten kilometres across, with counts and noise about as large as in Paris."""
    rng = np.random.default_rng(1)
    truth = rng.gamma(2.0, 45.0, (areas, 1)) * rng.gamma(20.0, 1 / 20, (areas, hours))
    release = truth * rng.lognormal(0.0, 0.15, truth.shape)
    return truth, release, rng.random((areas, 2)) * 10_000


def unreduced(p: np.ndarray, q: np.ndarray, distance: np.ndarray) -> float:
    return float(emd2(p / p.sum(), q / q.sum(), distance, numItermax=10_000_000))


def by_highs(p: np.ndarray, q: np.ndarray, distance: np.ndarray) -> float:
    size = len(p)
    each, ones = sp.eye_array(size), np.ones((1, size))
    rows = sp.vstack([sp.kron(each, ones), sp.kron(ones, each)]).tocsr()
    sums = np.concatenate([p / p.sum(), q / q.sum()])
    return float(linprog(distance.ravel(), A_eq=rows[:-1], b_eq=sums[:-1], method="highs").fun)


def one_hour(areas: int, opponent: Callable[..., float], name: str) -> dict[str, float]:
    """Compares one hour with an opponent."""
    truth, release, centres = city(areas, 1)
    distance = cdist(centres, centres)
    masses = truth[:, 0], release[:, 0]
    ours, found = timed(lambda: earth_movers(*masses, distance), RUNS)
    theirs, expected = timed(lambda: opponent(*masses, distance), 3)
    return {
        f"ours_{areas}_seconds": ours,
        f"{name}_{areas}_seconds": theirs,
        f"{name}_{areas}_over_ours": theirs / ours,
        f"{name}_{areas}_off": expected - found,
    }


def a_week() -> dict[str, float]:
    """Compares a week in a row; and whether the solver itself could use two threads."""
    truth, release, centres = city(AREAS, HOURS)
    distance = cdist(centres, centres)
    seconds, found = timed(
        lambda: weekly_earth_movers(truth, release, centres, progress=lambda *_: None)
    )

    def hour(t: int) -> float:
        return unreduced(truth[:, t], release[:, t], distance)

    clock, processor = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(hour, range(16)))
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    return {
        "week_seconds": seconds,
        "week_mean_metres": float(found.mean()),
        # At most 1 if the solver keeps the interpreter's lock, whatever else the machine does.
        "cores_used_by_two_threads": processor / clock,
    }


def main() -> dict[str, float]:
    """Measures, prints and returns the numbers."""
    figures = one_hour(AREAS, unreduced, "unreduced")
    figures |= one_hour(FEWER_AREAS, by_highs, "highs")
    figures |= a_week()
    bars = {"week_seconds": "below 120", "unreduced_989_over_ours": "above 1"}
    print_figures(figures, bars, ".4g")
    return figures


if __name__ == "__main__":
    main()
