"""Riders in the generated town, whose true ends are known: the bars of the benchmark."""

from pathlib import Path

import journeys


def test_ends_and_journeys_of_the_generated_town(tmp_path: Path) -> None:
    found = journeys.accuracy("town", "200", str(tmp_path))
    assert found["% of taps inferred"] >= 85
    assert found["% of them within 400 m"] >= 90
    assert found["% of journeys right"] >= 90
    # Not without difficulty: rides end elsewhere than the card is used next, and gates are left.
    assert found["% of them within 400 m"] < 100
    assert found["% exits"] > 1
