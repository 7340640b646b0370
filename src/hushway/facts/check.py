"""What a check has found, as plain values: exact, for the steward's own eyes, never released."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hushway.engine.settings import EngineSettings
    from hushway.tables.check import Problem, RowsChecked
    from hushway.tables.profile import RowsFound

ONLY_HERE = "your screen only: counted from your rows without noise; nothing of this is released"


def problems_of(checked: "RowsChecked", settings: "EngineSettings") -> "tuple[Problem, ...]":
    """Returns what is wrong with rows, and what is worth knowing of where they are counted."""
    from hushway.engine.spilling import spill_notes

    return (*checked.everything, *spill_notes(settings.encrypt_spills))


def check_facts(checked: "RowsChecked", settings: "EngineSettings") -> dict[str, Any]:
    """Returns what was found in rows, and whether they can be published."""
    problems = problems_of(checked, settings)
    return {
        "for": ONLY_HERE,
        "usable": not any(problem.refused for problem in problems),
        "found": _found_facts(checked.found),
        "problems": [vars(problem) for problem in problems],
    }


def _found_facts(found: "RowsFound | None") -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "dropped": found.dropped}
