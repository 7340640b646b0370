"""The verb `demo`: whole releases from synthetic cities."""

import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType

from hushway.errors import ReleaseError
from hushway.families.load import load_plan, prepare
from hushway.families.registry import FAMILIES
from hushway.release.family import Example, Family
from hushway.release.folder.new_file import make_folder
from hushway.release.job import Job
from hushway.steward import ledger
from hushway.steward.publish import publish
from hushway.steward.verify import verify
from hushway.warming.background import Compiling, usual_rehearsals

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


def publish_and_verify(city: DemoCity) -> None:
    """Publishes the release of a demo city, and verifies it.

    Raises:
        ReleaseError: It does not verify.
    """
    if not verify(publish(city.plan, anyway=True).folder).passed:
        raise ReleaseError(
            f"The release in {city.release} does not verify.", advice="Report this as a bug."
        )


def demo(
    folder: Path | str = "demo",
    *,
    force: bool = False,
    show: Callable[[DemoCity], None] = publish_and_verify,
) -> tuple[DemoCity, ...]:
    """Builds a synthetic city for every release type, publishes releases and verifies them.

    Other processes write cities meanwhile, so scripts call it below `if __name__ == "__main__":`.

    Args:
        folder: A new folder for the demo.
        force: Whether an earlier demo there is thrown away.
        show: What is done with each city, the first one of origins and destinations.

    Raises:
        ReleaseError: The folder exists and is not an earlier demo to be thrown away, or cannot be
            made.
    """
    folder = Path(folder)
    clear(folder, force=force)
    cities = []
    # All release types from the beginning: their machine code is there when one is published.
    with Compiling(usual_rehearsals()), OtherCities(folder) as others:
        for city in chain([build_city(FIRST, folder)], others):
            show(city)
            cities.append(city)
    return tuple(cities)


def build_demo(folder: Path, *, force: bool = False) -> DemoCity:
    """Writes the first city of the demo alone, with a plan and a ledger.

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
    """The cities of the other release types, written by another process in the background.

    Args:
        folder: Where each gets a folder of its own, with plan and ledger.
    """

    def __init__(self, folder: Path) -> None:
        # Spawned, not forked: the caller may have threads.
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
    ledger.open(job, epsilon=BUDGET_LIMIT, delta=job.plan.privacy.delta)
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
