"""No unit moves the exact answer to any question further than its noise is for, in any engine.

Brute force: rows with and without one unit are counted by the real counter of every plan, and the
distance of the answers to what its mechanism really asks is held against the bound that was
charged. A new mechanism, unit or option is in these lists by itself: `support.sensitivity.plans`.
"""

from pathlib import Path

import numpy as np
import pytest

from hushway.families.load import plan_from, prepare
from support.conformance.case import random_key
from support.conformance.engines import Engine, in_parquet
from support.little_plans import FAMILIES, write_little_files
from support.sensitivity.brute import brute_force
from support.sensitivity.distances import Answers, questions_of, reached, violations
from support.sensitivity.memory import PEOPLE, in_memory, skewed_people
from support.sensitivity.plans import (
    CAPPED,
    OTHERWISE_CAPPED,
    Group,
    every_mechanism,
    every_option,
)

KEY = random_key(7)
GROUPS = [
    pytest.param(group, marks=() if group.often else pytest.mark.long, id=str(group))
    for group in [*every_mechanism(), CAPPED, OTHERWISE_CAPPED]
]
ENGINES = [
    "DuckDB, Parquet",
    pytest.param("DuckDB, CSV", marks=pytest.mark.long),
    "postgres",
    pytest.param("duckdb", marks=pytest.mark.long),
    pytest.param("clickhouse", marks=pytest.mark.long),
    # Every world takes a cluster some five seconds.
    pytest.param("cluster, Parquet", marks=[pytest.mark.cluster, pytest.mark.long]),
]


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.parametrize("group", GROUPS)
def test_no_unit_moves_an_answer_further_than_its_noise_is_for(
    engine: Engine, group: Group, tmp_path: Path
) -> None:
    found = brute_force(group, engine, tmp_path, KEY)
    assert not found.broken
    assert not found.slack


@pytest.mark.long
@pytest.mark.parametrize("group", [*every_option()], ids=str)
def test_no_option_lets_a_unit_move_an_answer_further(group: Group, tmp_path: Path) -> None:
    found = brute_force(group, in_parquet(), tmp_path, KEY)
    assert not found.broken
    assert not found.slack


@pytest.mark.parametrize("family", FAMILIES)
def test_no_person_moves_an_answer_of_arrays_in_memory_further(family: str, tmp_path: Path) -> None:
    write_little_files(tmp_path)
    person = skewed_people(np.random.default_rng(7))
    group = next(one for one in every_mechanism() if one.plans[0].family == family)
    for plan in group.plans:
        job = prepare(plan_from(plan.facts(), folder=tmp_path))
        counters = [
            in_memory(family)(job, KEY, person, person != gone) for gone in (-1, *range(PEOPLE))
        ]
        questions = questions_of(job, counters[0])
        whole, *others = (Answers.of(counter, questions) for counter in counters)
        broken = [words for other in others for words in violations(whole, other, questions)]
        assert not broken
        assert any(reached(whole, other, questions) for other in others)
