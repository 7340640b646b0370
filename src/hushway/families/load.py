"""From a file to a plan to a job, whatever the family; and what plans may say.

Everything that is wrong with a plan is said at once.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import ValidationError

from hushway.errors import PlanError
from hushway.families.registry import FAMILIES, family_named
from hushway.privacy.ledger.span import Span, Step
from hushway.release.family import Family
from hushway.release.plans.missing import refuse_missing
from hushway.release.plans.sections import PLAN_VERSION, AnyPlan
from hushway.tables.unpacking import MOST_BYTES, read_toml

if TYPE_CHECKING:
    from hushway.release.job import Job


_SHOWN = 50
_STEP: Final = "{step}"
_LONGEST_KEY = 100


def load_plan(path: Path | str, *, step: str | None = None) -> AnyPlan:
    """Reads and validates a plan; what it leaves open, the environment may say.

    Args:
        path: The plan's file.
        step: Of a series, the step that is published, such as 2026-04; the plan's own if left out.

    Raises:
        PlanError: The file is missing, is not TOML, or does not describe a release.
        BudgetError: There is no such step.
    """
    file = Path(path)
    facts = with_environment(_facts(file), os.environ)
    return plan_from(facts, folder=file.parent, step=step)


def _at_step(facts: dict[str, Any], step: str | None) -> dict[str, Any]:
    """Returns a plan with the days of one of its steps, if it is a series.

    Raises:
        PlanError: The plan is no series and has no steps, or names none.
        BudgetError: There is no such step.
    """
    series = facts.get("series")
    if series is None and step is None:
        return facts
    if not isinstance(series, dict):
        raise PlanError(
            "The plan is no series, and has no steps.",
            advice="Add the table [series], or name no step.",
        )
    named = step or series.get("this")
    if not isinstance(named, str):
        raise PlanError(
            "The plan is a series, and no step is named.",
            advice="Name one: --step 2026-04, or this in [series].",
        )
    if series.get("step") not in get_args(Step):
        return facts  # validation says so
    first, last = Span(step=series["step"], steps=1).days(named)
    window = {"first_day": first, "last_day": last}
    return {
        **{name: _with_step(table, named) for name, table in facts.items()},
        "series": {**series, "this": named},
        **({"time": {**facts["time"], **window}} if isinstance(facts.get("time"), dict) else {}),
    }


def _with_step(table: Any, step: str) -> Any:
    """Returns what a plan says with the step in place of {step}."""
    if isinstance(table, str):
        return table.replace(_STEP, step)
    if isinstance(table, list):
        return [_with_step(one, step) for one in table]
    if isinstance(table, dict):
        return {name: _with_step(one, step) for name, one in table.items()}
    return table


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


def plan_from(facts: dict[str, Any], *, folder: Path, step: str | None = None) -> AnyPlan:
    """Validates a plan given as plain values.

    Args:
        folder: Where files lie that it names.
        step: Of a series, the step that is published; the plan's own if left out.

    Raises:
        PlanError: The values do not describe a release; the message lists every problem at once.
        BudgetError: There is no such step.
    """
    facts = _at_step(facts, step)
    _refuse_other_versions(facts.get("version", PLAN_VERSION))
    refuse_old_release_type(facts)
    family = family_named(facts.get("release_type"))
    try:
        return family.plan.model_validate({**facts, "folder": folder})
    except ValidationError as error:
        lines = [f"  {line}" for found in error.errors() for line in _lines(found, family)]
        more = [f"  and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
        raise PlanError(
            "The plan does not describe a release:\n" + "\n".join([*lines[:_SHOWN], *more]),
            advice=f"hushway plan new {family.name} prints a plan with every option explained.",
        ) from None


def _refuse_other_versions(version: object) -> None:
    """Refuses a plan that may mean something else by the same words."""
    if version == PLAN_VERSION and type(version) is int:
        return
    newer = type(version) is int and version > PLAN_VERSION
    raise PlanError(
        f"The plan is of version {version}, and this hushway reads version {PLAN_VERSION}."
        if newer
        else f"version: must be {PLAN_VERSION}, the only version of plans so far.",
        advice="Install a hushway that reads it; hushway plan schema says what this one reads."
        if newer
        else f"Write version = {PLAN_VERSION}, or leave it out.",
    )


def prepare(plan: AnyPlan, *, rows: bool = False) -> "Job":
    """Reads the public files of a plan and sets up its mechanism.

    Args:
        plan: The plan.
        rows: Whether the protected rows must be there too. They are not read here.

    Raises:
        PlanError: Files or columns that the plan names are not there; the message lists all.
        GeographyError: A public file is wrong.
    """
    refuse_missing(plan, rows=rows)
    plan.refuse_wrong_periods()
    return family_named(plan.release_type).prepare(plan)


def _lines(found: Any, family: Family) -> Iterator[str]:
    what = _what(found, family)
    if not found["loc"]:
        # Found by looking at the whole plan: such lines say themselves where the trouble is.
        yield from what.splitlines()
    else:
        name = ".name" if found["type"] == "union_tag_invalid" else ""
        yield f"{_where(found['loc'], family)}{name}: {what}"


def _where(location: tuple[int | str, ...], family: Family) -> str:
    table, *rest = location
    # Below the mechanism the model's own path has the mechanism's name in it, which no plan has.
    if table == "mechanism" and rest and rest[0] in family.mechanisms:
        rest = rest[1:]
    where = ".".join(str(part) for part in (table, *rest))
    return where if len(where) <= _LONGEST_KEY else f"{where[:_LONGEST_KEY]}..."


def _what(found: Any, family: Family) -> str:
    if found["type"] == "extra_forbidden":
        location = found["loc"]
        return (
            _foreign(location, family)
            or now_called(location)
            or "is not an option (is it misspelt?)"
        )
    if found["type"] == "missing":
        return "is missing"
    if found["type"] == "literal_error":
        return value_now_called(found["loc"], found["input"]) or str(found["msg"])
    if found["type"] == "union_tag_invalid":
        return f"must be one of {', '.join(family.mechanisms)}"
    return str(found["msg"]).removeprefix("Value error, ")


def _foreign(location: tuple[int | str, ...], family: Family) -> str | None:
    """Returns whose option it is, if another mechanism has it."""
    table, *rest = location
    if table != "mechanism" or len(rest) != len(("name", "option")):
        return None
    name, option = rest
    owners = [other for other, model in family.mechanisms.items() if option in model.model_fields]
    if not owners:
        return None
    *others, last = owners
    words = f"{', '.join(others)} and {last}" if others else last
    return f"is an option of {words}, not of {name}"


# Old words of options and tables; some went to different words in different tables.
RENAMED: Final[Mapping[str, str]] = {
    "expect": "shrink_to_class",
    "family": "release_type",
    "features": "published_totals",
    "height": "max_stops",
    "kappa": "expected_false_prefixes",
    "location": "place",
    "most_counted": "max_visits_in_total",
    "problems.same_place": "intrazonal",
    "same_place": "include_intrazonal",
    "shares": "budget_shares",
    "shown": "publish_above_se",
    "split": "budget_shares",
    "towers": "places",
    "unknown_location": "unknown_place",
}
# Old words that were values of an option.
RENAMED_VALUES: Final[Mapping[str, str]] = {"clock.instant": "utc", "clock.wall": "local"}


def now_called(location: Sequence[int | str]) -> str | None:
    """Returns what an option of an earlier time is called now, as words; None if it never was one.

    Args:
        location: The tables that it is in, and its own name last.
    """
    *tables, name = map(str, location)
    word = RENAMED.get(f"{tables[-1]}.{name}") if tables else None
    word = word or RENAMED.get(name)
    return None if word is None else f"is now called {word}"


def value_now_called(location: Sequence[int | str], value: object) -> str | None:
    """Returns what a value of an earlier time is called now, as words; None if it never was one."""
    word = RENAMED_VALUES.get(f"{location[-1]}.{value}") if location else None
    return None if word is None else f'"{value}" is now called "{word}"'


def refuse_old_release_type(facts: Mapping[str, Any]) -> None:
    """Refuses a plan that names its release type by the old word, by which nothing can be read.

    Raises:
        PlanError: It does.
    """
    if "family" in facts and "release_type" not in facts:
        raise PlanError(
            f"family: {now_called(['family'])}.",
            advice="Write release_type instead; other words that changed are told after that.",
        )


# What the environment says where a plan leaves it open: the ledger, and how much machine to use.
#
# A plan that says something is obeyed; the environment only takes the place of defaults. Paths are
# taken from the folder in which the command runs, not from the plan's.

LEDGER: Final = "HUSHWAY_LEDGER"
KIND: Final = "HUSHWAY_ENGINE_KIND"
MASTER: Final = "HUSHWAY_ENGINE_MASTER"
URL: Final = "HUSHWAY_ENGINE_URL"
MEMORY: Final = "HUSHWAY_ENGINE_MEMORY_LIMIT"
THREADS: Final = "HUSHWAY_ENGINE_THREADS"
TEMP: Final = "HUSHWAY_ENGINE_TEMP_FOLDER"

_OPTIONS: Final = {
    LEDGER: ("ledger", "url"),
    KIND: ("engine", "kind"),
    MASTER: ("engine", "master"),
    URL: ("engine", "url"),
    MEMORY: ("engine", "memory_limit"),
    THREADS: ("engine", "threads"),
    TEMP: ("engine", "temp_folder"),
}
# Addresses that may stand in the environment for good: plans of other kinds do without.
_ADDRESSES: Final = {MASTER: "spark", URL: "warehouse"}


def with_environment(facts: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Returns a plan with what the environment adds to it.

    Raises:
        PlanError: A variable does not hold what it is for.
    """
    for variable, (table, option) in _OPTIONS.items():
        text = environment.get(variable, "").strip()
        section = facts.get(table, {})
        # A table that is none is refused where plans are validated.
        if text and isinstance(section, dict) and option not in section:
            if variable in _ADDRESSES and section.get("kind") != _ADDRESSES[variable]:
                continue
            facts = {**facts, table: {**section, option: _value(variable, text)}}
    return facts


def _value(variable: str, text: str) -> str | int:
    if variable == THREADS:
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise PlanError(
                f"{variable} does not hold a number of threads.",
                advice="Set it to a whole number such as 2, or unset it.",
            )
        return int(text)
    if variable in (KIND, MASTER, URL, MEMORY) or "://" in text:
        return text
    return str(Path(os.path.abspath(Path(text).expanduser())))  # noqa: PTH100  keeps links as they are


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
