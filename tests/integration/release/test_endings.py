"""A publish that ends at any moment: the ledger and the disk tell one story, or can be made to."""

import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hushway.errors import LedgerError, ReleaseError
from hushway.families import write
from hushway.families.load import plan_from, prepare
from hushway.families.od.files.published import ODContents
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import ArrayCounter
from hushway.families.verify import verify
from hushway.privacy.bound import Unit
from hushway.privacy.ledger import EntryKind, Ledger, Span
from hushway.privacy.loss import PureLoss
from hushway.release.folder.place import claimed, hidden_folder
from hushway.release.job import CountingContext, Job
from hushway.steward.publish import publish
from hushway.steward.settle import settle_plan
from hushway.tables.check import RowsChecked
from support.dying import FINISHED, INTERRUPTED, Clock, ended
from support.little_plans import little_plan, write_little_files

# Of the moments before the seal only some are tried, and of those after it every one, or some.
BEFORE_SEAL = 30
# Days of a series: each may be charged for twice, and two in a row have the budget for just that.
AGAIN, SPAN = 2, Span(step="day", steps=2)
EVERY = [pytest.param(1, marks=pytest.mark.long), 25]


@dataclass(frozen=True, kw_only=True)
class RowsInMemory:
    """Rows without an engine, which would start threads."""

    cells: ODCells

    def check(self, *_: Any, **__: Any) -> RowsChecked:
        return RowsChecked()

    def counter(self, context: CountingContext) -> ArrayCounter:
        return ArrayCounter(
            cells=self.cells,
            unit=Unit.PERSON,
            max_trips=2,
            key=context.key,
            person=np.arange(20) % 5,
            period=np.arange(20) % 2,
            origin=np.arange(20) % 4,
            destination=(np.arange(20) + 1) % 4,
        )


@dataclass(kw_only=True)
class Scene:
    """A plan with rows in memory, and an account that can spend on it many times."""

    job: Job

    @property
    def folder(self) -> Path:
        return self.job.plan.path(self.job.plan.release.folder)

    def ledger(self) -> Ledger:
        return Ledger.connect(self.job.plan.ledger_url())

    def work(self, clock: Clock) -> None:
        clock.watch()
        publish(self.job)

    def tidy(self) -> None:
        """Makes room for the next publish."""
        for folder in (self.folder, hidden_folder(self.folder)):
            shutil.rmtree(folder, ignore_errors=True)

    def kinds(self) -> dict[str, set[str]]:
        """What the ledger says of each release."""
        found: dict[str, set[str]] = {}
        with self.ledger() as ledger:
            for entry in ledger.entries():
                if entry.release:
                    found.setdefault(entry.release, set()).add(entry.kind)
        return found


@dataclass(kw_only=True)
class Steps(Scene):
    """A series of days, each with room for one release that came to nothing and one that did not.

    Attributes:
        facts: Its plan.
    """

    facts: dict[str, Any]

    def tidy(self) -> None:
        """Publishes the day if that came to nothing, and goes on to the next."""
        if not self.folder.exists():
            assert ended(self.work, -1, signal.SIGKILL) == FINISHED
        assert verify(self.folder).intact
        day = self.job.window.first_day
        with self.ledger() as ledger:
            paid = [entry for entry in ledger.entries() if entry.kind == EntryKind.RESERVE]
        days = [entry.window.first_day for entry in paid if entry.window is not None]
        assert 0 < days.count(day) <= AGAIN
        assert max(days) == day
        self.job = job_of(self.facts, self.job.plan.folder, day + timedelta(days=1))


