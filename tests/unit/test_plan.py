import inspect
import re
import tomllib
from datetime import date
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PlanError
from hushway.families.density import plan as density_module
from hushway.families.density.mechanism.catalogue import (
    SeriesOptions,
    SharesOptions,
)
from hushway.families.density.plan import DensityPlan
from hushway.families.links import plan as links_module
from hushway.families.links.mechanism.catalogue import LinkCountsOptions
from hushway.families.links.plan import LinksPlan
from hushway.families.load import load_plan, plan_from
from hushway.families.od import plan as od_plan
from hushway.families.od.mechanism.cbdp import CBDPOptions
from hushway.families.od.mechanism.hierarchical import HierarchicalOptions
from hushway.families.od.mechanism.laplace import LaplaceOptions
from hushway.families.od.mechanism.learned import LearnedOptions
from hushway.families.od.mechanism.options import FeaturePlan, TotalsOptions
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_taps import TapsPlan
from hushway.privacy.bound import Unit
from hushway.release.plans import sections as sections_module
from hushway.release.plans.sections import AnyPlan, PositionProblemsPlan, Section


@pytest.fixture
def facts() -> dict[str, Any]:
    facts = tomllib.loads(
        (files("hushway") / "families" / "od" / "template.toml").read_text(encoding="utf-8")
    )
    assert facts["privacy"]["max_trips"] == "auto"
    # A number does for every mechanism.
    facts["privacy"]["max_trips"] = 2
    return facts


def refusal(facts: dict[str, Any]) -> str:
    with pytest.raises(PlanError) as caught:
        plan_from(facts, folder=Path())
    return str(caught.value)


def od_plan_from(facts: dict[str, Any], *, folder: Path) -> ODPlan:
    plan = plan_from(facts, folder=folder)
    assert isinstance(plan, ODPlan)
    return plan


def test_the_template_is_a_valid_plan(facts: dict[str, Any]) -> None:
    plan = od_plan_from(facts, folder=Path("somewhere"))
    assert plan.privacy.unit is Unit.PERSON
    assert (plan.time.opens, plan.time.closes) == (0, 24 * 60)
    assert plan.path("trips.csv") == Path("somewhere/trips.csv")


def test_an_epsilon_is_read_exactly_as_written(facts: dict[str, Any]) -> None:
    for written, meant in (
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
    ):
        facts["privacy"]["epsilon"] = written
        assert plan_from(facts, folder=Path()).privacy.epsilon == meant


@pytest.mark.parametrize(
    "epsilon", ["0", "-1", "nan", "inf", float("inf"), float("nan"), "much", "1/0", True, []]
)
def test_an_epsilon_that_is_not_finite_and_positive_is_refused(
    facts: dict[str, Any], epsilon: Any
) -> None:
    facts["privacy"]["epsilon"] = epsilon
    assert "privacy.epsilon" in refusal(facts)


@pytest.mark.parametrize("delta", ["0", "1", "2", "nan"])
def test_a_delta_outside_zero_and_one_is_refused(facts: dict[str, Any], delta: str) -> None:
    facts["privacy"]["delta"] = delta
    assert "privacy.delta" in refusal(facts)


def test_every_problem_is_listed_at_once(facts: dict[str, Any]) -> None:
    facts["privacy"]["epsilom"] = "1"
    facts["time"]["opens"] = "25:99"
    del facts["ledger"]
    message = refusal(facts)
    assert "privacy.epsilom: is not an option" in message
    assert "time.opens: must be a time of day" in message
    assert "ledger: is missing" in message


def test_protecting_persons_needs_a_person_column(facts: dict[str, Any]) -> None:
    del facts["data"]["columns"]["person"]
    assert "data.columns.person" in refusal(facts)
    facts["privacy"] |= {"unit": "trip", "max_trips": 1}
    assert plan_from(facts, folder=Path()).privacy.unit is Unit.TRIP
    facts["privacy"]["max_trips"] = 2
    assert "privacy.max_trips: has no meaning" in refusal(facts)


def test_a_ledger_may_be_a_file_beside_the_plan_or_a_url(facts: dict[str, Any]) -> None:
    assert plan_from(facts, folder=Path("x")).ledger_url() == Path("x/ledger.db")
    facts["ledger"]["url"] = "postgresql://host/db"
    assert plan_from(facts, folder=Path("x")).ledger_url() == "postgresql://host/db"


