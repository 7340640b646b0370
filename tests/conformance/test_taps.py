"""Rides and journeys that are made of taps are the same wherever the taps lie and are counted."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.conformance.engines import Engine
from unit.journeys.material import COLUMNS, source_of, trips_of
from unit.journeys.test_chaining import some_taps


@pytest.mark.parametrize("counted", ["journeys", "rides", "both"])
def test_every_engine_makes_the_same_of_taps(engine: Engine, counted: Any, tmp_path: Path) -> None:
    taps = some_taps(1, cards=9)
    told = {"transfers": counted == "both", "lines": counted == "both"}
    source = source_of(tmp_path, taps, counted=counted, all_taps=True, **told)
    expected = trips_of(source)
    assert len([trip for trip in expected if trip[-1] != "journey"]) == len(taps)
    rows = pa.table(dict(zip(COLUMNS, map(list, zip(*taps, strict=True)), strict=True)))
    places = tmp_path / "places"
    places.mkdir()
    for placed in engine.put(rows, places):
        assert trips_of(replace(source, path=placed.path), placed.settings) == expected
