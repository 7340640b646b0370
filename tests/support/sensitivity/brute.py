"""All rows, and all rows without one unit, counted by the real counters of some plans."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from hushway.engine.key import BoundingKey
from hushway.families.load import plan_from, prepare
from hushway.families.registry import FAMILIES
from hushway.privacy.query import Counter
from hushway.privacy.randomness import os_source
from hushway.release.job import CountingContext, Job, Rows
from support.conformance.engines import Engine, Placed
from support.conformance.plans import rows_option
from support.sensitivity.distances import Answers, Question, questions_of, reached, violations
from support.sensitivity.plans import Bounding, Group
from support.sensitivity.worlds import Row, as_table, nasty_rows, neighbours

# Sections of a plan that may differ between jobs that share their public files.
_REPLANNED = ("privacy", "mechanism")


@dataclass(frozen=True, kw_only=True)
class Found:
    """What brute force has found.

    Attributes:
        broken: Units that move an answer further than its noise is for, and how far.
        slack: Plans of which no unit moves any answer as far as its noise is for.
    """

    broken: tuple[str, ...]
    slack: tuple[str, ...]


@dataclass(kw_only=True)
class _Asked:
    """A plan, its job, and what it asks of all rows."""

    plan: Bounding
    job: Job
    questions: list[Question] = field(default_factory=list)
    whole: Answers | None = None
    tight: bool = False


def brute_force(group: Group, engine: Engine, folder: Path, key: BoundingKey) -> Found:
    """Takes one unit after the other out of nasty rows, and asks what the plans' mechanisms ask."""
    first = group.plans[0]
    groups = nasty_rows(first, folder)
    placed = _put(engine, folder, first, [row for rows in groups.values() for row in rows])
    context = CountingContext(
        key=key, bits=os_source(), settings=placed.settings, progress=lambda _: None
    )
    asked = [_Asked(plan=plan, job=job) for plan, job in _jobs(group, folder, placed)]
    for one, counter in _counted(asked, context):
        one.questions = questions_of(one.job, counter)
        one.whole = Answers.of(counter, one.questions)
    broken: list[str] = []
    for gone, rows in neighbours(first, groups):
        _put(engine, folder, first, rows)
        for one, counter in _counted(asked, context):
            others = Answers.of(counter, one.questions)
            assert one.whole is not None
            found = violations(one.whole, others, one.questions)
            broken += [f"{one.plan}: without {gone}: {words}" for words in found]
            one.tight |= reached(one.whole, others, one.questions)
    slack = tuple(str(one.plan) for one in asked if not one.tight)
    return Found(broken=tuple(broken), slack=slack)


def _put(engine: Engine, folder: Path, plan: Bounding, rows: list[Row]) -> Placed:
    """Puts rows where all others were before, so that jobs need not be prepared again."""
    place = folder / "rows"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return next(iter(engine.put(as_table(rows, plan), place)))


def _jobs(group: Group, folder: Path, placed: Placed) -> list[tuple[Bounding, Job]]:
    jobs: list[tuple[Bounding, Job]] = []
    first = _facts(group.plans[0], placed)
    for plan in group.plans:
        facts = _facts(plan, placed)
        made = plan_from(facts, folder=folder)
        alike = all(facts.get(name) == first.get(name) for name in first if name not in _REPLANNED)
        job = FAMILIES[plan.family].replan(jobs[0][1], made) if jobs and alike else prepare(made)
        jobs.append((plan, job))
    return jobs


def _facts(plan: Bounding, placed: Placed) -> dict[str, object]:
    facts = plan.facts()
    option = "sequences" if "sequences" in facts["data"] else rows_option(plan.family)
    facts["data"][option] = str(placed.path)
    return facts


def _counted(asked: list[_Asked], context: CountingContext) -> list[tuple[_Asked, Counter]]:
    """Returns who counts for each plan: one counter for all that count the same."""
    counters: list[tuple[Rows, Counter]] = []
    found = []
    for one in asked:
        rows = one.job.rows
        counter = next((counter for known, counter in counters if known == rows), None)
        if counter is None:
            counter = rows.counter(context)
            counters.append((rows, counter))
        found.append((one, counter))
    return found
