"""The attacks of the reproduction of the DP-ANI paper, on its own roads."""

from typing import Final

import numpy as np

from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.study.attacks import (
    away_from,
    commuters,
    drives_of_person,
    faithful_home,
    faithful_presence,
    guessed_home,
    most_advantage,
    sound_home,
    sound_presence,
    traces_of,
)
from hushway.families.links.study.methods import DELTA, HOUR_LIMITS, mechanism_of
from hushway.families.links.study.numbers import Attacks
from hushway.families.links.study.paper import study_of
from hushway.families.links.study.scene import Drives, LinkScene, one_period
from hushway.privacy.internal import Internal

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
    by_trips = {
        epsilon: {
            str(trips): float(
                np.mean(
                    [
                        faithful_home(
                            roads, person, trips, float(epsilon), np.random.default_rng(i)
                        ).value
                        for i, person in enumerate(people)
                    ]
                )
            )
            for trips in TRIPS
        }
        for epsilon in BUDGETS
    }
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
    presence = faithful_presence(
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
            homes=by_trips,
            sound_home=float(np.mean(sound)),
            guessed_home=float(np.mean([guessed_home(p, homes, roads) for p in people])),
            faithful_presence=presence.value.value,
            sound_presence=found.value.value,
            most_presence=most_advantage(float(_EPSILON), float(DELTA)),
        )
    )
