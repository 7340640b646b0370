import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PlanError
from hushway.families.load import RENAMED, RENAMED_VALUES, every_plan_schema, plan_from
from hushway.families.registry import FAMILIES


def template(name: str) -> dict[str, Any]:
    return tomllib.loads(FAMILIES[name].template)


def refusal(facts: dict[str, Any]) -> str:
    with pytest.raises(PlanError) as refused:
        plan_from(facts, folder=Path())
    return str(refused.value)


@pytest.mark.parametrize(
    ("release_type", "table", "old", "told"),
    [
        ("od", "places", "same_place", "places.same_place: is now called include_intrazonal"),
        ("od", "problems", "same_place", "problems.same_place: is now called intrazonal"),
        ("od", "mechanism", "features", "mechanism.features: is now called published_totals"),
        ("sequences", "records", "height", "records.height: is now called max_stops"),
        ("density", "privacy", "most_counted", "is now called max_visits_in_total"),
        ("links", "problems", "unknown_location", "is now called unknown_place"),
    ],
)
def test_an_old_word_is_told_the_new_one(
    release_type: str, table: str, old: str, told: str
) -> None:
    facts = template(release_type)
    facts.setdefault(table, {})[old] = 1
    assert told in refusal(facts)


def test_the_old_word_for_the_release_type_is_told_the_new_one() -> None:
    facts = template("od")
    facts["family"] = facts.pop("release_type")
    assert "family: is now called release_type" in refusal(facts)


def test_an_old_value_is_told_the_new_one() -> None:
    facts = template("od")
    facts["data"]["clock"] = "wall"
    assert 'data.clock: "wall" is now called "local"' in refusal(facts)


def test_a_word_that_never_was_one_is_called_misspelt() -> None:
    facts = template("od")
    facts["privacy"]["epsilom"] = "1"
    assert "privacy.epsilom: is not an option (is it misspelt?)" in refusal(facts)


def test_new_words_are_words_of_plans_and_old_ones_are_not() -> None:
    schema = every_plan_schema()
    options = options_in(schema)
    assert set(RENAMED.values()) <= options
    assert not {old.rpartition(".")[2] for old in RENAMED} & options
    for old, new in RENAMED_VALUES.items():
        option, _, value = old.partition(".")
        values = json.dumps(enums_of(schema, option))
        assert f'"{new}"' in values
        assert f'"{value}"' not in values


def options_in(schema: Any) -> set[str]:
    inner = schema.values() if isinstance(schema, dict) else schema
    found = set(schema.get("properties", {})) if isinstance(schema, dict) else set()
    for part in inner:
        if isinstance(part, dict | list):
            found |= options_in(part)
    return found


def enums_of(schema: Any, option: str) -> list[Any]:
    inner = schema.values() if isinstance(schema, dict) else schema
    found = []
    if isinstance(schema, dict) and option in schema.get("properties", {}):
        found += schema["properties"][option].get("enum", [])
    for part in inner:
        if isinstance(part, dict | list):
            found += enums_of(part, option)
    return found
