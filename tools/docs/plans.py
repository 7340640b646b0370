"""The options of every plan as pages, from the JSON Schema that editors check plans by."""

from collections.abc import Iterator
from typing import Any

from hushway.families.load import plan_schema
from hushway.families.registry import FAMILIES

_NONE = {"type": "null"}
_WORDS = {"string": "text", "integer": "whole number", "object": "table"}


def plan_page(name: str) -> str:
    """Returns the page of the options of one release type."""
    schema = plan_schema(name)
    lines = [
        f"# Plans of {name}",
        "",
        (
            f'Every option of a plan with `release_type = "{name}"`, from '
            f"`hushway plan schema {name}`. `hushway plan new {name}` prints them to be filled in."
        ),
        "",
        *_table("", schema, schema["$defs"]),
    ]
    return "\n".join(lines) + "\n"


def plan_pages() -> dict[str, str]:
    """Returns the pages of all release types by their names."""
    return {f"plan-{name}.md": plan_page(name) for name in FAMILIES}


def _table(where: str, schema: dict[str, Any], defs: dict[str, Any]) -> Iterator[str]:
    """Yields a section for a table of the plan, then those of the tables in it."""
    needed = set(schema.get("required", ()))
    plain, below = [], []
    for option, facts in schema.get("properties", {}).items():
        models = list(_models(facts, defs))
        if models:
            below.append((option, facts, models))
        else:
            plain.append((option, facts))
    if where:
        yield from (f"## `[{where}]`", "", schema.get("description", "").split("\n\n")[0], "")
    if plain:
        yield from ("| option | is | if left out | for |", "|---|---|---|---|")
        for option, facts in plain:
            left_out = "needed" if option in needed else _value(facts.get("default"))
            what = _cell(facts.get("description", ""))
            yield f"| `{option}` | {_kind(facts)} | {left_out} | {what} |"
        yield ""
    for option, facts, models in below:
        name = f"{where}.{option}" if where else option
        if len(models) > 1:
            yield from (f"## `[{name}]`", "", _cell(facts.get("description", "")), "")
            for model in models:
                chosen = model["properties"].get("name", {}).get("const", model.get("title", ""))
                yield from (f'### `name = "{chosen}"`', "")
                yield from list(_table(name, model, defs))[2:]
        else:
            yield from _table(name, models[0], defs)


def _models(facts: dict[str, Any], defs: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the tables that an option may be; none if it is a plain value."""
    for one in [facts, *facts.get("anyOf", ()), *facts.get("oneOf", ())]:
        named = one.get("$ref", "").rpartition("/")[2]
        if named and defs[named].get("type") == "object":
            yield defs[named]


def _kind(facts: dict[str, Any]) -> str:
    if "enum" in facts:
        return ", ".join(f"`{_quoted(one)}`" for one in facts["enum"])
    if "const" in facts:
        return f"`{_quoted(facts['const'])}`"
    several = [one for one in facts.get("anyOf", ()) if one != _NONE]
    if several:
        return " or ".join(dict.fromkeys(_kind(one) for one in several))
    kind = facts.get("type", "value")
    if kind == "array":
        return f"list of {_kind(facts.get('items', {}))}"
    kinds: list[str] = kind if isinstance(kind, list) else [kind]
    return " or ".join(_WORDS.get(one, one) for one in kinds)


def _value(default: object) -> str:
    return "" if default is None else f"`{_quoted(default)}`"


def _quoted(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