def test_a_missing_plan_names_the_command_that_writes_one(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no plan") as caught:
        load_plan(tmp_path / "plan.toml")
    assert "hushway plan new" in caught.value.advice


@pytest.mark.parametrize("text", [b"release type = od", b"\xff\xfe"])
def test_a_file_that_is_not_toml_is_refused(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "plan.toml"
    file.write_bytes(text)
    with pytest.raises(PlanError):
        load_plan(file)


def test_periods_are_of_the_day_unless_the_plan_says_week(facts: dict[str, Any]) -> None:
    assert od_plan_from(facts, folder=Path()).time.cycle == "day"
    del facts["time"]["cycle"]
    assert od_plan_from(facts, folder=Path()).time.cycle == "day"
    facts["time"]["cycle"] = "week"
    assert od_plan_from(facts, folder=Path()).time.cycle == "week"
    facts["time"]["cycle"] = "month"
    assert "time.cycle" in refusal(facts)


@pytest.mark.parametrize("mechanism", [None, {}, {"noise": "laplace"}, {"name": "learned"}])
def test_a_plan_that_names_no_mechanism_learns(
    facts: dict[str, Any], mechanism: dict[str, Any] | None
) -> None:
    assert "mechanism" not in facts
    if mechanism is not None:
        facts["mechanism"] = mechanism
    learned = od_plan_from(facts, folder=Path()).mechanism
    assert isinstance(learned, LearnedOptions)
    assert (learned.coarse_features, learned.budget_shares, learned.noise) == (
        None,
        None,
        "laplace",
    )


@pytest.mark.parametrize("options", [{"budget_shares": "uniform"}, {"variant": "O5"}])
def test_tables_that_learn_have_neither_variants_nor_splits_by_name(
    facts: dict[str, Any], options: dict[str, Any]
) -> None:
    facts["mechanism"] = options
    assert f"mechanism.{next(iter(options))}" in refusal(facts)


def test_a_mechanism_may_leave_its_options_to_be_recommended(facts: dict[str, Any]) -> None:
    facts["mechanism"] = {"name": "cbdp"}
    cbdp = od_plan_from(facts, folder=Path()).mechanism
    assert isinstance(cbdp, CBDPOptions)
    assert (cbdp.coarse_features, cbdp.weights, cbdp.budget_shares) == (None, None, None)
    assert (cbdp.structure, cbdp.noise, cbdp.rounding, cbdp.form) == (
        "flat",
        "laplace",
        "controlled",
        "auto",
    )
    facts["mechanism"] = {"name": "hierarchical"}
    tree = od_plan_from(facts, folder=Path()).mechanism
    assert isinstance(tree, HierarchicalOptions)
    assert (tree.coarse_features, tree.budget_shares, tree.noise, tree.prune) == (
        None,
        None,
        "laplace",
        True,
    )


@pytest.mark.parametrize(
    ("name", "variant", "features"),
    [
        ("cbdp", "O3", ("total", "period")),
        ("cbdp", "O4", ("total", "period", "zones")),
        ("cbdp", "O5", ("total", "period", "zones", "modes")),
        ("hierarchical", "H3", ("total", "period")),
        ("hierarchical", "H4", ("total", "period", "zones")),
        ("hierarchical", "H5", ("total", "period", "zones", "modes")),
    ],
)
def test_a_variant_is_short_for_features(
    facts: dict[str, Any], name: str, variant: str, features: tuple[str, ...]
) -> None:
    facts["places"]["pairs"] = "modes.csv"
    facts["mechanism"] = {"name": name, "variant": variant}
    mechanism = od_plan_from(facts, folder=Path()).mechanism
    assert not isinstance(mechanism, LaplaceOptions)
    assert mechanism.coarse_features == features
    facts["mechanism"] = {"name": name, "published_totals": list(features)}
    listed = od_plan_from(facts, folder=Path()).mechanism
    assert not isinstance(listed, LaplaceOptions)
    assert listed.coarse_features == features
    facts["mechanism"]["variant"] = variant
    assert "give one of the two" in refusal(facts)


@pytest.mark.parametrize(
    ("name", "option", "value", "owners"),
    [
        ("laplace", "weights", "size", "cbdp, not of laplace"),
        (
            "laplace",
            "published_totals",
            ["total"],
            "learned, hierarchical and cbdp, not of laplace",
        ),
        ("laplace", "prune", True, "hierarchical, not of laplace"),
        ("learned", "weights", "size", "cbdp, not of learned"),
        ("learned", "form", "dense", "laplace and cbdp, not of learned"),
        ("hierarchical", "weights", "size", "cbdp, not of hierarchical"),
        ("hierarchical", "structure", "flat", "cbdp, not of hierarchical"),
        ("hierarchical", "rounding", "plain", "cbdp, not of hierarchical"),
        ("hierarchical", "form", "dense", "laplace and cbdp, not of hierarchical"),
        ("cbdp", "prune", True, "hierarchical, not of cbdp"),
        ("cbdp", "expected_false", 5, "laplace, not of cbdp"),
    ],
)
def test_an_option_of_another_mechanism_is_refused_as_such(
    facts: dict[str, Any], name: str, option: str, value: object, owners: str
) -> None:
    facts["mechanism"] = {"name": name, option: value}
    assert f"mechanism.{option}: is an option of {owners}" in refusal(facts)


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("laplace", "form", "lazy"),
        ("cbdp", "form", "sparse"),
        ("cbdp", "variant", "H5"),
        ("hierarchical", "variant", "O5"),
        ("cbdp", "split", "geometric"),
        ("cbdp", "split", 3),
        ("cbdp", "weights", "heavy"),
        ("cbdp", "noise", "cauchy"),
        ("cbdp", "features", []),
        ("cbdp", "features", ["cells"]),
        ("cbdp", "features", ["total", "total"]),
        ("cbdp", "features", "total"),
        ("cbdp", "prune_all", True),
    ],
)
def test_a_value_that_is_not_an_option_is_shown_where_it_is(
    facts: dict[str, Any], name: str, option: str, value: object
) -> None:
    facts["mechanism"] = {"name": name, option: value}
    assert f"  mechanism.{option}: " in refusal(facts)


