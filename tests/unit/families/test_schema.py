"""Plans as JSON Schema: complete, and true of what plans are."""

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hushway.cli.verbs import app
from hushway.errors import PlanError
from hushway.families.load import every_plan_schema, plan_from, plan_schema
from hushway.families.registry import FAMILIES
from support.little_plans import little_plan

_TYPES = {
    "string": (str, date),
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}


def fits(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    """Whether a value fits a schema, as far as schemas of plans go."""
    if "$ref" in schema:
        return fits(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    several = [schema[word] for word in ("anyOf", "oneOf") if word in schema]
    kinds = schema.get("type", list(_TYPES))
    return (
        all(any(fits(value, one, root) for one in choices) for choices in several)
        and any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds))
        and value == schema.get("const", value)
        and value in schema.get("enum", [value])
        and (not isinstance(value, str) or bool(re.search(schema.get("pattern", ""), value)))
        and (not isinstance(value, dict) or _table_fits(value, schema, root))
    )


def _table_fits(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> bool:
    known = schema.get("properties")
    if known is None:
        return True
    named = set(schema.get("required", ())) <= set(value) <= set(known)
    return named and all(fits(value[name], known[name], root) for name in value)


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def options(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for table, facts in {"": schema, **schema["$defs"]}.items():
        for name, option in facts.get("properties", {}).items():
            yield f"{table}.{name}", option


def described(option: dict[str, Any], root: dict[str, Any]) -> bool:
    """Whether an option says what it is for, by itself or by the table that it is."""
    if option.get("description"):
        return True
    below = [option, *option.get("anyOf", []), *option.get("oneOf", [])]
    names = [one["$ref"].rpartition("/")[2] for one in below if "$ref" in one]
    return bool(names) and all(root["$defs"][name].get("description") for name in names)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_option_is_described(name: str) -> None:
    schema = plan_schema(name)
    assert [where for where, one in options(schema) if not described(one, schema)] == []
    assert "folder" not in schema["properties"]
    assert schema["version"] == 1
    assert schema["$id"] == f"urn:hushway:plan:{name}:1"


@pytest.mark.parametrize("name", FAMILIES)
def test_templates_and_plans_fit_their_schema_and_others_do_not(name: str) -> None:
    schema = plan_schema(name)
    template = tomllib.loads(FAMILIES[name].template)
    assert fits(template, schema, schema)
    assert fits(little_plan(name), schema, schema)
    assert not fits({**template, "unknown": 1}, schema, schema)
    assert not fits({**template, "version": 2}, schema, schema)
    assert not fits({**template, "release": {"folder": "x"}}, schema, schema)
    assert not fits({**template, "time": {**template["time"], "opens": "six"}}, schema, schema)
    assert FAMILIES[name].template.startswith(f"#:schema {name}.schema.json\n")


def test_the_command_prints_one_schema_or_all() -> None:
    one = CliRunner().invoke(app, ["plan", "schema", "links"])
    assert json.loads(one.output) == plan_schema("links")
    every = json.loads(CliRunner().invoke(app, ["plan", "schema"]).output)
    assert every == every_plan_schema()
    assert len(every["oneOf"]) == len(FAMILIES)


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (2, "version 2, and this hushway reads version 1"),
        (0, "must be 1"),
        ("1", "must be 1"),
        (True, "must be 1"),
        (1.0, "must be 1"),
    ],
)
def test_a_plan_of_another_version_is_refused_with_what_to_do(version: Any, words: str) -> None:
    with pytest.raises(PlanError, match=words) as refused:
        plan_from({**little_plan("od"), "version": version}, folder=Path())
    assert refused.value.advice


def test_a_plan_without_a_version_is_of_the_first() -> None:
    assert plan_from(little_plan("od"), folder=Path()).version == 1
    assert plan_from({**little_plan("od"), "version": 1}, folder=Path()).version == 1
