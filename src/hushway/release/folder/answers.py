"""The noisy answers of a release: one more file, from which anybody can fit the release again."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import damaged
from hushway.privacy.answers import Replaying
from hushway.privacy.certificate import Certificate
from hushway.privacy.measured import KeptAnswer
from hushway.progress import Progress
from hushway.release.folder.published_file import PARQUET_TYPE, Contents, Description, Resource
from hushway.release.formats.columns import WHOLE, Column, Columns
from hushway.release.mechanism import Measurements, Mechanism
from hushway.release.untrusted.parquet import open_parquet

ANSWERS: Final = "noisy_answers.parquet"
MOST_BYTES: Final = 32 << 20
_MOST_ROWS: Final = 1 << 24
NOT_KEPT: Final = (
    "The noisy answers are not kept with this release, so that nobody can fit it again, and no "
    "later release learns from it."
)
_COLUMNS: Final = Columns(
    (
        Column("measurement", WHOLE, "Number of the measurement on the certificate, from 1."),
        Column(
            "threshold",
            pa.bool_(),
            "Whether the value is no answer, but the value from which on cells were shown; the "
            "cell is then the number of a group of cells.",
        ),
        Column(
            "skipped",
            WHOLE,
            "Cells without a row between the row before and this one: a measurement begins with "
            "cell 0, and all cells have a row unless some were below a threshold.",
        ),
        Column("value", WHOLE, "The noisy answer, which may be negative, or what was chosen."),
    )
)
_RESOURCE: Final = Resource(
    path=ANSWERS,
    title="Noisy answers",
    description="Everything that was measured, with its noise and before any fit: all that a fit "
    "has seen of the rows. From it and the public files anybody can compute the published table "
    "again: hushway verify RELEASE --refit.",
    mediatype=PARQUET_TYPE,
    schema=_COLUMNS.described,
)


def with_answers(description: Description, *, kept: bool) -> Description:
    """Returns what a data package says of a release with its noisy answers, or without."""
    if kept:
        return replace(description, resources=(*description.resources, _RESOURCE))
    return replace(description, omitted={**description.omitted, ANSWERS: NOT_KEPT})


def answers_parquet(answers: Sequence[KeptAnswer] | None) -> bytes | None:
    """Returns noisy answers as a file; None if it would be larger than `MOST_BYTES`."""
    if answers is None or sum(len(one.values) for one in answers) > _MOST_ROWS:
        return None
    file = io.BytesIO()
    with pq.ParquetWriter(file, _COLUMNS.schema, compression="zstd") as writer:
        for number, answer in enumerate(answers, 1):
            writer.write_batch(_batch(number, answer))
    return file.getvalue() if file.tell() <= MOST_BYTES else None


def _batch(number: int, answer: KeptAnswer) -> pa.RecordBatch:
    limits = np.zeros(0, dtype=np.int64) if answer.thresholds is None else answer.thresholds
    rows, groups = len(answer.values), len(limits)
    skipped = np.zeros(groups + rows, dtype=np.int64)
    if answer.cells is not None:
        skipped[groups:] = np.diff(answer.cells, prepend=-1) - 1
    return pa.record_batch(
        [
            np.full(groups + rows, number),
            pa.array(np.arange(groups + rows) < groups),
            skipped,
            np.concatenate([limits, answer.values]),
        ],
        schema=_COLUMNS.schema,
    )


def read_answers(path: Path) -> tuple[KeptAnswer, ...]:
    """Reads the noisy answers of a release, which may be a stranger's.

    Raises:
        ReleaseError: The file is not as hushway writes it.
    """
    with open_parquet(path, _COLUMNS.schema, rows=_MOST_ROWS) as file:
        table = file.read()
    number, skipped, value = (
        table[name].to_numpy() for name in ("measurement", "skipped", "value")
    )
    threshold = table["threshold"].to_numpy()
    steps = np.diff(number, prepend=0)
    if table.column("value").null_count or not np.isin(steps, (0, 1)).all() or skipped.min() < 0:
        raise damaged(f"{ANSWERS} does not list the answers of one measurement after the other.")
    ends = np.searchsorted(number, np.arange(1, int(number[-1]) + 2))
    return tuple(
        _answer(threshold[start:end], skipped[start:end], value[start:end])
        for start, end in pairwise(ends)
    )


def measured_again(
    folder: Path, certificate: Certificate, mechanism: Mechanism[Any, Any], geography: Any
) -> Measurements:
    """Returns what a mechanism measured for a release, read from the kept noisy answers.

    Privacy:
        The mechanism is handed a curator that has no rows.

    Raises:
        ReleaseError: The answers are not those of the certificate, or cannot be read.
    """
    curator = Replaying(certificate.terms.events, read_answers(folder / ANSWERS))
    measured = mechanism.measure(curator, geography)
    curator.finish()
    return measured


def _answer(threshold: IntArray, skipped: IntArray, value: IntArray) -> KeptAnswer:
    groups = int(threshold.sum())
    if threshold[groups:].any():
        raise damaged(f"{ANSWERS} has a threshold among its answers.")
    if groups == 0 and not skipped.any():
        return KeptAnswer(values=value)
    cells = np.cumsum(skipped[groups:] + 1) - 1
    return KeptAnswer(values=value[groups:], cells=cells, thresholds=value[:groups])


def keeping(contents: Contents, answers: bytes | None) -> Contents:
    """Returns contents that hold the noisy answers too, or say that they are not kept."""
    return _Keeping(contents=contents, answers=answers)


@dataclass(frozen=True, kw_only=True)
class _Keeping:
    """Contents of a release with its noisy answers."""

    contents: Contents
    answers: bytes | None

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the contents and the certificate belong together."""
        self.contents.check(certificate)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return with_answers(self.contents.description, kept=self.answers is not None)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        self.contents.write(folder, progress)
        if self.answers is not None:
            (folder / ANSWERS).write_bytes(self.answers)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns the picture of the contents."""
        return self.contents.picture(certificate)
