"""What a published release of any family gives: sums with their intervals, and synthetic rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.reader import open_release
from hushway.families.registry import family_certified
from hushway.families.series import Series, folders_of, open_series
from hushway.families.verify import verified
from hushway.progress import Progress, quiet
from hushway.release.questions.answers import Answer, difference, largest, ratio, total
from hushway.release.questions.cells import AskedCells, Where
from hushway.release.synthetic_file import SyntheticFile
from hushway.release.wording import counted_sentence


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What a release answers to a question.

    Attributes:
        counted: What is counted, such as "trips".
        of: What was counted, over which days, of which data, and what unit is protected.
        warning: What to beware of, as `Release.warning` says.
        notes: What readers of them must know, one sentence each.
    """

    counted: str
    of: str
    warning: str | None
    answers: tuple[Answer, ...]
    notes: Sequence[str]


def ask(  # noqa: PLR0913  a question has as many parts
    release: Path | str | Sequence[Path | str],
    *,
    where: Sequence[str] = (),
    minus: Sequence[str] = (),
    over: Sequence[str] = (),
    mean: str | None = None,
    top: int | None = None,
    by: str | None = None,
    each: str | None = None,
    changes: bool = False,
) -> Answered:
    """Answers a question about sums of a release or of a series, each with an interval of 95%.

    Every condition is a text such as "origins=A,B" or "periods=08:00"; a label is an id, a name or
    a zone, and * stands for any letters. Several conditions on one dimension are added up.

    Privacy:
        Reads published releases and nothing else: it costs nothing.

    Args:
        release: A release folder that is as it was sealed; or several, or a folder of them, of one
            step of a series each, whose sums are told by `each`.
        where: What to add up; everything unless said.
        minus: What to take off it: the answer is a difference.
        over: What to divide it by: the answer is a ratio.
        mean: Divides the sum by the number of these: "periods" for the mean of a period.
        top: So many of the largest, by what `by` names.
        by: What the largest, or the changes, are of, such as "origins".
        each: Of a series: "step", "quarter", "year" or another length that steps add up to.
        changes: Of a series: what changed from step to step by more than noise.

    Raises:
        ReleaseError: There is no such label, or the release cannot be asked.
    """
    folders = folders_of(release)
    several = bool(each or changes) or len(folders) > 1
    kinds = (minus, over, mean, each, changes or top)
    if sum(map(bool, kinds)) > 1 or (not changes and bool(top) != bool(by)):
        raise ReleaseError(
            "That asks for several things at once.",
            advice="Ask by one of --minus, --over, --mean, --each, --changes, or --top with --by.",
        )
    if several and (minus or over or mean or (top and not changes)):
        raise ReleaseError(
            "Differences, ratios, means and the largest are of one release.",
            advice="Ask one release of the series, or ask all of them for sums or --changes.",
        )
    if not several:
        return _of_release(folders[0], where, minus=minus, over=over, mean=mean, top=top, by=by)
    city = open_series(folders)
    asked: Where = _conditions([one.cells for one in city.releases.values()], where)
    if changes:
        return _of_series(city, city.changes(by, between=None, top=top, **asked), asked)
    return _of_series(city, city.sum(each or "step", **asked), asked)


def _of_release(
    release: Path,
    where: Sequence[str],
    *,
    minus: Sequence[str],
    over: Sequence[str],
    mean: str | None,
    top: int | None,
    by: str | None,
) -> Answered:
    opened = open_release(release)
    cells = opened.cells
    asked = _conditions([cells], where)
    if minus:
        answers = [difference(cells, asked, _conditions([cells], minus))]
    elif over:
        answers = [ratio(cells, asked, _conditions([cells], over))]
    elif top and by:
        answers = [*largest(cells, asked, by=by, top=top)]
    else:
        answers = [total(cells, asked, per=mean)]
    return Answered(
        counted=cells.counted,
        of=counted_sentence(opened.certificate),
        warning=opened.warning,
        answers=tuple(answers),
        notes=cells.notes,
    )


def _of_series(city: Series, answers: Sequence[Answer], where: Where) -> Answered:
    cells = [release.cells for release in city.releases.values()]
    warnings = {release.warning for release in city.releases.values() if release.warning}
    own = dict.fromkeys(note for each in cells for note in each.notes)
    return Answered(
        counted=cells[0].counted,
        of=city.sentence,
        warning=" ".join(sorted(warnings)) or None,
        answers=tuple(answers),
        notes=[*own, *city.notes(where)],
    )


def _conditions(cells: Sequence[AskedCells], texts: Sequence[str]) -> dict[str, list[str]]:
    """Reads conditions; commas part labels, unless they belong to one."""
    found: dict[str, list[str]] = {}
    for text in texts:
        name, is_there, labels = text.partition("=")
        if not is_there:
            raise ReleaseError(
                f"{text!r} is no condition.", advice="Write one such as origins=A,B."
            )
        whole = any(labels in each.dimension(name).ids for each in cells)
        found.setdefault(name, []).extend([labels] if whole else labels.split(","))
    return found


def synthesize(
    release: Path,
    path: Path,
    *,
    seed: int = 1,
    table: bool = False,
    mode: str = "car",
    progress: Progress = quiet,
) -> str:
    """Writes synthetic rows or travellers from a release, and says what was written.

    Privacy:
        Reads a published release and nothing else: it costs nothing.

    Args:
        release: A release folder.
        path: The file to write: rows as .csv or .parquet, a drawn OD table by period as .omx,
            travellers as MATSim plans (.xml, .xml.gz) or SUMO persons (.rou.xml).
        seed: Chooses the draw.
        table: Whether to write a drawn table instead of single rows.
        mode: How travellers move: car, transit, bicycle or walk.
        progress: Told in a few words what is being done.

    Raises:
        ReleaseError: There is nothing to draw from, the release does not verify, or the file cannot
            be written.
    """
    file = SyntheticFile(path=path, seed=seed, table=table, mode=mode)
    certificate, facts = verified(release)
    family = family_certified(certificate.terms.release_type)
    progress("Drawing synthetic rows")
    return family.synthesize(release, certificate, facts, file)
