"""How fast exact noise is, beside inexact noise and beside another exact library.

Rates are single-threaded medians of several runs, all in this process; the sparse release runs in a
process of its own, so that its peak memory is its own. Nothing is asserted: the bars stand beside
the measurements.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from harness import in_process, peak_gb, serve_job, timed
from hushway.privacy.calibration import threshold_for
from hushway.privacy.noise.gaussian import DiscreteGaussian
from hushway.privacy.noise.inversion import NoiseLaw
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.noise.lazy import LazyVector
from hushway.privacy.randomness import os_source

RUNS = 7
DRAWS = 4_000_000
DRAWS_OF_OPENDP = 100_000
SPARSE_CELLS = 10**11
SPARSE_OCCUPIED = 10**6


def samples_per_second(draw: Callable[[int], Any], count: int, runs: int = RUNS) -> float:
    """Returns the median rate; the first run builds tables and is not counted."""
    draw(1000)
    return count / timed(lambda: draw(count), runs)[0]


def ours(law: NoiseLaw, count: int = DRAWS) -> float:
    return samples_per_second(lambda n: law.draw(os_source(), n), count)


def numpy_laplace() -> float:
    generator = np.random.default_rng()
    return samples_per_second(lambda n: generator.laplace(0.0, 10.0, n), DRAWS)


def opendp_laplace() -> float:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, 10.0)
    return samples_per_second(lambda n: measurement([0] * n), DRAWS_OF_OPENDP, runs=3)


def reveal_sparse() -> dict[str, float]:
    """Measures 1e11 cells, 1e6 of them occupied, and shows about as many empty ones."""
    generator = np.random.default_rng(1)
    cells = np.unique(generator.integers(0, SPARSE_CELLS, SPARSE_OCCUPIED))
    counts = generator.integers(1, 50, len(cells))
    law = DiscreteLaplace(Fraction(10))
    threshold = threshold_for(law, SPARSE_CELLS, float(SPARSE_OCCUPIED))

    def revealed() -> int:
        bits = os_source()
        vector = LazyVector(law=law, size=SPARSE_CELLS, cells=cells, counts=counts, source=bits)
        return len(vector.reveal(threshold).cells)

    seconds, shown = timed(revealed)
    return {"seconds": seconds, "peak_gb": peak_gb(), "shown": float(shown)}


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    figures = {
        "laplace_10": ours(DiscreteLaplace(Fraction(10))),
        "numpy_laplace_10": numpy_laplace(),
        "laplace_1e3": ours(DiscreteLaplace(Fraction(10**3))),
        "laplace_1e5": ours(DiscreteLaplace(Fraction(10**5))),
        "laplace_1e7": ours(DiscreteLaplace(Fraction(10**7))),
        "gaussian_10": ours(DiscreteGaussian(Fraction(10**2))),
        "gaussian_1e3": ours(DiscreteGaussian(Fraction(10**6))),
        "gaussian_1e5": ours(DiscreteGaussian(Fraction(10**10)), DRAWS // 4),
        "gaussian_1e7": ours(DiscreteGaussian(Fraction(10**14)), DRAWS // 4),
        "opendp_laplace_10": opendp_laplace(),
    }
    figures["ratio_to_numpy"] = figures["laplace_10"] / figures["numpy_laplace_10"]
    figures["ratio_to_opendp"] = figures["laplace_10"] / figures["opendp_laplace_10"]
    figures |= {f"sparse_{name}": value for name, value in in_process(__file__).items()}
    print_table(figures)
    return figures


def print_table(figures: dict[str, float]) -> None:
    bars = {
        "ratio_to_numpy": "at least 0.28",
        "ratio_to_opendp": "at least 100",
        "sparse_seconds": "at most 10",
        "sparse_peak_gb": "at most 2",
    }
    print(f"{'figure':<20} {'measured':>16}  bar")
    for name, value in figures.items():
        rate = not name.startswith(("ratio", "sparse"))
        shown = f"{value / 1e6:,.2f} M/s" if rate else f"{value:,.2f}"
        print(f"{name:<20} {shown:>16}  {bars.get(name, '')}")


if __name__ == "__main__":
    serve_job(reveal_sparse)
    main()
