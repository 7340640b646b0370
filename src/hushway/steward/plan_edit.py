"""Changes to the text of a plan that keep its comments."""

import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from datetime import date
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from hushway.errors import PlanError
from hushway.release.plans.first_plan import fill_template

_LONGEST_PATH = 8


def with_changes(text: str, changes: Mapping[str, Any]) -> str:
    """Returns a text with values set by option, such as "time.minutes"; None takes one out.

    Raises:
        PlanError: The text is not TOML, or there can be no such value in it.
    """
    for option, value in changes.items():
        text = edited(text, option.split("."), value)
    return text


def edited(text: str, path: Sequence[str], value: Any) -> str:
    """Returns a text with one value set, or taken out if it is None; comments stay.

    Raises:
        PlanError: The text is not TOML, or there can be no such value in it.
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


def _impossible(path: Sequence[str]) -> PlanError:
    return PlanError(
        f"{'.'.join(path)[:100]} cannot be set in this text.",
        advice="Put the text in order first: it must be TOML, and tables must be tables.",
    )
