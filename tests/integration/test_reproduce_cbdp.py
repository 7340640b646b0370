"""The comparison of the CBDP paper on the matched city, in a few runs of a fixed seed."""

import json
from pathlib import Path

import pytest

from hushway.families.od.study.report import COMES_OUT, headline_tables, ordering, report
from hushway.families.od.study.reproduce import MECHANISMS, Reproduction, reproduce_cbdp
from hushway.privacy.measured import Internal
from hushway.progress import quiet


def reproduced(runs: int) -> Internal[Reproduction]:
    return reproduce_cbdp(runs=runs, epsilons=("1", "0.1"), progress=quiet)


@pytest.fixture(scope="module")
def found() -> Internal[Reproduction]:
    return reproduced(runs=6)


@pytest.fixture(scope="module")
def saved() -> Internal[Reproduction]:
    """As few as there can be, for tests that compare nothing."""
    return reproduced(runs=2)


@pytest.mark.long
def test_more_features_are_better_and_trees_are_worst_at_a_small_budget() -> None:
    found = reproduced(runs=50)  # as many as in the paper; fewer cannot tell
    assert ordering(found.value) == {"weekday, ε = 0.1": COMES_OUT, "weekend, ε = 0.1": COMES_OUT}


@pytest.mark.long
def test_the_default_beats_the_papers_own_choice(found: Internal[Reproduction]) -> None:
    for day in ("weekday", "weekend"):
        for epsilon in ("1", "0.1"):
            ours = found.value.of(day, epsilon, "default", "cells_rmse").mean
            assert ours < found.value.of(day, epsilon, "O5", "cells_rmse").mean


@pytest.mark.long
def test_published_trips_stay_near_the_truth_only_if_sums_are_measured(
    found: Internal[Reproduction],
) -> None:
    truth = found.value.trips["weekday"]
    assert found.value.of("weekday", "0.1", "O5", "total").mean == pytest.approx(truth, rel=0.1)
    assert found.value.of("weekday", "0.1", "Laplace", "total").mean > 50 * truth


def test_numbers_tables_and_figure_are_saved(saved: Internal[Reproduction], tmp_path: Path) -> None:
    report(saved).value.save(tmp_path)
    numbers = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert {figure["mechanism"] for figure in numbers["figures"]} == set(MECHANISMS)
    assert "Table 2, weekday" in (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert (tmp_path / "figure-5.png").read_bytes().startswith(b"\x89PNG")


def test_printed_figures_stand_beside_ours(saved: Internal[Reproduction]) -> None:
    table = headline_tables(saved.value)[0]
    assert table.columns == ["mechanism", "#ε = 1", "#printed", "#ε = 0.1", "#printed"]
    assert [table.rows[0][2], table.rows[0][4]] == ["0.91", "3.87"]