def job_of(facts: dict[str, Any], folder: Path, day: date) -> Job:
    step = f"{day}" if "series" in facts else None
    job = prepare(plan_from(facts, folder=folder, step=step))
    assert isinstance(job.geography, ODCells)
    return replace(job, rows=RowsInMemory(cells=job.geography))


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "rolling"])
def scene(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("endings")
    write_little_files(folder)
    facts = little_plan("od")
    # Nothing to compile and little to write: what matters here is the order of things.
    facts["mechanism"] = {"name": "laplace", "form": "dense"}
    if request.param == "postgresql":
        facts["ledger"]["url"] = request.getfixturevalue("postgres_url")
    if request.param == "rolling":
        budget = str(AGAIN * SPAN.steps * Fraction(facts["privacy"]["epsilon"]))
        facts["series"] = {"step": SPAN.step, "steps_per_span": SPAN.steps, "budget": budget}
        facts["release"]["folder"] = "{step}"
    job = job_of(facts, folder, date(2026, 3, 2))
    limit = job.plan.span_limit
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(
            job.account,
            PureLoss(Fraction(100_000)) if limit is None else limit,
            span=None if limit is None else SPAN,
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ODContents, "picture", lambda _self, _certificate: b"no picture")
        yield Scene(job=job) if limit is None else Steps(job=job, facts=facts)


def moments(scene: Scene, notes: Path, every: int = 1) -> list[int]:
    """Returns the moments of a publish to end it at."""

    def work(clock: Clock) -> None:
        seal = write._write_seal

        def telling(*args: Any) -> None:
            (notes / "sealing").write_text(str(clock.now), encoding="utf-8")
            seal(*args)

        write._write_seal = telling  # type: ignore[assignment]  # in a process that ends
        scene.work(clock)
        (notes / "done").write_text(str(clock.now), encoding="utf-8")

    assert ended(work, -1, signal.SIGKILL) == FINISHED
    scene.tidy()
    sealing, done = (int((notes / name).read_text("utf-8")) for name in ("sealing", "done"))
    return [*range(1, sealing, BEFORE_SEAL), *range(sealing, done + 1, every)]


def published(kinds: set[str]) -> bool:
    return kinds == {EntryKind.RESERVE, EntryKind.PUBLISH}


def abandoned(kinds: set[str]) -> bool:
    return kinds == {EntryKind.RESERVE, EntryKind.ABANDON}


def check_story(scene: Scene, before: dict[str, set[str]], *, settled: bool) -> None:
    """Makes sure that what can be seen is in the ledger, and the other way round."""
    fresh = {name: kinds for name, kinds in scene.kinds().items() if name not in before}
    assert len(fresh) <= 1
    seen = scene.folder.exists()
    if seen:
        assert verify(scene.folder).intact
        assert [published(kinds) for kinds in fresh.values()] == [True]
    if settled:
        assert not hidden_folder(scene.folder).exists()
        for kinds in fresh.values():
            assert published(kinds) if seen else abandoned(kinds)


@pytest.mark.parametrize("every", EVERY)
def test_a_killed_publish_can_always_be_settled(scene: Scene, tmp_path: Path, every: int) -> None:
    outcomes = set()
    for moment in moments(scene, tmp_path, every):
        before = scene.kinds()
        code = ended(scene.work, moment, signal.SIGKILL)
        # The last moments come and go with what the database has to put away.
        assert code in {-signal.SIGKILL, FINISHED}, moment
        check_story(scene, before, settled=False)
        with scene.ledger() as ledger:
            list(settle_plan(scene.folder, ledger))
        check_story(scene, before, settled=True)
        fresh = [kinds for name, kinds in scene.kinds().items() if name not in before]
        outcomes.add((scene.folder.exists(), bool(fresh)))
        scene.tidy()
    # Nothing spent, spent and lost, spent and published.
    assert outcomes == {(False, False), (False, True), (True, True)}
    with scene.ledger() as ledger:
        assert ledger.check() == []


@pytest.mark.parametrize("every", EVERY)
def test_an_interrupted_publish_leaves_one_story(scene: Scene, tmp_path: Path, every: int) -> None:
    for moment in moments(scene, tmp_path, every)[::3]:
        before = scene.kinds()
        assert ended(scene.work, moment, signal.SIGINT) in {INTERRUPTED, FINISHED}, moment
        check_story(scene, before, settled=False)
        if hidden_folder(scene.folder).exists():
            # Interrupted between the seal and the ledger: whole, and waiting.
            with scene.ledger() as ledger:
                list(settle_plan(scene.folder, ledger))
        check_story(scene, before, settled=True)
        scene.tidy()


def test_the_next_publish_to_the_place_finishes_what_was_left(scene: Scene, tmp_path: Path) -> None:
    sealed = moments(scene, tmp_path)[-1] - 1
    before = scene.kinds()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "publish", _gone)
        with pytest.raises(LedgerError) as caught:
            publish(scene.job)
    assert "whole and waits beside its place" in " ".join(caught.value.__notes__)
    assert hidden_folder(scene.folder).exists()
    assert sealed > 0
    with pytest.raises(ReleaseError, match="has taken its place now"):
        publish(scene.job)
    check_story(scene, before, settled=True)
    assert scene.folder.exists()
    scene.tidy()


def _gone(*_: Any, **__: Any) -> None:
    raise LedgerError("The ledger does not answer.", advice="Wait.")


def test_two_who_publish_to_one_place_do_not_both_pay(scene: Scene) -> None:
    before = scene.kinds()
    with claimed(scene.folder), pytest.raises(ReleaseError, match="Another process"):
        publish(scene.job)
    assert scene.kinds() == before
    assert not hidden_folder(scene.folder).exists()


@pytest.mark.parametrize("name", ["x" * 250, "release/..", "a\0b", "."])
def test_a_place_that_cannot_be_is_refused_before_paying(scene: Scene, name: str) -> None:
    before = scene.kinds()
    release = scene.job.plan.release.model_copy(update={"folder": name})
    plan = scene.job.plan.model_copy(update={"release": release})
    with pytest.raises(ReleaseError):
        publish(replace(scene.job, plan=plan))
    assert scene.kinds() == before
