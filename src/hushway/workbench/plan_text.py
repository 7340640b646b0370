"""The text of a plan: what it says, what is wrong with it, and changes that keep its comments."""

import os
import tomllib
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from hushway.errors import HushwayError
from hushway.families.environment import with_environment
from hushway.families.load import plan_from
from hushway.families.registry import FAMILIES
from hushway.release.plans.first_plan import fill_template
from hushway.release.plans.sections import AnyPlan
from hushway.workbench.responses import RefusalError

_LONGEST_PATH = 8


@dataclass(frozen=True, kw_only=True)
class ReadPlan:
    """What a text says.

    Attributes:
        facts: Its plain values; None if it is not TOML.
        problems: What keeps it from being a plan, one sentence each.
        plan: The plan, if there are no problems.
    """

    facts: dict[str, Any] | None
    problems: tuple[str, ...]
    plan: AnyPlan | None

    @property
    def release_type(self) -> str | None:
        """The release type that it names, if there is such."""
        named = None if self.facts is None else self.facts.get("release_type")
        return named if isinstance(named, str) and named in FAMILIES else None


def read_plan(text: str, *, folder: Path) -> ReadPlan:
    """Reads a text as the command line would; no file that it names is opened.

    Args:
        text: TOML.
        folder: Where the plan lies.
    """
    try:
        facts = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return ReadPlan(facts=None, problems=(f"This is not TOML: {error}.",), plan=None)
    except (ValueError, RecursionError):
        problem = "This holds what no plan needs: lists in lists in lists, or an infinite number."
        return ReadPlan(facts=None, problems=(problem,), plan=None)
    try:
        plan = plan_from(with_environment(facts, os.environ), folder=folder)
    except HushwayError as error:
        # The first line only says that a list follows.
        first, *more = (line.strip() for line in str(error).split("\n"))
        return ReadPlan(facts=facts, problems=tuple(more) or (first,), plan=None)
    return ReadPlan(facts=facts, problems=(), plan=plan)


def edited(text: str, path: Sequence[str], value: Any) -> str:
    """Returns a text with one value set, or taken out if it is None; comments stay.

    Raises:
        RefusalError: The text is not TOML, or there can be no such value in it.
    """
    if not 1 <= len(path) <= _LONGEST_PATH or not all(path):
        raise _impossible(path)
    try:
        facts = tomllib.loads(text)
        value = _like(_found(facts, path), value)
        changed = _by_line(text, path, value)
        if changed is None or tomllib.loads(changed) != _set(facts, path, value):
            changed = _by_tree(text, path, value)
        tomllib.loads(changed)
    except (TOMLKitError, ValueError, TypeError, RecursionError):
        raise _impossible(path) from None
    return changed


def _found(facts: dict[str, Any], path: Sequence[str]) -> Any:
    found: Any = facts
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _set(facts: dict[str, Any], path: Sequence[str], value: Any) -> dict[str, Any]:
    """Returns plain values with one of them set."""
    name, *below = path
    if below:
        table = facts.get(name, {})
        if not isinstance(table, dict):
            raise TypeError
        return {**facts, name: _set(table, below, value)}
    others = {other: found for other, found in facts.items() if other != name}
    return others if value is None else {**others, name: value}


def _by_line(text: str, path: Sequence[str], value: Any) -> str | None:
    """Changes a line as templates have them, also one that is commented out; None if there is none.

    What is taken out is left as a comment, so that what the line explains stays.
    """
    if isinstance(value, date):
        return None
    try:
        return fill_template(text, {".".join(path): value})
    except KeyError:
        return None


def _by_tree(text: str, path: Sequence[str], value: Any) -> str:
    """Changes what a library has read of the text."""
    document = tomlkit.parse(text)
    table: Any = document
    for name in path[:-1]:
        if name not in table:
            if value is None:
                return text
            table[name] = tomlkit.table()
        table = table[name]
        if not isinstance(table, MutableMapping):
            raise TypeError
    name = path[-1]
    if value is None:
        table.pop(name, None)
    elif name in table or not isinstance(table, Table):
        table[name] = value
    else:
        _append(table, name, value)
    return tomlkit.dumps(document)


def _append(table: Table, name: str, value: Any) -> None:
    """Adds a value behind the others; what stands before the next table stays before it."""
    body = table.value.body
    tail = []
    while body and body[-1][0] is None:
        tail.append(body.pop())
    table.append(name, value)
    body.extend(reversed(tail))


def _like(before: Any, value: Any) -> Any:
    """Returns a value as the one before was written: a day stays a day."""
    if isinstance(before, date) and isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            return value
    return value


def _impossible(path: Sequence[str]) -> RefusalError:
    return RefusalError(
        422,
        f"{'.'.join(path)[:100]} cannot be set in this text.",
        advice="Put the text in order first: it must be TOML, and tables must be tables.",
    )
