"""Attacks that must succeed on DP-ANI and fail on noisy link counts. All seeds are fixed."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from hushway.families.links.city.road_city import road_city
from hushway.families.links.mechanism.counts import LinkCounts, link_counts, smaller_noise
from hushway.families.links.planning.invented_rows import Drives
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import MovementLimits
from hushway.families.links.study.attacks import (
    Commuter,
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
from hushway.families.links.study.paper import study_of
from hushway.families.links.study.scene import LinkScene, one_period

LIMITS = MovementLimits(max_items=40)
DELTA = Fraction(1, 10**6)
PEOPLE = 30


@pytest.fixture(scope="module")
def roads() -> RoadNetwork:
    return road_city(7, links=2000)


@pytest.fixture(scope="module")
def people(roads: RoadNetwork) -> list[Commuter]:
    return commuters(roads, PEOPLE, np.random.default_rng(1))


def mechanism(epsilon: int) -> LinkCounts:
    budget = smaller_noise(Fraction(epsilon), DELTA, LIMITS)
    return link_counts(LIMITS, budget=budget)


def sound_errors(roads: RoadNetwork, people: list[Commuter], epsilon: int) -> list[float]:
    universe, homes = one_period(roads), np.arange(roads.nodes)
    return [
        sound_home(
            LinkScene(universe=universe, drives=drives_of_person(person, roads)),
            person,
            mechanism(epsilon),
            homes,
            seed,
        ).value
        for seed, person in enumerate(people)
    ]


@pytest.mark.long
def test_a_hundred_trips_give_a_home_away_in_dp_ani(
    roads: RoadNetwork, people: list[Commuter]
) -> None:
    for epsilon in (0.1, 1.0):
        by_trips = [
            np.mean(
                [
                    paper_home(roads, p, trips, epsilon, np.random.default_rng(i)).value
                    for i, p in enumerate(people[:12])
                ]
            )
            for trips in (1, 10, 100)
        ]
        assert by_trips[0] > by_trips[1] > by_trips[2]
        assert by_trips[2] < 60


def test_noisy_link_counts_give_a_home_away_no_better_than_a_guess(
    roads: RoadNetwork, people: list[Commuter]
) -> None:
    guesses = [guessed_home(person, np.arange(roads.nodes), roads) for person in people]
    assert np.mean(sound_errors(roads, people, 1)) > 0.9 * np.mean(guesses)


def test_the_attack_on_noisy_link_counts_finds_homes_when_there_is_hardly_noise(
    roads: RoadNetwork, people: list[Commuter]
) -> None:
    # Else its failure would say nothing about the counts.
    assert np.mean(sound_errors(roads, people, 1000)) < 60


def test_a_lone_driver_is_seen_with_certainty_in_dp_ani(
    roads: RoadNetwork, people: list[Commuter]
) -> None:
    driver, rng = people[0], np.random.default_rng(2)
    road = int(driver.route[len(driver.route) // 2])
    others = [person.route for person in away_from(road, people[1:], roads, 300.0)]
    assert len(others) > 5
    found = paper_presence(
        study_of(roads, traces_of(roads, others, rng)),
        study_of(roads, traces_of(roads, [driver.route], rng)),
        road,
        0.1,
        range(30),
    ).value
    assert (found.seen, found.false_alarms) == (1.0, 0.0)


@pytest.mark.long
def test_a_lone_driver_is_hardly_told_in_noisy_link_counts(
    roads: RoadNetwork, people: list[Commuter]
) -> None:
    others = Drives(
        person=np.repeat(np.arange(1, PEOPLE), [len(p.route) for p in people[1:]]),
        item=np.concatenate([p.route for p in people[1:]]),
    )
    driver, runs = drives_of_person(people[0], roads), 2000
    found = sound_presence(one_period(roads), others, driver, mechanism(1), range(runs)).value
    # Gaussian noise of standard deviation s on n items: the shift is sqrt(n) / s.
    noise = float(np.sqrt(LIMITS.max_items / (2 * float(mechanism(1).spends.links.amount))))
    shift = np.sqrt(len(driver.item)) / noise
    expected = 2 * stats.norm.cdf(shift / 2) - 1
    assert found.value == pytest.approx(expected, abs=5 * np.sqrt(0.5 / runs))
    assert found.value < most_advantage(1.0, float(DELTA)) / 2
    near_certain = mechanism(1000)
    clear = sound_presence(one_period(roads), others, driver, near_certain, range(20)).value
    assert clear.value == 1.0