def test_an_unknown_mechanism_is_answered_with_the_known_ones(facts: dict[str, Any]) -> None:
    facts["mechanism"] = {"name": "magic"}
    assert "mechanism.name: must be one of learned, laplace, hierarchical, cbdp" in refusal(facts)


def test_unknown_features_are_answered_with_the_known_ones(facts: dict[str, Any]) -> None:
    facts["published_totals"] = {"counties": {"places": "county"}}
    facts["mechanism"] = {"name": "cbdp", "published_totals": ["total", "zonez", "counties"]}
    known = "known are total, period, origins, destinations, zones, modes, counties"
    assert f"mechanism.published_totals: 'zonez' is not a published total; {known}" in refusal(
        facts
    )


def test_features_are_defined_by_columns_and_may_redefine_the_built_in_ones(
    facts: dict[str, Any],
) -> None:
    facts["published_totals"] = {
        "zones": {"places": "county", "side": "origin"},
        "modes": {"places": "kind", "each_period": False},
    }
    facts["mechanism"] = {"name": "cbdp", "variant": "O5"}
    defined = od_plan_from(facts, folder=Path()).defined_features
    assert list(defined) == ["zones", "modes"]
    assert (defined["zones"].places, defined["zones"].side) == ("county", "origin")
    assert (defined["modes"].places, defined["modes"].each_period) == ("kind", False)
    del facts["published_totals"]
    facts["places"]["pairs"] = "modes.csv"
    defined = od_plan_from(facts, folder=Path()).defined_features
    assert (defined["zones"].places, defined["modes"].pairs) == ("zone", "mode")


@pytest.mark.parametrize(
    ("name", "feature", "words"),
    [
        ("x", {}, "exactly one of places"),
        ("x", {"places": "a", "pairs": "b"}, "exactly one of places"),
        ("x", {"pairs": "b", "side": "origin"}, "side belongs to places"),
        ("x", {"pairs": "b"}, "needs a table that places.pairs must name"),
        ("x", {"places": "a", "side": "left"}, "side"),
        ("x", {"places": "a", "colum": "b"}, "not an option"),
        ("total", {"places": "a"}, "cannot be defined"),
        ("period", {"places": "a"}, "cannot be defined"),
        ("cells", {"places": "a"}, "cannot be defined"),
    ],
)
def test_a_feature_that_cannot_be_built_is_refused(
    facts: dict[str, Any], name: str, feature: dict[str, str], words: str
) -> None:
    del facts["places"]["pairs"]
    facts["mechanism"] = {"name": "cbdp", "variant": "O4"}
    facts["published_totals"] = {name: feature}
    message = refusal(facts)
    assert f"published_totals.{name}" in message
    assert words in message


