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
from hushway.study.results import Figures

RUNS: Final = 5
GAIN_TRIPS: Final = (1_200, 10_000, 100_000)
GAIN_LINKS: Final = 50_000
DRAWN_EPSILON: Final = "1"

# Counts of links, and figures by name.
_Run = tuple[FloatArray, dict[str, float]]


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
    """Runs every method at every budget, the attacks, and the gains of the fit."""
    progress("Making the city")
    if cities is None:
        cities = berkeley(seed), berkeley(seed, hours=range(24))
    hour = hour_of(cities[0])
    figures = Figures("method", "epsilon")
    drawn = {"original": hour.truth}
    for name, epsilon, found in _all_runs(hour, cities[1], runs, epsilons, progress):
        figures.add(name, epsilon, rows=[row for _, row in found])
        if epsilon == DRAWN_EPSILON:
            drawn[name] = found[0][0]
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
            figures=figures,
            attacks=attacks,
            gains=gains,
            drawn=_drawn(drawn, roads),
        )
    )


def _all_runs(
    hour: Hour, day_city: TraceCity, runs: int, epsilons: tuple[str, ...], progress: Progress
) -> Iterator[tuple[str, str, list[_Run]]]:
    """Yields every method at every budget, with all of its runs."""
    day = day_of(day_city)
    hour_counter, day_counter = hour.scene.bounded(HOUR_LIMITS), day.bounded(DAY_LIMITS)
    noisy = []
    for run in range(runs):
        progress("Moving ends by metric noise", run / runs)
        moved = with_metric_ends(hour, run)
        noisy.append((moved, moved.bounded(HOUR_LIMITS)))
    truth = hour.scene.truth
    for step, epsilon in enumerate(epsilons):
        share = step / len(epsilons)
        for name in PRINTED:
            progress(f"ε = {epsilon}: {name}", share)
            yield name, epsilon, [printed_run(name, hour, epsilon, r).value for r in range(runs)]
        yield REMOVAL, epsilon, [removal_run(hour).value]
        progress(f"ε = {epsilon}: sound", share)
        by_hour, by_day = mechanism_of(epsilon, HOUR_LIMITS), mechanism_of(epsilon, DAY_LIMITS)
        for name, where, mechanism, true in (
            (SOUND, [(hour.scene, hour_counter)] * runs, by_hour, truth),
            (METRIC, noisy, by_hour, truth),
            (DAY, [(day, day_counter)] * runs, by_day, day.truth),
        ):
            yield (
                name,
                epsilon,
                [
                    sound_run(scene, counter, mechanism, run, true).value
                    for run, (scene, counter) in enumerate(where)
                ],
            )


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
