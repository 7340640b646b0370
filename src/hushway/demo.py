"""Whole releases from nothing: synthetic cities, plans, budgets, releases that verify."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType

from hushway.errors import ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.registry import FAMILIES
from hushway.privacy.accounting import budget_limit_for
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import PureLoss
from hushway.release.family import Example, Family
from hushway.release.folder.new_file import make_folder
from hushway.release.job import Job

PLAN = "plan.toml"
# Shown step by step; the other release types are published and verified only.
FIRST = "od"
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
    def plan(self) -> Path:
        """Where its plan is."""
        return self.folder / PLAN

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
    clear(folder, force=force)
    return build_city(FIRST, folder)


def build_city(release_type: str, folder: Path) -> DemoCity:
    """Writes the city of a release type, a plan for it, and a ledger with a budget.

    Args:
        release_type: Which one.
        folder: Where to build it; made if it is not there.

    Raises:
        ReleaseError: The release type has no example.
    """
    folder.mkdir(exist_ok=True)
    return _planned(FAMILIES[release_type], folder, write_city(release_type, folder))


class OtherCities(AbstractContextManager["OtherCities"]):
    """The cities of the other release types, written by another process from now on.

    Whoever shows the first city meanwhile does not wait for them.

    Args:
        folder: Where each gets a folder of its own, with plan and ledger.
    """

    def __init__(self, folder: Path) -> None:
        # Started anew and not forked: whoever calls it has threads of its own.
        self._pool = ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))
        self._examples = {}
        for name in [name for name in FAMILIES if name != FIRST]:
            (folder / name).mkdir()
            self._examples[folder / name] = self._pool.submit(write_city, name, folder / name)

    def __iter__(self) -> Iterator[DemoCity]:
        """Yields the cities, each as soon as it is there."""
        for folder, example in self._examples.items():
            yield _planned(FAMILIES[folder.name], folder, example.result())

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._pool.shutdown(cancel_futures=True)


def write_city(release_type: str, folder: Path) -> Example:
    """Writes the example city of a release type into a folder.

    Raises:
        ReleaseError: It has none.
    """
    example = FAMILIES[release_type].example(folder)
    if example is None:
        raise ReleaseError(
            f"The release type {release_type} has no example.", advice="Give it one."
        )
    return example


def _planned(family: Family, folder: Path, example: Example) -> DemoCity:
    """Writes a family's template as a plan for its city, and opens the account."""
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


def clear(folder: Path, *, force: bool) -> None:
    """Makes the folder anew; removes nothing but an earlier demo, and that only if told to.

    Raises:
        ReleaseError: The folder exists and is not an earlier demo to be thrown away, or cannot be
            made.
    """
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