def test_features_without_a_mechanism_that_measures_them_are_refused(
    facts: dict[str, Any],
) -> None:
    facts["mechanism"] = {"name": "laplace"}
    facts["published_totals"] = {"counties": {"places": "county"}}
    assert "published_totals: belong to mechanisms that measure totals" in refusal(facts)


def test_modes_need_a_table_of_pairs(facts: dict[str, Any]) -> None:
    del facts["places"]["pairs"]
    facts["mechanism"] = {"name": "cbdp", "variant": "O5"}
    assert "the published total 'modes' needs a table that places.pairs must name" in refusal(facts)
    facts["places"] |= {"pairs": "modes.parquet", "pair_columns": {"origin": "from"}}
    places = od_plan_from(facts, folder=Path()).places
    assert (places.pair_columns.origin, places.pair_columns.destination) == ("from", "destination")
    del facts["places"]["pairs"]
    facts["mechanism"] = {"name": "cbdp", "variant": "O4"}
    assert "places: pair_columns are columns of a table that pairs must name" in refusal(facts)


@pytest.mark.parametrize("noise", ["gaussian", "auto"])
@pytest.mark.parametrize("name", ["learned", "cbdp", "hierarchical"])
def test_other_noise_than_laplace_needs_a_delta(
    facts: dict[str, Any], name: str, noise: str
) -> None:
    facts["mechanism"] = {"name": name, "noise": noise}
    assert "so privacy.delta must be given" in refusal(facts)
    facts["privacy"]["delta"] = "1e-6"
    mechanism = od_plan_from(facts, folder=Path()).mechanism
    assert isinstance(mechanism, TotalsOptions)
    assert mechanism.noise == noise


