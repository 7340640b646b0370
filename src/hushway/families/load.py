"""Reads plans, and says everything that is wrong with one at once."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hushway.errors import PlanError
from hushway.families.density.plan import DensityPlan
from hushway.families.links.plan import LinksPlan
from hushway.families.od.plan import MECHANISMS, ODPlan
from hushway.families.sequences.plan import SequencesPlan
from hushway.tables.toml_file import MOST_BYTES, read_toml

Plan = ODPlan | SequencesPlan | DensityPlan | LinksPlan

_FAMILIES: dict[str, type[Plan]] = {
    "od": ODPlan,
    "sequences": SequencesPlan,
    "density": DensityPlan,
    "links": LinksPlan,
}

_SHOWN = 50
_LONGEST_KEY = 100


def load_plan(path: Path | str) -> Plan:
    """Reads and validates a plan.

    Raises:
        PlanError: The file is missing, is not TOML, or does not describe a release.
    """
    file = Path(path)
    return plan_from(_facts(file), folder=file.parent)


def _facts(file: Path) -> dict[str, Any]:
    try:
        return read_toml(file)
    except FileNotFoundError:
        raise PlanError(
            f"There is no plan {file}.", advice="Write one with: hushway plan new od > plan.toml"
        ) from None
    except OSError:
        raise PlanError(
            f"The plan {file} cannot be read.",
            advice=f"Give a TOML text file in UTF-8, of at most {MOST_BYTES:,} bytes.",
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError(
            f"The plan {file} is not TOML: {error}.", advice="Put texts and fractions in quotes."
        ) from None


def plan_from(facts: dict[str, Any], *, folder: Path) -> Plan:
    """Validates a plan given as plain values.

    Raises:
        PlanError: The values do not describe a release; the message lists every problem at once.
    """
    family = facts.get("family")
    if not isinstance(family, str) or family not in _FAMILIES:
        raise PlanError(
            f"family: must be one of {', '.join(_FAMILIES)}.",
            advice="Start from a template: hushway plan new od > plan.toml",
        )
    try:
        return _FAMILIES[family].model_validate({**facts, "folder": folder})
    except ValidationError as error:
        lines = [f"  {line}" for found in error.errors() for line in _lines(found)]
        more = [f"  and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
        raise PlanError(
            "The plan does not describe a release:\n" + "\n".join([*lines[:_SHOWN], *more]),
            advice=f"hushway plan new {family} prints a plan with every option explained.",
        ) from None


def _lines(found: Any) -> Iterator[str]:
    what = _what(found)
    if not found["loc"]:
        # Found by looking at the whole plan: such lines say themselves where the trouble is.
        yield from what.splitlines()
    else:
        yield f"{_where(found['loc'])}: {what}"


def _where(location: tuple[int | str, ...]) -> str:
    table, *rest = location
    # Below the mechanism the model's own path has the mechanism's name in it, which no plan has.
    if table == "mechanism" and rest and rest[0] in MECHANISMS:
        rest = rest[1:]
    where = ".".join(str(part) for part in (table, *rest))
    return where if len(where) <= _LONGEST_KEY else f"{where[:_LONGEST_KEY]}..."


def _what(found: Any) -> str:
    if found["type"] == "extra_forbidden":
        return _foreign(found["loc"]) or "is not an option (is it misspelt?)"
    if found["type"] == "missing":
        return "is missing"
    if found["type"] == "union_tag_invalid":
        return f"name must be one of {', '.join(MECHANISMS)}"
    return str(found["msg"]).removeprefix("Value error, ")


def _foreign(location: tuple[int | str, ...]) -> str | None:
    """Returns whose option it is, if another mechanism has it."""
    table, *rest = location
    if table != "mechanism" or len(rest) != len(("name", "option")):
        return None
    name, option = rest
    owners = [other for other, model in MECHANISMS.items() if option in model.model_fields]
    if not owners:
        return None
    return f"is an option of {' and '.join(owners)}, not of {name}"
