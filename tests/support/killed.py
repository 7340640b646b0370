"""Publishes a family's little plan again and again, and kills it each time at another moment.

`python -m support.killed FOLDER FAMILY` prints a story for each: whether a release is shown, and
what the ledger says of it, once both are settled. The first is of a publish that nobody killed.
"""

import json
import shutil
import signal
import sys
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import hushway.families.od.files.picture  # noqa: F401  every child would load the drawing by itself
from hushway.families.load import plan_from, prepare
from hushway.families.verify import verify
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.release.folder.place import hidden_folder
from hushway.release.job import Job
from hushway.steward.publish import publish
from hushway.steward.settle import settle_plan
from support.dying import FINISHED, Clock, ended
from support.little_plans import little_plan, write_little_files

Story = tuple[bool, list[str]]


@dataclass
class Killing:
    """A job to be killed.

    Attributes:
        folder: Where its files lie.
        job: The job.
        told: The kinds of the entries that earlier stories told.
    """

    folder: Path
    job: Job
    told: list[str] = field(default_factory=list)

    @property
    def notes(self) -> Path:
        """Where a publish that ends by itself leaves the number of its moments."""
        return self.folder / "moments"

    def work(self, clock: Clock) -> None:
        """Publishes, watched by the clock."""
        clock.watch()
        publish(self.job, anyway=True)
        self.notes.write_text(str(clock.now), encoding="utf-8")

    def story(self) -> Story:
        """Settles what a publish left, looks at it, and clears it away."""
        place = self.folder / "release"
        with Ledger.connect(self.job.plan.ledger_url()) as ledger:
            list(settle_plan(place, ledger))
            assert ledger.check() == []
            kinds = [str(entry.kind) for entry in ledger.entries() if entry.release]
        fresh, self.told = kinds[len(self.told) :], kinds
        shown = place.exists() and verify(place).intact
        assert not hidden_folder(place).exists()
        shutil.rmtree(place, ignore_errors=True)
        return shown, fresh

    def stories(self) -> list[Story]:
        """Publishes once undisturbed, then is killed early, in the middle and at the very end."""
        assert ended(self.work, -1, signal.SIGKILL) == FINISHED
        told = [self.story()]
        last = int(self.notes.read_text("utf-8"))
        for moment in (1, last // 4, last // 2, 3 * last // 4, last - 8, last - 4, last - 1):
            assert ended(self.work, moment, signal.SIGKILL) in {FINISHED, -signal.SIGKILL}
            told.append(self.story())
        return told


def main(folder: Path, family: str) -> None:
    """Prints the stories of a family."""
    write_little_files(folder)
    job = prepare(plan_from(little_plan(family), folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(100_000)))
    sys.stdout.write(json.dumps(Killing(folder=folder, job=job).stories()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
