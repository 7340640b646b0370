"""The verbs `plan new` and `plan schema`."""

from typing import Any

from hushway.errors import PlanError
from hushway.families.load import every_plan_schema, plan_schema
from hushway.families.registry import FAMILIES


def new(release_type: str) -> str:
    """Returns a plan with every option explained, as TOML.

    Raises:
        PlanError: There is no such release type.
    """
    if release_type not in FAMILIES:
        raise PlanError(
            f"There is no release type {release_type!r}.",
            advice=f"The release types are: {', '.join(FAMILIES)}.",
        )
    return FAMILIES[release_type].template


def schema(release_type: str | None = None) -> dict[str, Any]:
    """Returns the JSON Schema of plans, of one release type or of all.

    Raises:
        PlanError: There is no such release type.
    """
    return every_plan_schema() if release_type is None else plan_schema(release_type)
