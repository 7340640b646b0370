"""The steps of a prefix tree as a small CSV file that can be read back exactly."""

from hushway.families.sequences.files.taxonomy import grain_name
from hushway.families.sequences.mechanism.table import SequenceTable, StepSummary
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.release.bounded import PAPER_BYTES, csv_rows, rewritten
from hushway.release.formats.places import csv_bytes

COLUMNS = ("stop", "granularity", "candidates", "threshold", "kept", "standard_error")


def levels_csv(table: SequenceTable) -> bytes:
    """Returns what is public about every step; stops are counted from 1."""
    return _render(table.taxonomy, table.steps)


def read_levels(data: bytes, taxonomy: Taxonomy) -> tuple[StepSummary, ...]:
    """Reads the steps back.

    Raises:
        ReleaseError: The bytes are not what `levels_csv` writes.
    """
    grains = {grain_name(taxonomy, grain): grain for grain in range(taxonomy.grains)}
    _, *rows = csv_rows("levels.csv", data, most=PAPER_BYTES, width=len(COLUMNS))
    steps = tuple(
        StepSummary(
            stop=int(stop) - 1,
            grain=grains[name],
            candidates=int(candidates),
            threshold=int(threshold),
            kept=int(kept),
            standard_error=float(error),
        )
        for stop, name, candidates, threshold, kept, error in rows
    )
    if _render(taxonomy, steps) != data or any(step.kept < 0 for step in steps):
        raise rewritten("levels.csv")
    return steps


def _render(taxonomy: Taxonomy, steps: tuple[StepSummary, ...]) -> bytes:
    rows = (
        (
            str(step.stop + 1),
            grain_name(taxonomy, step.grain),
            str(step.candidates),
            str(step.threshold),
            str(step.kept),
            repr(float(step.standard_error)),
        )
        for step in steps
    )
    return csv_bytes(COLUMNS, rows)
