"""The text of a plan: what it says, and what is wrong with it."""

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hushway.errors import HushwayError
from hushway.families.load import plan_from, with_environment
from hushway.families.registry import FAMILIES
from hushway.release.plans.missing import refuse_missing
from hushway.release.plans.sections import AnyPlan


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

    @property
    def missing(self) -> tuple[str, ...]:
        """The files and columns that it names and that are not there, one line each.

        Privacy:
            Of protected files only names of columns are read.
        """
        if self.plan is None:
            return ()
        try:
            refuse_missing(self.plan, rows=True)
        except HushwayError as error:
            # No page needs to know where the folder lies.
            text = str(error).replace(f"{self.plan.folder}{os.sep}", "")
            first, *more = (line.strip() for line in text.split("\n"))
            return tuple(more) or (first,)
        return ()


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