def test_shares_are_exact(facts: dict[str, Any]) -> None:
    shares = {"cells": "0.4", "total": "1/3", "period": "4/15"}
    facts["mechanism"] = {"name": "cbdp", "variant": "O3", "budget_shares": shares}
    cbdp = od_plan_from(facts, folder=Path()).mechanism
    assert isinstance(cbdp, CBDPOptions)
    assert cbdp.budget_shares == {
        "cells": Fraction(2, 5),
        "total": Fraction(1, 3),
        "period": Fraction(4, 15),
    }
    facts["mechanism"] = {
        "name": "learned",
        "published_totals": ["total", "period"],
        "budget_shares": shares,
    }
    learned = od_plan_from(facts, folder=Path()).mechanism
    assert isinstance(learned, LearnedOptions)
    assert learned.budget_shares == cbdp.budget_shares
    facts["mechanism"] = {"name": "hierarchical", "budget_shares": "geometric"}
    tree = od_plan_from(facts, folder=Path()).mechanism
    assert isinstance(tree, HierarchicalOptions)
    assert tree.budget_shares == "geometric"


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"cells": "0.4", "total": "0.3", "period": "0.2999"}, "add up to exactly 1"),
        ({}, "add up to exactly 1"),
        ({"cells": "1", "total": "0", "period": "0"}, "the share of total must be greater than 0"),
        ({"cells": "much"}, "the share of cells must be a finite number"),
        ({"cells": "0.5", "total": "0.5"}, "to each of cells, total, period and to nothing else"),
        ({"cells": "0.5", "total": "0.2", "period": "0.2", "zones": "0.1"}, "nothing else"),
    ],
)
def test_shares_that_do_not_make_up_the_budget_are_refused(
    facts: dict[str, Any], shares: dict[str, str], words: str
) -> None:
    facts["mechanism"] = {"name": "cbdp", "variant": "O3", "budget_shares": shares}
    message = refusal(facts)
    assert "mechanism.budget_shares: " in message
    assert words in message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"budget_shares": "uniform", "importance": {"cells": 1, "total": 1, "period": 1}},
            "optimised",
        ),
        ({"importance": {"cells": 1, "total": 1}}, "to each of cells, total, period"),
        ({"importance": {"cells": 1, "total": 0, "period": 1}}, "greater than 0"),
    ],
)
def test_importance_must_fit_the_features_and_the_split(
    facts: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    facts["mechanism"] = {"name": "cbdp", "variant": "O3", **options}
    assert words in refusal(facts)


def test_the_disagreements_of_tables_are_listed_at_once(facts: dict[str, Any]) -> None:
    del facts["data"]["columns"]["person"]
    del facts["places"]["pairs"]
    facts["mechanism"] = {"name": "cbdp", "published_totals": ["zonez", "modes"], "noise": "auto"}
    lines = refusal(facts).splitlines()[1:]
    places = ["privacy.unit", "mechanism.noise", "mechanism.published_totals", "mechanism"]
    assert [line.strip().partition(":")[0] for line in lines] == places


def switched_on(template: str) -> str:
    """Some lines of the template with their commented settings switched on."""
    return re.sub(r"^# (?=[\[a-z_.]+(\]| = ))", "", template, flags=re.MULTILINE)


def mechanisms_of(template: str) -> tuple[dict[str, str], str]:
    """What the template says about each mechanism, and everything else."""
    before, _, rest = template.partition("# [mechanism]")
    about, features, after = rest.partition("# Published totals of your own")
    learned, *others = about.split("# With name = ")
    named = (other.partition("\n") for other in others)
    told = {first.split('"')[1]: lines for first, _, lines in named}
    return {"learned": learned, **told}, before + features + after


def test_the_template_explains_every_option_and_no_other() -> None:
    text = (files("hushway") / "families" / "od" / "template.toml").read_text(encoding="utf-8")
    told, others = mechanisms_of(text)
    facts = tomllib.loads(switched_on(others))
    # Options that rule each other out.
    for end in ("origin", "destination"):
        assert {facts["data"]["columns"].pop(f"{end}_{axis}") for axis in ("lon", "lat")}
    assert facts["places"].pop("areas")
    assert facts["places"].pop("group") == "zone"
    assert facts["places"].pop("area_columns") == {"id": "id", "name": "name"}
    assert TapsPlan(**facts.pop("taps")).model_fields_set == set(TapsPlan.model_fields)
    assert facts["data"].pop("time_format")
    facts["data"]["clock"], facts["time"]["cycle"] = "service", "day_type"
    del facts["time"]["holidays_file"]
    common = {"published_totals", "noise", "budget_shares"}
    told_elsewhere = {
        "learned": {"variant"},
        "cbdp": common,
        "hierarchical": common | {"variant"},
        "laplace": set(),
    }
    for name, lines in told.items():
        if name != "learned":
            facts["privacy"]["max_trips"] = 2
        facts["mechanism"] = {"name": name, **tomllib.loads(switched_on(lines))}
        # Who adds noise to cells alone has no features to define.
        defined = {} if name == "laplace" else facts["published_totals"]
        plan = od_plan_from({**facts, "published_totals": defined}, folder=Path())
        options = set(type(plan.mechanism).model_fields) - told_elsewhere[name]
        assert set(plan.mechanism.model_fields_set) == options
    assert set(facts["published_totals"]) == {"counties", "corridors"}
    assert plan.places.pairs == "modes.csv"
    explained = set(
        re.findall(r"^(?:# )?\[?(?:[a-z]+\.)?([a-z_]+)(?: = |\])", text, flags=re.MULTILINE)
    )
    models = {**vars(sections_module), **vars(od_plan)}.values()
    sections = [model for model in models if inspect.isclass(model) and issubclass(model, Section)]
    # Rows of OD tables have places, not positions.
    elsewhere = (Section, ODPlan, AnyPlan, PositionProblemsPlan)
    tables = [model for model in sections if model not in elsewhere]
    assert len(tables) > 10
    tables += [FeaturePlan, LearnedOptions, LaplaceOptions, HierarchicalOptions, CBDPOptions]
    for table in tables:
        assert set(table.model_fields) <= explained


@pytest.fixture
def density() -> dict[str, Any]:
    template = files("hushway") / "families" / "density" / "template.toml"
    return tomllib.loads(template.read_text(encoding="utf-8"))


def density_of(facts: dict[str, Any]) -> DensityPlan:
    plan = plan_from(facts, folder=Path())
    assert isinstance(plan, DensityPlan)
    return plan


def test_the_template_of_a_density_is_a_valid_plan_of_a_week(density: dict[str, Any]) -> None:
    plan = density_of(density)
    assert plan.privacy.unit is Unit.PERSON
    assert (plan.time.first_day, plan.time.last_day) == (date(2007, 9, 10), date(2007, 9, 16))
    assert (plan.privacy.max_visits, plan.privacy.max_visits_in_total) == ("auto", "auto")
    assert plan.privacy.delta is None


def test_the_window_of_a_density_may_have_any_number_of_days(density: dict[str, Any]) -> None:
    density["time"]["last_day"] = date(2007, 9, 10)
    assert density_of(density).time.last_day == date(2007, 9, 10)
    del density["time"]["first_day"]
    assert "time.first_day: is missing" in refusal(density)


def test_the_mechanism_of_a_density_may_be_left_out(density: dict[str, Any]) -> None:
    written = density_of(density).mechanism
    del density["mechanism"], density["problems"]
    assert density_of(density).mechanism == written


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name": "laplace", "denoise": "sure"}, "denoise: is an option of series, not of laplace"),
        ({"denoise": "cuts", "noise": "laplace"}, 'denoise = "cuts" needs noise = "gaussian"'),
        ({"budget_shares": {"cuts": "0.1"}}, 'budget_shares.cuts belongs to denoise = "cuts"'),
        (
            {"clustering": False, "budget_shares": {"clusters": "0.1"}},
            "budget_shares.clusters belongs to",
        ),
        ({"scaling": False, "budget_shares": {"total": "0.1"}}, "belong to scaling = true"),
        ({"scaling": False, "budget_shares": {"histogram": "0.1"}}, "belong to scaling = true"),
    ],
)
def test_options_of_a_density_that_do_not_fit_each_other_are_refused(
    density: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    density["mechanism"] = options
    message = refusal(density)
    assert "  mechanism" in message
    assert words in message


@pytest.mark.parametrize(
    ("table", "option", "value"),
    [
        ("mechanism", "name", "magic"),
        ("mechanism", "noise", "cauchy"),
        ("mechanism", "denoise", "wavelets"),
        ("mechanism", "cluster_error", 0),
        ("mechanism", "cluster_error", 1),
        ("mechanism", "weights", "size"),
        ("privacy", "unit", "trip"),
        ("privacy", "max_visits", 0),
        ("privacy", "max_visits", 2.5),
        ("privacy", "max_visits_in_total", 0),
        ("privacy", "epsilon", "0"),
        ("privacy", "epsilon", "-0.3"),
        ("privacy", "epsilon", float("nan")),
        ("privacy", "delta", "1"),
        ("privacy", "max_trips", 3),
        ("time", "minutes", 0),
        ("time", "cycle", "day"),
        ("time", "opens", "noon"),
        ("areas", "file", ""),
        ("areas", "projection", "EPSG:2154"),
        ("places", "outside", "keep"),
        ("data", "clock", "sundial"),
        ("problems", "include_intrazonal", "drop"),
    ],
)
def test_what_is_wrong_in_a_density_is_shown_where_it_is(
    density: dict[str, Any], table: str, option: str, value: object
) -> None:
    density[table][option] = value
    assert f"  {table}.{option}: " in refusal(density)


@pytest.mark.parametrize("share", ["0", "1", "-0.1", "much", True])
def test_a_share_is_a_number_between_nothing_and_everything(
    density: dict[str, Any], share: object
) -> None:
    density["mechanism"] = {"budget_shares": {"histogram": share}}
    assert "  mechanism.budget_shares.histogram: must be a " in refusal(density)


def test_shares_that_leave_nothing_for_the_series_are_one_clear_error(
    density: dict[str, Any],
) -> None:
    density["mechanism"] = {"budget_shares": {"histogram": "0.6", "total": "0.4"}}
    lines = refusal(density).splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("  mechanism: budget_shares sum to 1 or more")


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"lon": "x"},
        {"lat": "y"},
        {"place": "tower", "lon": "x", "lat": "y"},
        {"place": "tower", "lat": "y"},
    ],
    ids=str,
)
def test_events_have_a_place_or_a_position(
    density: dict[str, Any], columns: dict[str, str]
) -> None:
    density["data"]["columns"] = {"person": "p", "time": "t", **columns}
    assert "data.columns: must name either place, or both lon and lat" in refusal(density)


