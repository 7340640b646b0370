"""No unit moves the exact answer to any question further than its noise is for, in any engine.

Brute force: rows with and without one unit are counted by the real counter of every plan, and the
distance of the answers to what its mechanism really asks is held against the bound that was
charged. A new mechanism, unit or option is in these lists by itself: `support.sensitivity.plans`.
"""

from pathlib import Path

import pytest

from support.conformance.case import random_key
from support.conformance.engines import Engine, in_parquet
from support.sensitivity.brute import brute_force
from support.sensitivity.plans import Bounding, every_mechanism, every_option

KEY = random_key(7)
MECHANISMS = [one for one in every_mechanism() if one.possible]
OPTIONS = [one for one in every_option() if one.possible]


@pytest.mark.parametrize("bounding", MECHANISMS, ids=str)
def test_no_unit_moves_an_answer_further_than_its_noise_is_for(
    engine: Engine, bounding: Bounding, tmp_path: Path
) -> None:
    found = brute_force(bounding, engine, tmp_path, KEY)
    assert not found.broken
    assert found.reached


@pytest.mark.long
@pytest.mark.parametrize("bounding", OPTIONS, ids=str)
def test_no_option_lets_a_unit_move_an_answer_further(bounding: Bounding, tmp_path: Path) -> None:
    found = brute_force(bounding, in_parquet(), tmp_path, KEY)
    assert not found.broken
    assert found.reached
