"""How long the fit of a table that learns takes beside the noise of its cells alone.

A day of a generated metro by hour, 2.9 million cells, with one trip protected. Both are taken in
processor time of all threads, which tells more than the clock on a machine that others use too.
"""

import time
from fractions import Fraction

from harness import print_figures, warm_seconds
from hushway.families.od.planning.trial import ODScene
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import SeededSource, os_source
from hushway.release.forecast.study_budget import StudyBudget
from od_learning import learned
from od_metro import generated_metro

STATIONS, TRIPS = 350, 477_000
RUNS, NOISE_RUNS = 1, 15


def seconds(scene: ODScene, epsilon: Fraction) -> tuple[float, float]:
    """Returns the processor seconds of the fit, and of drawing the noise of all cells."""
    mechanism = learned(scene, PureLoss(epsilon))
    curator = Curator(counter=scene.counter, budget=StudyBudget(), source=SeededSource(1))
    noisy = mechanism.measure(curator, scene.cells)
    law, clock = DiscreteLaplace(1 / epsilon), time.process_time
    fit = warm_seconds(lambda: mechanism.fit(noisy, scene.cells), RUNS, clock)
    return fit, warm_seconds(lambda: law.draw(os_source(), scene.cells.size), NOISE_RUNS, clock)


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    scene = generated_metro(stations=STATIONS, trips=TRIPS, minutes=60)
    figures: dict[str, float] = {"cells": scene.cells.size}
    for epsilon in ("0.1", "1", "4"):
        fit, noise = seconds(scene, Fraction(epsilon))
        figures[f"fit_processor_seconds_at_{epsilon}"] = fit
        figures[f"noise_processor_seconds_at_{epsilon}"] = noise
        figures[f"ratio_to_noise_at_{epsilon}"] = fit / noise
    print_figures(figures, {"ratio_to_noise": "at most 40"})
    return figures


if __name__ == "__main__":
    main()