def test_towers_belong_to_events_that_name_them(density: dict[str, Any]) -> None:
    towers = density.pop("places")
    assert "places: is missing" in refusal(density)
    density["data"]["columns"] = {"lon": "x", "lat": "y"}
    assert density_of(density).places is None
    density["places"] = towers
    assert "need no list of places" in refusal(density)


def test_gaussian_noise_of_a_density_needs_a_delta(density: dict[str, Any]) -> None:
    density["mechanism"] = {"noise": "gaussian"}
    assert "privacy.delta: is missing" in refusal(density)
    density["mechanism"] = {"noise": "laplace"}
    assert density_of(density).privacy.delta is None
    density["mechanism"] = {"name": "laplace"}
    assert "privacy.max_visits and .max_visits_in_total: must be numbers" in refusal(density)
    density["privacy"] |= {"max_visits": 3, "max_visits_in_total": 9}
    assert density_of(density).mechanism.name == "laplace"


def test_the_template_of_a_density_explains_every_option() -> None:
    text = (files("hushway") / "families" / "density" / "template.toml").read_text(encoding="utf-8")
    explained = set(re.findall(r"^(?:# )?\[?(?:[a-z]+\.)?([a-z_]+)(?: = |\])", text, re.MULTILINE))
    # Shares are written in one line.
    explained |= set(re.findall(r"([a-z_]+) = [\"0-9]", text))
    models = [model for model in vars(density_module).values() if inspect.isclass(model)]
    tables = [
        model
        for model in models
        if issubclass(model, Section) and model.__module__ == density_module.__name__
    ]
    tables += [SeriesOptions, SharesOptions]
    missing = {name for table in tables for name in table.model_fields} - explained
    # A person is all that a density can protect, and shares.cuts goes with one way of cleaning.
    assert missing <= {"unit", "cuts", "folder"}


