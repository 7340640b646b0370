"""Runs the experiments of the paper on densities (KDD 2014) on the matched synthetic Paris."""

import numpy as np

from hushway.families.density.city import paris as paris_figures
from hushway.families.density.city.paris import DensityCity, paris
from hushway.families.density.mechanism.series import density_series
from hushway.families.density.planning.trial import BoundedCity, area_truth, budget_of
from hushway.families.density.study.errors import (
    Box,
    DensityErrors,
    box_of,
    density_errors,
    weekly_earth_movers,
)
from hushway.families.density.study.gains import Score, measure_gains
from hushway.families.density.study.honest import cost_of
from hushway.families.density.study.methods import (
    BY_VISITS,
    DEFAULT,
    DELTA,
    EPSILON,
    HISTOGRAMS,
    MAX_VISITS,
    METHODS,
    PRINTED,
    SLOW,
    Details,
    Reproduction,
    histogram_errors,
    printed_plan,
    sound_table,
)
from hushway.families.density.study.methods import EPSILONS as HISTOGRAM_EPSILONS
from hushway.families.density.study.scene import DensityScene, paris_scene
from hushway.privacy.measured import Internal
from hushway.progress import Progress, quiet
from hushway.study.results import Figures, Interval, interval_of

EPSILONS = ("0.1", "0.2", "0.3", "0.5", "0.7", "1")
VISITS = (10, 30, 168)
BOXED = ("EFPAG", DEFAULT)
MOVED = ("LPA", "EFPA", "EFPAG", DEFAULT)
DRAWN = ("LPA", "EFPAG-", "EFPAG", DEFAULT)
# Most runs of what takes seconds each: earth mover's distances of a week, slow methods.
FEW_RUNS = 3
# Draws of other visits.
KEYS = 5
# The product's own limit; in the city nobody has more than the paper's 732 visits.
_MOST_COUNTED = 1000
_SURE = 1.96


def reproduce_density(
    *,
    runs: int,
    seed: int = 2014,
    people: int = paris_figures.PEOPLE,
    towers: int = paris_figures.TOWERS,
    areas: int = paris_figures.AREAS,
    progress: Progress,
) -> Internal[Reproduction]:
    """Runs every method at every budget and limit of visits.

    One person with all visits is protected, as in the paper; noise comes from fixed seeds, and
    visits are bounded once for all runs.
    """
    progress("Making the city")
    city = paris(seed, people=people, towers=towers, areas=areas)
    scene = paris_scene(city, VISITS, max_visits_in_total=_MOST_COUNTED)
    errors = _all_errors(scene, runs, progress)
    figures = Figures("method", "epsilon", "visits")
    for setting, found in errors.items():
        figures.add(*setting, rows=[_means(one) for one in found])
    _coverage(scene, runs, figures)
    progress("Histograms")
    _histograms(scene, runs, figures)
    metres = _moved(scene, min(runs, FEW_RUNS), figures, progress)
    progress("Bounding anew")
    keys = _keys(city, scene)
    progress("Fitting the same noise in other ways")
    return Internal(
        Reproduction(
            runs=runs,
            people=people,
            areas=areas,
            visits=int(scene.site_truth.sum()),
            figures=figures,
            boxes=_boxes(errors),
            details=_details(scene, errors, metres),
            costs={
                name: cost_of(printed_plan(name, EPSILON, MAX_VISITS), scene.universe.bins)
                for name in PRINTED
                if not name.endswith("-")
            },
            keys=keys,
            gains=_gains(scene, runs),
        )
    )


_Errors = dict[tuple[str, str, int], list[DensityErrors]]


def _means(errors: DensityErrors | Score) -> dict[str, float]:
    return {"mre": errors.mre, "pearson": errors.pearson, "rsse": errors.rsse}


def _all_errors(scene: DensityScene, runs: int, progress: Progress) -> _Errors:
    settings = [
        (method, epsilon, visits)
        for visits in VISITS
        for epsilon in EPSILONS
        for method in (METHODS if visits == MAX_VISITS else BY_VISITS)
    ]
    errors: _Errors = {}
    for done, (method, epsilon, visits) in enumerate(settings):
        progress(f"{method}, ε = {epsilon}, {visits} visits", done / len(settings))
        city = scene.cities[visits]
        errors[method, epsilon, visits] = [
            density_errors(scene.truth, METHODS[method](city, epsilon, run).value).value
            for run in range(min(runs, FEW_RUNS) if method in SLOW else runs)
        ]
    return errors


