"""What is recommended for a density can be put into its plan."""

import tomllib
from pathlib import Path

import pytest

from hushway.families.density.city.paris import paris
from hushway.families.density.plan import DensityPlan
from hushway.families.density.planning import advice
from hushway.families.load import load_plan, plan_from, prepare
from hushway.families.registry import FAMILIES
from hushway.progress import quiet
from hushway.release.forecast.crowd import CrowdForecast, ExpectedPopulation


def test_recommended_lines_are_options_of_a_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowd = ExpectedPopulation(trips=2800, people=200)
    nothing = CrowdForecast(crowd=crowd, errors=(), left_out=None, notes=("",))
    monkeypatch.setattr(advice, "_score", lambda *_: 1.0)
    monkeypatch.setattr(advice, "forecast_density", lambda *_: nothing)
    paris(1, people=500, towers=30, areas=20).write(tmp_path)
    file = tmp_path / "plan.toml"
    text = FAMILIES["density"].template.replace('max_visits = "auto" ', "max_visits = 30 ")
    file.write_text(text.replace('in_total = "auto" ', "in_total = 200 "), encoding="utf-8")
    job = prepare(load_plan(file))
    found = advice.recommend_density(job, crowd, runs=1, progress=quiet)
    lines = tomllib.loads(found.lines)
    facts = tomllib.loads(file.read_text("utf-8"))
    for table, options in lines.items():
        facts[table] = {**facts.get(table, {}), **options}
    plan = plan_from(facts, folder=tmp_path)
    assert isinstance(plan, DensityPlan)
    assert plan.privacy.max_visits == lines["privacy"]["max_visits"]