@pytest.fixture
def roads() -> dict[str, Any]:
    template = files("hushway") / "families" / "links" / "template.toml"
    return tomllib.loads(template.read_text(encoding="utf-8"))


def links_of(facts: dict[str, Any]) -> LinksPlan:
    plan = plan_from(facts, folder=Path())
    assert isinstance(plan, LinksPlan)
    return plan


def test_the_template_of_links_is_a_valid_plan(roads: dict[str, Any]) -> None:
    plan = links_of(roads)
    assert plan.privacy.unit is Unit.PERSON
    assert (plan.privacy.max_items, plan.privacy.epsilon) == ("auto", 1)
    assert plan.ends is None
    assert isinstance(plan.mechanism, LinkCountsOptions)
    assert plan.mechanism.speeds == 0


@pytest.mark.parametrize("cycle", ["day", "week", "window"])
def test_links_take_every_cycle_that_their_template_offers(
    roads: dict[str, Any], cycle: str
) -> None:
    roads["time"] |= {"cycle": cycle, "last_day": date(2019, 1, 20)}
    periods = links_of(roads).time.periods
    assert len(periods) == {"day": 1, "week": 7, "window": 7}[cycle]


def test_links_without_minutes_have_one_period_from_opening_to_closing(
    roads: dict[str, Any],
) -> None:
    del roads["time"]["minutes"]
    assert len(links_of(roads).time.periods) == 1
    roads["time"] |= {"opens": "06:00", "closes": "22:30"}
    periods = links_of(roads).time.periods
    assert (len(periods), periods.minutes) == (1, 990)


def test_the_mechanism_of_links_may_be_left_out(roads: dict[str, Any]) -> None:
    written = links_of(roads)
    del roads["mechanism"], roads["problems"], roads["trips"]
    plain = links_of(roads)
    assert (plain.mechanism, plain.problems, plain.trips) == (
        written.mechanism,
        written.problems,
        written.trips,
    )


