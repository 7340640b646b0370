"""Plans as JSON Schema: every option with its type, its default and what it is for."""

from typing import Any, Final

from hushway.families.registry import FAMILIES, family_named
from hushway.release.plans.sections import PLAN_VERSION

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
# Where the plan lies is not for the plan to say.
_NOT_WRITTEN: Final = "folder"


def plan_schema(name: str) -> dict[str, Any]:
    """Returns the schema of the plans of a release type.

    Raises:
        PlanError: There is no such release type.
    """
    schema = family_named(name).plan.model_json_schema()
    schema["properties"] = {
        option: facts for option, facts in schema["properties"].items() if option != _NOT_WRITTEN
    }
    schema["properties"]["version"]["const"] = PLAN_VERSION
    return {"$schema": _DIALECT, "$id": _address(f"{name}:"), "version": PLAN_VERSION, **schema}


def every_plan_schema() -> dict[str, Any]:
    """Returns the schema of the plans of all release types."""
    return {
        "$schema": _DIALECT,
        "$id": _address(),
        "version": PLAN_VERSION,
        "title": "A hushway plan",
        "description": "A release that is to be published, of one of the release types.",
        "oneOf": [plan_schema(name) for name in FAMILIES],
    }


def _address(name: str = "") -> str:
    return f"urn:hushway:plan:{name}{PLAN_VERSION}"
