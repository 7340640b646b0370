"""What the environment says where a plan leaves it open: the ledger, and how much machine to use.

A plan that says something is obeyed; the environment only takes the place of defaults. Paths are
taken from the folder in which the command runs, not from the plan's.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hushway.errors import PlanError

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