def test_ends_of_trips_may_have_noise_of_their_own(roads: dict[str, Any]) -> None:
    roads["ends"] = {"epsilon": "1/2"}
    ends = links_of(roads).ends
    assert ends is not None
    assert (ends.epsilon, ends.radius, ends.step, ends.max_trips) == (Fraction(1, 2), 200, 10, 2)
    roads["ends"] = {}
    assert "  ends.epsilon: is missing" in refusal(roads)


@pytest.mark.parametrize(
    ("table", "option", "value"),
    [
        ("data", "format", "shapefile"),
        ("data", "clock", "sundial"),
        ("data", "traces", ""),
        ("roads", "file", ""),
        ("roads", "zone_metres", 0),
        ("roads", "speed_unit", "knots"),
        ("roads", "projection", "EPSG:2154"),
        ("trips", "gap_s", 0),
        ("trips", "most_speed", -1),
        ("trips", "gap_s", float("inf")),
        ("privacy", "unit", "trip"),
        ("privacy", "max_items", 0),
        ("privacy", "max_items", 2.5),
        ("privacy", "epsilon", "0"),
        ("privacy", "epsilon", "-1"),
        ("privacy", "epsilon", float("nan")),
        ("privacy", "delta", "1"),
        ("privacy", "max_trips", 3),
        ("mechanism", "name", "dp_ani"),
        ("mechanism", "noise", "cauchy"),
        ("mechanism", "classes", "1"),
        ("mechanism", "speeds", "-0.1"),
        ("mechanism", "speed_steps", 0),
        ("mechanism", "shown", -1),
        ("mechanism", "weights", "size"),
        ("problems", "include_intrazonal", "drop"),
        ("problems", "null_value", "keep"),
    ],
)
def test_what_is_wrong_in_links_is_shown_where_it_is(
    roads: dict[str, Any], table: str, option: str, value: object
) -> None:
    roads[table][option] = value
    assert f"  {table}.{option}: " in refusal(roads)


@pytest.mark.parametrize(
    ("option", "value"),
    [("epsilon", "0"), ("radius", 0), ("step", 0), ("max_trips", 0), ("noise", "planar")],
)
def test_what_is_wrong_with_ends_is_shown_where_it_is(
    roads: dict[str, Any], option: str, value: object
) -> None:
    roads["ends"] = {"epsilon": "1", option: value}
    assert f"  ends.{option}: " in refusal(roads)


def test_shares_that_leave_nothing_for_the_links_are_one_clear_error(
    roads: dict[str, Any],
) -> None:
    roads["mechanism"] = {"classes": "0.5", "speeds": "0.5"}
    lines = refusal(roads).splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("  mechanism: classes, left_out and speeds leave nothing")


@pytest.mark.parametrize("kind", ["gpx", "mds"])
def test_only_tables_of_traces_have_columns_and_a_clock(roads: dict[str, Any], kind: str) -> None:
    roads["data"]["format"] = kind
    assert 'belongs to format = "table"' in refusal(roads)
    del roads["data"]["clock"], roads["data"]["columns"]
    roads["privacy"]["unit"] = "device"
    assert links_of(roads).data.format == kind


def test_mds_names_vehicles_so_that_only_devices_can_be_protected(roads: dict[str, Any]) -> None:
    roads["data"]["format"] = "mds"
    del roads["data"]["clock"], roads["data"]["columns"]
    assert 'privacy.unit: must be "device"' in refusal(roads)


def test_gaussian_noise_of_links_needs_a_delta(roads: dict[str, Any]) -> None:
    del roads["privacy"]["delta"]
    assert links_of(roads).privacy.delta is None
    roads["mechanism"]["noise"] = "gaussian"
    assert "privacy.delta: is missing" in refusal(roads)


def test_the_template_of_links_explains_every_option() -> None:
    text = (files("hushway") / "families" / "links" / "template.toml").read_text(encoding="utf-8")
    explained = set(re.findall(r"^(?:# )?\[?(?:[a-z]+\.)?([a-z_]+)(?: = |\])", text, re.MULTILINE))
    models = [model for model in vars(links_module).values() if inspect.isclass(model)]
    tables = [
        model
        for model in models
        if issubclass(model, Section)
        and model.__module__ == links_module.__name__
        and model is not links_module.RoadColumnsPlan
    ]
    assert len(tables) >= 8
    missing = {name for table in tables for name in table.model_fields} - explained
    # A person is all that links can protect.
    assert missing <= {"unit", "folder", "name"}
