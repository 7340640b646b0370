"""Runs the comparison of the CBDP paper on the matched synthetic Ann Arbor, with its features."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.city.city import City
from hushway.families.od.city.places import WINDOW, Day
from hushway.families.od.fit.weights import Weights
from hushway.families.od.mechanism.cbdp import od_cbdp
from hushway.families.od.mechanism.hierarchical import od_hierarchical
from hushway.families.od.mechanism.laplace import DenseLaplace
from hushway.families.od.mechanism.shares import recommended_shares, recommended_weights
from hushway.families.od.planning.trial import ODScene, Outcome, TripArrays, trips_scene, try_out
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    Feature,
    pair_feature,
    pair_table_labels,
    period_feature,
    place_pair_labels,
    total_feature,
)
from hushway.privacy.bound import Unit
from hushway.privacy.loss import PureLoss
from hushway.privacy.measured import Internal
from hushway.privacy.randomness import SeededSource
from hushway.progress import Progress
from hushway.release.mechanism import Mechanism
from hushway.study.results import Figures, Interval


def city_scene(
    city: City,
    *,
    periods: range | None = None,
    unit: Unit = Unit.TRIP,
    max_trips: int = 1,
) -> ODScene:
    """Returns a synthetic city with the paper's features.

    Args:
        periods: The periods of the day to keep; all of them unless given.
        max_trips: Most trips of one rider that are counted.
    """
    whole = city.cells.periods
    kept = range(len(whole)) if periods is None else periods
    cells = replace(
        city.cells,
        periods=whole.only_parts(kept),
    )
    trips = city.trips
    inside = (trips.period >= kept.start) & (trips.period < kept.stop)
    arrays = TripArrays(
        person=trips.rider[inside],
        period=trips.period[inside] - kept.start,
        origin=trips.origin[inside],
        destination=trips.destination[inside],
    )
    features = city_features(city, cells)
    return trips_scene(cells, features, arrays, unit=unit, max_trips=max_trips)


def city_features(city: City, cells: ODCells) -> tuple[Feature, ...]:
    """Returns the four coarse features of the paper: F2 to F5."""
    zones = place_pair_labels(cells, "zone", [p.zone for p in cells.locations.places])
    modes = pair_table_labels(cells, "mode", city.mode_of.astype(np.int32), city.modes)
    return (
        total_feature(cells),
        period_feature(cells),
        pair_feature(cells, "zones", zones),
        pair_feature(cells, "modes", modes),
    )


DAYS: tuple[Day, ...] = ("weekday", "weekend")
EPSILONS = ("1", "0.1", "0.05", "0.01")
RUNS = 50

_CITY_SEED = 2018

Maker = Callable[[ODScene, PureLoss], Mechanism[Any, Any]]


def _laplace(_scene: ODScene, budget: PureLoss) -> Mechanism[Any, Any]:
    return DenseLaplace(spend=budget)


def _tree(levels: int) -> Maker:
    return lambda scene, budget: od_hierarchical(
        scene.cells, scene.features[: levels - 1], budget=budget
    )


def _fitted(levels: int, weights: Weights = Weights.SIZE, *, nest: bool = False) -> Maker:
    return lambda scene, budget: od_cbdp(
        scene.cells, scene.features[: levels - 1], budget=budget, weights=weights, nest=nest
    )


def _ours(scene: ODScene, budget: PureLoss) -> Mechanism[Any, Any]:
    """Returns the paper's mechanism with the weights and shares that plans get by default."""
    return od_cbdp(
        scene.cells,
        scene.features,
        budget=budget,
        shares=recommended_shares(scene.features, budget.measure),
        weights=recommended_weights(),
    )


MECHANISMS: dict[str, Maker] = {
    "Laplace": _laplace,
    "H3": _tree(3),
    "H4": _tree(4),
    "H5": _tree(5),
    "O3": _fitted(3),
    "O4": _fitted(4),
    "O5": _fitted(5),
    "O5(a)": _fitted(5, Weights.UNIFORM, nest=True),
    "O5(b)": _fitted(5, Weights.SIZE, nest=True),
    "O5(c)": _fitted(5, Weights.UNIFORM),
    "default": _ours,
}


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """Everything that was measured: internal, computed against the (synthetic) truth.

    A setting of `figures` is a day, a budget and a mechanism.
    """

    runs: int
    trips: dict[str, int]
    cells: int
    figures: Figures

    def of(self, day: str, epsilon: str, mechanism: str, figure: str) -> Interval:
        """Returns one figure, such as "cells_rmse" or "margins_mae.zones"."""
        return self.figures.of(day, epsilon, mechanism, figure)


def reproduce_cbdp(
    *, runs: int = RUNS, epsilons: tuple[str, ...] = EPSILONS, progress: Progress
) -> Internal[Reproduction]:
    """Runs every mechanism at every budget on both days.

    Trips are protected, as in the paper; the window is 08:00 to 10:00 in half-hours. Noise comes
    from a seed, so that anyone gets the same numbers. Run number r has the same seed with every
    mechanism: they see the same luck, and differences show in fewer runs.
    """
    scenes = {day: city_scene(ann_arbor(seed=_CITY_SEED, day=day), periods=WINDOW) for day in DAYS}
    figures = Figures("day", "epsilon", "mechanism")
    steps = len(DAYS) * len(epsilons) * len(MECHANISMS)
    done = 0
    for day, scene in scenes.items():
        for epsilon in epsilons:
            for name, make in MECHANISMS.items():
                progress(f"{day}, ε = {epsilon}: {name}", done / steps)
                mechanism = make(scene, PureLoss(Fraction(epsilon)))
                # Compiles and fills caches, so that the seconds are those of a release.
                try_out(mechanism, scene, SeededSource(0))
                rows = [
                    _flat(try_out(mechanism, scene, SeededSource(run)).value) for run in range(runs)
                ]
                figures.add(day, epsilon, name, rows=rows)
                done += 1
    return Internal(
        Reproduction(
            runs=runs,
            trips={day: int(scene.truth.values.sum()) for day, scene in scenes.items()},
            cells=scenes[DAYS[0]].cells.size,
            figures=figures,
        )
    )


def _flat(outcome: Outcome) -> dict[str, float]:
    errors = asdict(outcome.errors)
    margins = errors.pop("margins_mae")
    return (
        errors | {f"margins_mae.{k}": v for k, v in margins.items()} | {"seconds": outcome.seconds}
    )
