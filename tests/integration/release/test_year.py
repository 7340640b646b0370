"""A year of a series, foretold by the command line from public guesses alone."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hushway.cli.app import app
from support.little_city import write_table
from support.monthly import plan_with

GUESS = ("--step", "2026-02", "--trips", "6000", "--people", "1500")
LEARNED = {
    'epsilon = "8"\nmax_trips = 2': 'epsilon = "4"\ndelta = "1e-6"',
    'name = "laplace"': 'noise = "gaussian"',
    'budget = "96"': 'budget = "4"\nlearn_from = "releases"',
}


def written(folder: Path, changes: dict[str, str]) -> Path:
    """Writes a plan over five places; its rows are nothing that anybody could read."""
    places = [(f"p{n}", f"P{n}", 2.3 + n / 100, 48.8) for n in range(5)]
    write_table(folder / "places.csv", "id,name,lon,lat", places)
    (folder / "trips-2026-02.csv").write_bytes(b"rider,from,to,at\n\x00\xff garbage")
    plan = folder / "plan.toml"
    plan.write_text(plan_with(changes), encoding="utf-8")
    return plan


def told(*words: object) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, (done.output, done.exception)
    return done.output


def by_length(year: Any, figure: str) -> dict[str, Any]:
    return {one["length"]: one for one in year["errors"] if one["figure"] == figure}


def test_a_year_is_foretold_by_step_quarter_and_year(tmp_path: Path) -> None:
    # Hardly anything is left out, which would be wrong in the same way every month.
    plan = written(tmp_path, {"max_trips = 2": "max_trips = 40"})
    year = json.loads(told("price", plan, *GUESS, "--json"))["year"]
    # An equal share of the budget of any twelve months.
    assert Fraction(year["share"]) == 8
    origins = by_length(year, "an origin's total")
    assert list(origins) == ["month", "quarter", "year"]
    month, quarter, whole = origins.values()
    assert (quarter["size"], whole["size"]) == (3 * month["size"], 12 * month["size"])
    # Errors of sums grow, more slowly than the sums themselves.
    assert month["first"] < quarter["first"] < whole["first"] < 12 * month["first"]
    # Such tables do not learn.
    assert {one["revised"] for one in year["errors"]} == {None}
    assert "same people, habits and places" in " ".join(year["notes"])
    assert [one["step"] for one in year["lengths"]] == ["day", "week", "month", "quarter"]
    shares = [one["sure"] for one in year["lengths"]]
    assert shares == sorted(shares)
    assert not (tmp_path / "ledger.db").exists()


@pytest.mark.long
def test_revisions_of_tables_that_learn_are_foretold_too(tmp_path: Path) -> None:
    year = json.loads(told("price", written(tmp_path, LEARNED), *GUESS, "--json"))["year"]
    # An epsilon of 4 in any twelve months is kept as a rho, of which each has a twelfth.
    assert Fraction(year["share"]) == pytest.approx(1.034)
    month, *_ = by_length(year, "an origin's total").values()
    assert 0 < month["revised"] < month["first"]


def test_recommend_says_which_step_the_guesses_support(tmp_path: Path) -> None:
    said = " ".join(told("recommend", written(tmp_path, {}), *GUESS).split())
    assert "Errors to expect over a year" in said
    assert "is the shortest step that these guesses support" in said


def test_without_a_guess_no_year_is_tried(tmp_path: Path) -> None:
    assert json.loads(told("price", written(tmp_path, {}), *GUESS[:2], "--json"))["year"] is None