def _coverage(scene: DensityScene, runs: int, figures: Figures) -> None:
    """Adds how many true counts lie within 1.96 published standard errors."""
    for epsilon in EPSILONS:
        rows = []
        for run in range(runs):
            table = sound_table(scene.cities[MAX_VISITS], epsilon, run).value
            covered = np.abs(table.counts - scene.truth) <= _SURE * table.standard_error
            rows.append({"coverage": float(covered.mean())})
        figures.add(DEFAULT, epsilon, MAX_VISITS, rows=rows)


def _histograms(scene: DensityScene, runs: int, figures: Figures) -> None:
    city, exact = scene.cities[MAX_VISITS], scene.site_truth.sum(axis=1)
    for method in HISTOGRAMS:
        for epsilon in HISTOGRAM_EPSILONS:
            rows = [histogram_errors(city, exact, method, epsilon, run) for run in range(runs)]
            figures.add(method, epsilon, MAX_VISITS, rows=rows)


def _moved(
    scene: DensityScene, runs: int, figures: Figures, progress: Progress
) -> dict[str, list[float]]:
    """Adds earth mover's distances, and returns them by hour."""
    by_hour = {}
    centres = scene.universe.areas.centres
    for method in MOVED:
        weeks = []
        for run in range(runs):
            progress(f"Earth mover's distance: {method}, run {run + 1}")
            release = METHODS[method](scene.cities[MAX_VISITS], EPSILON, run).value
            weeks.append(weekly_earth_movers(scene.truth, release, centres, progress=quiet))
        rows = [{"metres": float(np.nanmean(week))} for week in weeks]
        figures.add(method, EPSILON, MAX_VISITS, rows=rows)
        by_hour[method] = np.mean(weeks, axis=0).tolist()
    return by_hour


def _keys(city: DensityCity, scene: DensityScene) -> dict[str, list[float]]:
    """Draws other visits of the same people and adds the same noise."""
    found: dict[str, list[float]] = {method: [] for method in BOXED}
    for key in range(1, KEYS + 1):
        again = paris_scene(city, [MAX_VISITS], max_visits_in_total=_MOST_COUNTED, key_seed=key)
        for method, values in found.items():
            release = METHODS[method](again.cities[MAX_VISITS], EPSILON, 0).value
            values.append(density_errors(scene.truth, release).value.mre)
    return found


def _boxes(errors: _Errors) -> dict[str, dict[str, dict[str, Box]]]:
    def box(method: str, epsilon: str, figure: str) -> Box:
        runs = errors[method, epsilon, MAX_VISITS]
        return box_of(np.concatenate([getattr(one, f"{figure}_by_cell") for one in runs]))

    return {
        method: {
            epsilon: {figure: box(method, epsilon, figure) for figure in ("mre", "pearson")}
            for epsilon in EPSILONS
        }
        for method in BOXED
    }


def _details(scene: DensityScene, errors: _Errors, metres: dict[str, list[float]]) -> Details:
    city = scene.cities[MAX_VISITS]
    totals = scene.truth.sum(axis=1)
    area = int(np.argsort(totals, kind="stable")[len(totals) // 2])
    main = {method: errors[method, EPSILON, MAX_VISITS] for method in METHODS}
    bounded = area_truth(scene.universe, city.matrix.visits)
    series = {"truth": scene.truth[area].tolist(), "bounded": bounded[area].tolist()}
    for method in DRAWN:
        series[method] = METHODS[method](city, EPSILON, 0).value[area].tolist()
    return Details(
        area=area,
        series=series,
        error_by_hour=_mean_over_runs(main, "relative_error_by_bin"),
        metres_by_hour=metres,
        mre_by_area=_mean_over_runs({name: main[name] for name in BOXED}, "mre_by_cell"),
        pearson_by_area=_mean_over_runs({name: main[name] for name in BOXED}, "pearson_by_cell"),
    )


def _mean_over_runs(found: dict[str, list[DensityErrors]], figure: str) -> dict[str, list[float]]:
    return {
        method: np.mean([getattr(one, figure) for one in runs], axis=0).tolist()
        for method, runs in found.items()
    }


def _gains(scene: DensityScene, runs: int) -> dict[str, dict[str, Interval]]:
    city: BoundedCity = scene.cities[MAX_VISITS]
    mechanism = density_series(city.limits, budget=budget_of(EPSILON, DELTA))
    scores = measure_gains(city, mechanism, scene.truth, range(runs)).value
    return {
        name: {
            figure: interval_of(np.array([_means(score)[figure] for score in found]))
            for figure in ("mre", "pearson", "rsse")
        }
        for name, found in scores.items()
    }
