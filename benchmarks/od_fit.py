"""How long the fit of a table that learns takes beside the noise of its cells alone.

A day of a generated metro by hour, 2.9 million cells, with one trip protected. Both are taken in
processor time of all threads, which tells more than the clock on a machine that others use too.
Month 13 of a series learns from the noisy answers of twelve months, which are drawn here each time
that they are read: what it takes beside a month alone, and the most memory that any has taken.
"""

import resource
import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from harness import print_figures, warm_seconds
from hushway.families.od.files.others import noisy_answers
from hushway.families.od.fit.learning.series import NoisyStep
from hushway.families.od.mechanism.learned import Learned
from hushway.families.od.planning.trial import ODScene
from hushway.privacy.curator import Curator
from hushway.privacy.loss import PureLoss
from hushway.privacy.noise.laplace import DiscreteLaplace
from hushway.privacy.randomness import SeededSource, os_source
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.mechanism import Measurements
from hushway.release.others import OtherStep
from od_learning import learned
from od_metro import generated_metro

STATIONS, TRIPS = 350, 477_000
RUNS, NOISE_RUNS = 1, 15
FEW, YEAR = 3, 12


def seconds(scene: ODScene, epsilon: Fraction) -> tuple[float, float]:
    """Returns the processor seconds of the fit, and of drawing the noise of all cells."""
    mechanism = learning_table(scene, epsilon)
    noisy = measured(mechanism, scene, 1)
    law, clock = DiscreteLaplace(1 / epsilon), time.process_time
    fit = warm_seconds(lambda: mechanism.fit(noisy, scene.cells), RUNS, clock)
    return fit, warm_seconds(lambda: law.draw(os_source(), scene.cells.size), NOISE_RUNS, clock)


def learning_table(scene: ODScene, epsilon: Fraction) -> Learned:
    """Returns the default mechanism."""
    mechanism = learned(scene, PureLoss(epsilon))
    assert isinstance(mechanism, Learned)  # noqa: S101  it looks at every cell
    return mechanism


def measured(mechanism: Learned, scene: ODScene, seed: int) -> Measurements:
    """Returns the noisy answers of a month."""
    curator = Curator(counter=scene.counter, budget=StudyBudget(), source=SeededSource(seed))
    return mechanism.measure(curator, scene.cells)


def earlier(mechanism: Learned, scene: ODScene, away: int) -> OtherStep:
    """Returns a month so many months ago."""

    def answers(*asked: Any) -> NoisyStep:
        return noisy_answers(mechanism, measured(mechanism, scene, 1 + away), *asked)

    return OtherStep(stated={"steps_away": away}, answers=answers)


def learning(scene: ODScene, epsilon: Fraction) -> Iterator[tuple[int, float, float]]:
    """Yields how many months are learnt from, and processor seconds and gigabytes of that fit."""
    alone = learning_table(scene, epsilon)
    noisy = measured(alone, scene, 1)
    for months in (0, FEW, YEAR):
        others = (earlier(alone, scene, away) for away in range(1, months + 1))
        month = replace(alone, others=tuple(others))
        taken = warm_seconds(partial(month.fit, noisy, scene.cells), RUNS, time.process_time)
        yield months, taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> dict[str, float]:
    """Measures, prints a table and returns the numbers."""
    scene = generated_metro(stations=STATIONS, trips=TRIPS, minutes=60)
    figures: dict[str, float] = {"cells": scene.cells.size}
    for epsilon in ("0.1", "1", "4"):
        fit, noise = seconds(scene, Fraction(epsilon))
        figures[f"fit_processor_seconds_at_{epsilon}"] = fit
        figures[f"noise_processor_seconds_at_{epsilon}"] = noise
        figures[f"ratio_to_noise_at_{epsilon}"] = fit / noise
    for months, taken, gigabytes in learning(scene, Fraction(1)):
        figures[f"fit_processor_seconds_after_{months}_months"] = taken
        figures[f"most_gigabytes_after_{months}_months"] = gigabytes
    alone, late = (figures[f"fit_processor_seconds_after_{months}_months"] for months in (0, YEAR))
    figures["month_13_to_month_alone"] = late / alone
    print_figures(figures, {"ratio_to_noise": "at most 40", "month_13": "at most 2 of a release"})
    return figures


if __name__ == "__main__":
    main()
