"""What a tree of taps in files must not give away, counted by the engine that plans use."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hushway.arrays import IntArray
from hushway.audit.bounds import runs_needed
from hushway.audit.files import microseconds
from hushway.audit.harness import Examination, Sampler, Trial
from hushway.audit.product import Look
from hushway.families.sequences.audit.looks import FirstStep
from hushway.families.sequences.audit.measured import MAX_RECORDS
from hushway.families.sequences.audit.product import GROUPED, SequenceProduct, TreeStage
from hushway.families.sequences.audit.toy import Walk, WalkRows, Walks, days_of
from hushway.families.sequences.rows.sequences import TapColumns, TapsSource
from hushway.privacy.loss import PureLoss

_DAYS = 10
_HOUR_US, _SECOND_US = 3_600_000_000, 1_000_000
_DAY_US = 24 * _HOUR_US


def many_days(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Taps of one person on ten days, two in each of five files: three days count."""
    stage = FileTreeStage(
        product=product, form=GROUPED, spend=PureLoss(epsilon), max_records=MAX_RECORDS
    )
    look = FirstStep(stage=stage, places=(0, 1)).first
    share = epsilon / GROUPED.steps
    return Trial(
        name="files: ten days of one person in five files or none",
        statistic="the noisy count of the first group (0 if it is not kept)",
        epsilon=share,
        worlds=stage.worlds(look, ("the person", (Walk(stops=(0,), times=_DAYS),))),
        tight=True,
        effort=Fraction(runs_needed(share), runs_needed(epsilon)),
    )


@dataclass(frozen=True, kw_only=True)
class FileTreeStage(TreeStage):
    """A stage whose records are taps in files, each record on a day of its own."""

    def sampler(self, scene: Walks, look: Look) -> Sampler:
        """Returns a way to run a scene: it is written once, and read again for each release."""
        rows = self.village.play(scene)
        record = np.repeat(np.arange(len(rows.person)), np.diff(rows.start))
        columns = {
            "person": rows.person[record],
            "location": rows.stops,
            "time": self._times(rows, record),
        }
        return self.sampler_of_files(columns, lambda folder: TapsSource(folder, TapColumns()), look)

    def _times(self, rows: WalkRows, record: IntArray) -> IntArray:
        """Returns when each tap was: a day for each record of a person, a second for each stop."""
        order = np.argsort(rows.person, kind="stable")
        first = np.searchsorted(rows.person[order], rows.person[order])
        day = np.empty_like(order)
        day[order] = np.arange(len(order)) - first
        stop = np.arange(len(record)) - rows.start[record]
        window = self.village.universe.periods or days_of(1)
        since = day[record] * _DAY_US + stop * _SECOND_US + rows.periods * _HOUR_US
        return microseconds(window.first_day, since + window.opens * 60 * _SECOND_US)
