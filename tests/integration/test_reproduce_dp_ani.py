"""The experiments of the DP-ANI paper, on a city a few times smaller."""

import json
from datetime import date
from pathlib import Path

import pytest

from hushway.families.links.city.plans import Habits
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import simulate_traces
from hushway.families.links.study.methods import (
    DAY,
    METHODS,
    METRIC,
    PRINTED,
    REMOVAL,
    SOUND,
    Reproduction,
)
from hushway.families.links.study.report import (
    gains_table,
    headline_tables,
    homes_table,
    published_table,
    report,
    statements,
)
from hushway.families.links.study.reproduce import reproduce_dp_ani
from hushway.families.links.study.scene import FITS
from hushway.privacy.measured import Internal
from hushway.progress import quiet

EPSILONS = ("0.1", "1", "10")

# Every method at every setting.
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def found() -> Internal[Reproduction]:
    roads = road_city(2019, links=1000)
    habits = Habits(first_day=date(2019, 1, 29), zone="America/Los_Angeles")
    hour = simulate_traces(roads, 1, people=100, habits=habits)
    day = simulate_traces(roads, 1, people=2000, habits=habits)
    return reproduce_dp_ani(
        runs=2,
        gain_trips=(300,),
        gain_links=1000,
        epsilons=EPSILONS,
        cities=(hour, day),
        progress=quiet,
    )


def test_every_method_is_measured_at_every_budget(found: Internal[Reproduction]) -> None:
    for epsilon in EPSILONS:
        for method in METHODS:
            for figure in ("length_ratio", "counts_distance", "class_distance", "top_share"):
                assert found.value.of(method, epsilon, figure).mean >= 0
        for method in PRINTED:
            assert 0 < found.value.of(method, epsilon, "moved").mean <= 1


def test_the_baseline_removes_and_depends_on_no_budget(found: Internal[Reproduction]) -> None:
    ratios = {found.value.of(REMOVAL, epsilon, "length_ratio").mean for epsilon in EPSILONS}
    assert len(ratios) == 1
    assert 0 < ratios.pop() < 1


def test_more_budget_and_more_trips_show_more_of_the_network(
    found: Internal[Reproduction],
) -> None:
    for method in (SOUND, METRIC, DAY):
        little = found.value.of(method, "0.1", "length_ratio").mean
        assert found.value.of(method, "10", "length_ratio").mean > little
    assert (
        found.value.of(DAY, "1", "length_ratio").mean
        > found.value.of(SOUND, "1", "length_ratio").mean
    )


def test_attacks_succeed_on_the_paper_and_fail_on_the_product(
    found: Internal[Reproduction],
) -> None:
    attacks = found.value.attacks
    assert attacks.faithful_presence == 1.0
    assert attacks.sound_presence < attacks.most_presence / 2
    assert all(homes["100"] < attacks.sound_home / 5 for homes in attacks.homes.values())


def test_printed_figures_stand_beside_ours(found: Internal[Reproduction]) -> None:
    rows = {row[0]: row for row in published_table(found.value).rows}
    assert rows["original, miles"][1] == "194.6"
    assert rows["original, miles"][2] == f"{found.value.miles:.1f}"
    ratio = found.value.of("DP-ANI", "1", "length_ratio").mean
    assert rows["DP-ANI, ε = 1, miles"] == [
        "DP-ANI, ε = 1, miles",
        "195.2",
        f"{ratio * found.value.miles:.1f}",
    ]
    assert [row[0] for row in gains_table(found.value).rows] == list(FITS)
    assert len(homes_table(found.value).rows) == 5
    assert any("lone driver" in line for line in statements(found.value))


def test_numbers_tables_and_figures_are_saved(
    found: Internal[Reproduction], tmp_path: Path
) -> None:
    report(found).value.save(tmp_path)
    numbers = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["runs"] == 2
    assert "drawn" not in numbers
    tables = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert all(table.title in tables for table in headline_tables(found.value))
    assert (tmp_path / "figures-4-8.png").read_bytes().startswith(b"\x89PNG")
