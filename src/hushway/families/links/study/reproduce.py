"""Runs the experiments of the DP-ANI paper on the matched synthetic Berkeley."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.families.links.city.berkeley import berkeley
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.planning.invented_rows import Drives
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.study.attacks import (
    away_from,
    commuters,
    drives_of_person,
    guessed_home,
    most_advantage,
    paper_home,
    paper_presence,
    sound_home,
    sound_presence,
    traces_of,
)
from hushway.families.links.study.methods import (
    DAY,
    DAY_LIMITS,
    DELTA,
    EPSILONS,
    HOUR_LIMITS,
    METRES_OF_MILE,
    METRIC,
    PRINTED,
    REMOVAL,
    SOUND,
    Attacks,
    Drawn,
    Figure,
    Hour,
    Reproduction,
    day_of,
    hour_of,
    mechanism_of,
    network_length,
    printed_run,
    removal_run,
    sound_run,
    with_metric_ends,
)
from hushway.families.links.study.paper import study_of
from hushway.families.links.study.scene import LinkScene, measure_link_gains, one_period
from hushway.privacy.measured import Internal
from hushway.progress import Progress
from hushway.study.study_table import interval_of

RUNS: Final = 5
GAIN_TRIPS: Final = (1_200, 10_000, 100_000)
GAIN_LINKS: Final = 50_000
DRAWN_EPSILON: Final = "1"

_Runs = list[dict[str, float]]


def reproduce_dp_ani(
    *,
    runs: int = RUNS,
    seed: int = 2019,
    gain_trips: tuple[int, ...] = GAIN_TRIPS,
    gain_links: int = GAIN_LINKS,
    epsilons: tuple[str, ...] = EPSILONS,
    cities: tuple[TraceCity, TraceCity] | None = None,
    progress: Progress,
) -> Internal[Reproduction]:
    """Runs every method at every budget, the attacks, and the gains of the fit.

    Args:
        runs: Runs of each method and budget; run r has the same seed with every method.
        seed: Chooses the people of the city.
        gain_trips: Numbers of trips at which the gains of the fit are measured.
        gain_links: Size of the network on which they are.
        epsilons: The budgets, 1 among them.
        cities: An hour and a day of traces on the same roads; those of Berkeley if left out.
        progress: Told where it is.
    """
    progress("Making the city")
    if cities is None:
        cities = berkeley(seed), berkeley(seed, hours=range(24))
    hour = hour_of(cities[0])
    figures: list[Figure] = []
    drawn = {"original": hour.truth}
    for name, epsilon, found, counts in _all_runs(hour, cities[1], runs, epsilons, progress):
        figures += _figures(name, epsilon, found)
        if epsilon == DRAWN_EPSILON:
            drawn[name] = counts
    progress("Attacks")
    roads = hour.study.roads
    attacks = attack(roads).value
    gains = {}
    for trips in gain_trips:
        progress(f"Gains of the fit, {trips:,} trips")
        found_gains = measure_link_gains(
            road_city(seed, links=gain_links),
            trips,
            epsilon=Fraction(1),
            delta=DELTA,
            runs=range(1),
            seed=seed,
        ).value
        gains[str(trips)] = {name: float(np.mean(errors)) for name, errors in found_gains.items()}
    return Internal(
        Reproduction(
            runs=runs,
            trips=len(hour.study.ways),
            people=int(hour.person.max()) + 1,
            day_trips=len(cities[1]),
            links=roads.links,
            miles=network_length(hour.truth, roads) / METRES_OF_MILE,
            figures=tuple(figures),
            attacks=attacks,
            gains=gains,
            drawn=_drawn(drawn, roads),
        )
    )


def _all_runs(
    hour: Hour, day_city: TraceCity, runs: int, epsilons: tuple[str, ...], progress: Progress
) -> Iterator[tuple[str, str, _Runs, FloatArray]]:
    """Yields every method at every budget: its name, the budget, all runs, and counts of run 0."""
    day = day_of(day_city)
    hour_counter, day_counter = hour.scene.bounded(HOUR_LIMITS), day.bounded(DAY_LIMITS)
    noisy_scenes = []
    for run in range(runs):
        progress("Moving ends by metric noise", run / runs)
        noisy_scenes.append(with_metric_ends(hour, run))
    noisy_counters = [scene.bounded(HOUR_LIMITS) for scene in noisy_scenes]
    for step, epsilon in enumerate(epsilons):
        share = step / len(epsilons)
        for name in PRINTED:
            progress(f"ε = {epsilon}: {name}", share)
            yield _collected(
                name, epsilon, [printed_run(name, hour, epsilon, run).value for run in range(runs)]
            )
        yield _collected(REMOVAL, epsilon, [removal_run(hour).value])
        progress(f"ε = {epsilon}: sound", share)
        mechanism, for_day = mechanism_of(epsilon, HOUR_LIMITS), mechanism_of(epsilon, DAY_LIMITS)
        truth = hour.scene.truth
        yield _collected(
            SOUND,
            epsilon,
            [sound_run(hour.scene, hour_counter, mechanism, r, truth).value for r in range(runs)],
        )
        yield _collected(
            METRIC,
            epsilon,
            [
                sound_run(noisy_scenes[r], noisy_counters[r], mechanism, r, truth).value
                for r in range(runs)
            ],
        )
        yield _collected(
            DAY,
            epsilon,
            [sound_run(day, day_counter, for_day, r, day.truth).value for r in range(runs)],
        )


def _collected(
    name: str, epsilon: str, found: list[tuple[FloatArray, dict[str, float]]]
) -> tuple[str, str, _Runs, FloatArray]:
    return name, epsilon, [figures for _, figures in found], found[0][0]


def _figures(method: str, epsilon: str, found: _Runs) -> Iterator[Figure]:
    for figure in found[0]:
        values = np.array([one[figure] for one in found])
        yield Figure(method=method, epsilon=epsilon, figure=figure, interval=interval_of(values))


def _drawn(counts: dict[str, FloatArray], roads: RoadNetwork) -> Drawn:
    ends = np.hstack([roads.node_points[roads.tail], roads.node_points[roads.head]])
    return Drawn(
        segments=np.round(ends, 1).tolist(),
        counts={name: np.round(values, 2).tolist() for name, values in counts.items()},
    )


BUDGETS: Final = ("0.1", "1", "10")
TRIPS: Final = (1, 3, 10, 30, 100)
_EPSILON = "1"
_PEOPLE = 20
_HOMES = 400
_RUNS = 500
_FEW_RUNS = 20
_SEED = 5
# Nobody else comes nearer to the lone driver's road.
_UNUSED_M = 300.0


def attack(roads: RoadNetwork) -> Internal[Attacks]:
    """Attacks people who live and work somewhere, by what DP-ANI and the product publish."""
    rng = np.random.default_rng(_SEED)
    people = commuters(roads, _PEOPLE, rng)
    homes = rng.choice(roads.nodes, min(_HOMES, roads.nodes), replace=False)
    universe = one_period(roads)
    mechanism = mechanism_of(_EPSILON, HOUR_LIMITS)

    def paper_metres(trips: int, epsilon: float) -> float:
        streams = map(np.random.default_rng, range(len(people)))
        runs = zip(people, streams, strict=True)
        return float(np.mean([paper_home(roads, p, trips, epsilon, r).value for p, r in runs]))

    sound = [
        sound_home(
            LinkScene(universe=universe, drives=drives_of_person(person, roads)),
            person,
            mechanism,
            # The home itself is always among those that come into question.
            np.append(homes, person.home),
            i,
        ).value
        for i, person in enumerate(people)
    ]
    driver = people[0]
    road = int(driver.route[len(driver.route) // 2])
    elsewhere = [person.route for person in away_from(road, people[1:], roads, _UNUSED_M)]
    presence = paper_presence(
        study_of(roads, traces_of(roads, elsewhere, rng)),
        study_of(roads, traces_of(roads, [driver.route], rng)),
        road,
        float(_EPSILON),
        range(_FEW_RUNS),
    )
    others = Drives(
        person=np.repeat(np.arange(len(elsewhere)), [len(route) for route in elsewhere]),
        item=np.concatenate(elsewhere),
    )
    found = sound_presence(
        universe, others, drives_of_person(driver, roads), mechanism, range(_RUNS)
    )
    return Internal(
        Attacks(
            homes={
                epsilon: {str(trips): paper_metres(trips, float(epsilon)) for trips in TRIPS}
                for epsilon in BUDGETS
            },
            sound_home=float(np.mean(sound)),
            guessed_home=float(np.mean([guessed_home(p, homes, roads) for p in people])),
            faithful_presence=presence.value.value,
            sound_presence=found.value.value,
            most_presence=most_advantage(float(_EPSILON), float(DELTA)),
        )
    )
