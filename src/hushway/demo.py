"""Whole releases from nothing: synthetic cities, plans, budgets, releases that verify."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.registry import FAMILIES
from hushway.privacy.accounting import budget_limit_for
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import PureLoss
from hushway.release.family import Example, Family
from hushway.release.job import Job
from hushway.release.new_file import make_folder

PLAN = "plan.toml"
BUDGET_LIMIT = Fraction(4)

_MARKER = ".hushway-demo"


@dataclass(frozen=True, kw_only=True)
class DemoCity:
    """What the demo built: a folder with a city's files and a plan, and an open account.

    Attributes:
        folder: Where it is.
        example: What the city is.
        job: The plan, ready to be published.
    """

    folder: Path
    example: Example
    job: Job

    @property
    def release(self) -> Path:
        """Where its release appears."""
        return self.job.plan.path(self.job.plan.release.folder)


def build_demo(folder: Path, *, force: bool = False) -> DemoCity:
    """Writes a synthetic weekday of Ann Arbor, a plan for it, and a ledger with a budget.

    Args:
        folder: Where to build it.
        force: Whether an earlier demo there is thrown away.

    Raises:
        ReleaseError: The folder exists and is not an earlier demo to be thrown away, or cannot be
            made.
    """
    _clear(folder, force=force)
    return _built(FAMILIES["od"], folder)


def build_others(folder: Path) -> Iterator[DemoCity]:
    """Writes cities of the other families, each into a folder of its own, with plan and ledger."""
    for family in FAMILIES.values():
        if family.name != "od":
            (folder / family.name).mkdir()
            yield _built(family, folder / family.name)


def _built(family: Family, folder: Path) -> DemoCity:
    """Writes a family's city and its template as a plan, and opens the account."""
    example = family.example(folder)
    if example is None:
        raise ReleaseError(f"The release type {family.name} has no example.", advice="Give it one.")
    # A ledger of its own, whatever the environment says: the demo must not spend real budgets.
    text = family.template.replace('# url = "ledger.db"', 'url = "ledger.db"  ')
    for old, new in example.changes.items():
        text = text.replace(old, new)
    (folder / PLAN).write_text(text, encoding="utf-8")
    job = prepare(load_plan(folder / PLAN))
    delta = job.plan.privacy.delta
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        budget_limit = (
            PureLoss(BUDGET_LIMIT) if delta is None else budget_limit_for(BUDGET_LIMIT, delta)
        )
        ledger.open_account(job.account, budget_limit, delta=delta)
    return DemoCity(folder=folder, example=example, job=job)


def _clear(folder: Path, *, force: bool) -> None:
    """Makes the folder anew; removes nothing but an earlier demo, and that only if told to."""
    if folder.exists():
        earlier = (folder / _MARKER).is_file()
        if not (earlier and force):
            again = ", or throw the earlier demo away with --force" if earlier else ""
            raise ReleaseError(
                f"{folder} exists already.",
                advice=f"Name a folder that does not exist yet: hushway demo NAME{again}.",
            )
        shutil.rmtree(folder)
    make_folder(folder)
    (folder / _MARKER).touch()
