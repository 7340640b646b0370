"""A series as a folder: its releases, one table over all steps, and what catalogues read of it."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from hushway.families.sealed import sealed_release
from hushway.families.series import Series, measured, open_series
from hushway.privacy.certificate import canonical_json
from hushway.release.documents.linked_data import render_dcat_series
from hushway.release.documents.package import described_file, package_facts
from hushway.release.documents.papers import DCAT, PACKAGE, README
from hushway.release.documents.readme import plain_words
from hushway.release.folder.new_file import refuse_taken
from hushway.release.folder.new_folder import new_folder
from hushway.release.folder.published_file import CSV_TYPE, Resource
from hushway.release.folder.seal import SealedFile
from hushway.release.formats.columns import NUMBER, TEXT, WHOLE, Column, Columns
from hushway.release.formats.interval import INTERVAL
from hushway.release.formats.places import csv_bytes
from hushway.release.questions.answers import Answer, interval, total
from hushway.release.questions.steps import StepAnswer, added, lengths

TABLE: Final = "series.csv"
EVERYTHING: Final = "everything"
# Sums of more labels than that are left to `hushway ask`.
_MOST_LABELS: Final = 10_000
_LABELS = Columns(
    (
        Column("by", TEXT, "What the sum is told apart by, such as origins; or everything."),
        Column("id", TEXT, "The public id of it; empty for everything."),
        Column("length", TEXT, "How long it is: a step, or what steps add up to."),
        Column("period", TEXT, "Which one: 2026-04, 2026-Q2 or 2026."),
        Column("steps", WHOLE, "How many steps are in it."),
        Column("missing", TEXT, "Steps of the same quarter or year that are not, with spaces."),
        Column("count", NUMBER, "The sum: what steps answer, added up exactly."),
        Column("standard_error", NUMBER, "Its standard error."),
        *INTERVAL,
    )
)
_RESOURCES = (
    Resource(
        path=README,
        title="Read this first",
        description="What the series is, and what is in it.",
        mediatype="text/markdown",
    ),
    Resource(
        path=TABLE,
        title="Sums over all steps",
        description="Everything, and every origin, area and so on, in every step and all that "
        "steps add up to. Shorter sums add up to longer ones.",
        mediatype=CSV_TYPE,
        schema=_LABELS.described,
    ),
    Resource(
        path=DCAT,
        title="Metadata for data portals",
        description="The series as a DatasetSeries of DCAT 3, with its members in order.",
        mediatype="application/ld+json",
    ),
)


def series(releases: Path | str | Sequence[Path | str], *, to: Path | str | None = None) -> Series:
    """Opens releases of one city as a series, one for each day, week, month or quarter.

    Steps are told by the days that releases cover; some may be missing. A revision takes the place
    of the release that it revises.

    Args:
        releases: The release folders, or folders that hold them.
        to: A new folder for copies of the releases, a table over all steps, and metadata.

    Raises:
        ReleaseError: There is none, one is not as it was sealed, two are of the same step, they are
            not of one type, protected unit, data set and kind of step, or the folder cannot be
            written.
    """
    opened = open_series(releases)
    if to is not None:
        _write(opened, Path(to))
    return opened


def _write(series: Series, folder: Path) -> None:
    """Writes a series with copies of its releases into a new folder, whole or not at all.

    The same releases give the same bytes.

    Raises:
        ReleaseError: Something is there already, a release was changed meanwhile, or the disk
            refuses.
    """
    refuse_taken(folder)
    with new_folder(folder, "series") as hidden:
        for step, release in series.releases.items():
            shutil.copytree(release.folder, hidden / step, symlinks=True)
            sealed_release(hidden / step)
        _write_papers(series, hidden)


def _write_papers(series: Series, folder: Path) -> None:
    certificates = {step: one.certificate for step, one in series.releases.items()}
    rows = csv_bytes(_LABELS.names, table_rows(series))
    (folder / TABLE).write_bytes(rows)
    (folder / DCAT).write_bytes(render_dcat_series(certificates, series.span, series.sentence))
    (folder / README).write_text(_readme(series), encoding="utf-8")
    members = [
        Resource(
            path=f"{step}/{PACKAGE}",
            title=certificate.title,
            description=f"The release of {step}.",
            mediatype="application/json",
        )
        for step, certificate in certificates.items()
    ]
    facts = {
        **package_facts(certificates[series.steps[-1]]),
        "title": series.title,
        "name": "series",
        "description": series.sentence,
        "series": {"step": series.step, "steps": series.steps, "missing": series.missing},
        "resources": [
            described_file(resource, _sealed(folder / resource.path, resource.path))
            for resource in (*_RESOURCES, *members)
        ],
    }
    (folder / PACKAGE).write_bytes(canonical_json(facts))


def _sealed(file: Path, path: str) -> SealedFile:
    data = file.read_bytes()
    return SealedFile(path=path, size=len(data), sha256=sha256(data).hexdigest())


def table_rows(series: Series) -> Iterator[tuple[str, ...]]:
    """Yields sums of everything and of every label, by step and by all that steps add up to."""
    cells = {step: release.cells for step, release in series.releases.items()}
    independent = all(one.noise_alone for one in cells.values())
    whole = {"": {step: total(one, {}) for step, one in cells.items()}}
    for by, answers in [(EVERYTHING, whole), *_by_label(series)]:
        for key, steps in answers.items():
            for length in lengths(series.step):
                for one in added(steps, series.span, length, independent=independent):
                    yield (by, key, length, one.period, *_numbers(one))


def _by_label(series: Series) -> Iterator[tuple[str, Mapping[str, Mapping[str, Answer]]]]:
    """Yields the dimensions, with what each step answers for each of their labels."""
    cells = {step: release.cells for step, release in series.releases.items()}
    for by in next(iter(cells.values())).dimensions:
        if any(len(one.dimensions[by].ids) > _MOST_LABELS for one in cells.values()):
            continue
        found: dict[str, dict[str, Answer]] = {}
        for step, one in cells.items():
            for key, sums in measured(one, {}, by).items():
                answer = Answer(label=sums.label, **interval(sums.value, sums.error))
                found.setdefault(key, {})[step] = answer
        yield by, found


def _numbers(one: StepAnswer) -> tuple[str, ...]:
    count = f"{one.value:.4f}".rstrip("0").rstrip(".")
    ends = (f"{end:.2f}" for end in (one.standard_error, one.low, one.high))
    return (f"{len(one.steps)}", " ".join(one.missing), count, *ends)


def _readme(series: Series) -> str:
    gaps = f"There is no release of {', '.join(series.missing)}.\n\n" if series.missing else ""
    return (
        f"# {plain_words(series.title)}\n\n{plain_words(series.sentence)}\n\n{gaps}"
        f"- `{TABLE}`: sums over all steps, with intervals of 95%. Columns are described in "
        f"`{PACKAGE}`.\n"
        "- One folder for every step: the release as it was published, under its own seal.\n"
        "- Other sums: `hushway ask FOLDER --each quarter`; what changed beyond noise: "
        "`hushway ask FOLDER --changes`.\n"
        f"- All of `{TABLE}` follows from the releases: `hushway series FOLDER --to OTHER` makes "
        "it again.\n"
    )
