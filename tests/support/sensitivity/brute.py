"""All rows, and all rows without one unit, counted by the real counter of a plan."""

from dataclasses import dataclass
from pathlib import Path

from hushway.engine.key import BoundingKey
from hushway.families.load import plan_from, prepare
from hushway.privacy.query import Counter
from hushway.privacy.randomness import os_source
from hushway.release.job import CountingContext, Job
from support.conformance.engines import Engine
from support.conformance.plans import ROWS
from support.sensitivity.distances import Answers, questions_of, reached, violations
from support.sensitivity.plans import Bounding
from support.sensitivity.worlds import Row, as_table, nasty_rows, neighbours


@dataclass(frozen=True, kw_only=True)
class Found:
    """What brute force has found.

    Attributes:
        broken: Units that move an answer further than its noise is for, and how far.
        reached: Whether some unit moves an answer as far as its noise is for.
    """

    broken: tuple[str, ...]
    reached: bool


@dataclass(frozen=True, kw_only=True)
class _Worlds:
    """Where rows of a plan are put, again and again."""

    bounding: Bounding
    engine: Engine
    folder: Path
    key: BoundingKey

    def counted(self, number: int, rows: list[Row]) -> tuple[Job, Counter]:
        """Returns the job of rows in a place of their own, and who counts them."""
        place = self.folder / str(number)
        place.mkdir()
        placed = next(iter(self.engine.put(as_table(rows, self.bounding), place)))
        facts = self.bounding.facts()
        option = "sequences" if "sequences" in facts["data"] else ROWS[self.bounding.family]
        facts["data"][option] = str(placed.path)
        job = prepare(plan_from(facts, folder=self.folder))
        context = CountingContext(
            key=self.key, bits=os_source(), settings=placed.settings, progress=lambda _: None
        )
        return job, job.rows.counter(context)


def brute_force(bounding: Bounding, engine: Engine, folder: Path, key: BoundingKey) -> Found:
    """Takes one unit after the other out of nasty rows, and asks what a plan's mechanism asks."""
    groups = nasty_rows(bounding, folder)
    worlds = _Worlds(bounding=bounding, engine=engine, folder=folder, key=key)
    everybody = [row for group in groups.values() for row in group]
    job, counter = worlds.counted(0, everybody)
    questions = questions_of(job, counter)
    whole = Answers.of(counter, questions)
    broken: list[str] = []
    tight = False
    for number, (gone, rows) in enumerate(neighbours(bounding, groups), start=1):
        others = Answers.of(worlds.counted(number, rows)[1], questions)
        broken += [f"{gone}: {words}" for words in violations(whole, others, questions)]
        tight |= reached(whole, others, questions)
    return Found(broken=tuple(broken), reached=tight)
