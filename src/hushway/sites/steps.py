"""The series in a site: sums of each step, taken where it is drawn, and put together here."""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol

from hushway.errors import HushwayError, ReleaseError
from hushway.families.reader import open_release
from hushway.families.series import measured, span_of, window_of
from hushway.release.questions.answers import Answer, interval, total
from hushway.release.questions.cells import AskedCells
from hushway.release.questions.steps import Change, Measured, Pair, added, changes, lengths

# Of what there are more, no trends are drawn, and no changes told.
_MOST_LABELS: Final = 2000
# A release of more numbers is told as a whole only: it must be drawn in a minute.
_MOST_NUMBERS: Final = 1 << 20
_MOST_CHANGES: Final = 20
_PERIODS: Final = "periods"
_BETWEEN: Final = "\0"


class Stepped(Protocol):
    """A release of a site, perhaps one step of a series."""

    @property
    def slug(self) -> str:
        """Its address in the site."""

    @property
    def sums(self) -> Mapping[str, Any] | None:
        """What `sums_of` found; None if it cannot be asked or was not."""


def sums_of(folder: Path) -> dict[str, Any] | None:
    """Returns the sums of a release that was verified, as plain values.

    None if it is no step: it holds no times, or cannot be asked.
    """
    release = open_release(folder, trusted=True)
    try:
        days, cells = window_of(release), release.cells
    except HushwayError:
        return None
    terms = release.certificate.terms
    whole = total(cells, {})
    return {
        "days": [day.isoformat() for day in days],
        "alike": [terms.release_type, str(terms.unit), release.certificate.account.dataset],
        "counted": cells.counted,
        "noise_alone": cells.noise_alone,
        "learnt": cells.learnt,
        "whole": [whole.value, whole.standard_error],
        "labels": {} if cells.selected or len(cells.counts) > _MOST_NUMBERS else _labels(cells),
    }


def _labels(cells: AskedCells) -> dict[str, Any]:
    """Returns sums by label of every dimension that has not too many."""
    return {
        by: {key: [one.label, one.value, one.error] for key, one in measured(cells, {}, by).items()}
        for by, dimension in cells.dimensions.items()
        if by != _PERIODS and len(dimension.ids) <= _MOST_LABELS
    }


def series_of(releases: Sequence[Stepped]) -> dict[str, Any] | None:
    """Returns what a site says of its releases as a series; None if they are none."""
    known = sorted(
        ((one.sums, one.slug) for one in releases if one.sums is not None),
        key=lambda each: each[0]["days"],
    )
    alike = {tuple(sums["alike"]) for sums, _ in known}
    windows = [_days(sums) for sums, _ in known]
    if len(known) < len(releases) or len(known) < 2 or len(alike) > 1:  # noqa: PLR2004
        return None
    try:
        span = span_of(windows)
    except ReleaseError:
        return None
    steps = {span.name(first): each for (first, _), each in zip(windows, known, strict=True)}
    if len(steps) < len(known):
        return None
    answers = {
        step: Answer(label=step, **interval(*sums["whole"])) for step, (sums, _) in steps.items()
    }
    independent = all(sums["noise_alone"] for sums, _ in known)
    longer = [
        one
        for length in lengths(span.step)[1:]
        for one in added(answers, span, length, independent=independent)
    ]
    every = [*span.names(windows[0][0], windows[-1][1])]
    return {
        "step": span.step,
        "counted": known[0][0]["counted"],
        "steps": [
            {
                "name": step,
                "slug": steps[step][1] if step in steps else None,
                "count": answers[step].value if step in steps else None,
                "error": answers[step].standard_error if step in steps else None,
            }
            for step in every
        ],
        "longer": [_facts(one) for one in longer],
        "changes": [
            {**_facts(one), "earlier": one.earlier, "later": one.later}
            for one in _changes({step: sums for step, (sums, _) in steps.items()})
        ],
        "labels": _courses(every, {step: sums for step, (sums, _) in steps.items()}),
    }


def _days(sums: Mapping[str, Any]) -> tuple[date, date]:
    first, last = map(date.fromisoformat, sums["days"])
    return first, last


def _facts(one: Answer) -> dict[str, Any]:
    return {"label": one.label, "count": one.value, "low": one.low, "high": one.high}


def _changes(steps: Mapping[str, Mapping[str, Any]]) -> list[Change]:
    """Returns what changed beyond noise from each step to the next: labels, and everything."""
    sums = {step: _measured(found) for step, found in steps.items()}
    pairs = (
        Pair(
            earlier=one,
            later=other,
            before=sums[one],
            after=sums[other],
            learnt=steps[one]["learnt"] or steps[other]["learnt"],
        )
        for one, other in pairwise(steps)
    )
    return [*changes(pairs, top=_MOST_CHANGES)]


def _measured(found: Mapping[str, Any]) -> dict[str, Measured]:
    # Where which numbers are published is noise itself, everything is not compared either.
    value, error = found["whole"]
    whole = Measured(label=f"all {found['counted']}", value=value, error=error)
    named = {
        f"{by}{_BETWEEN}{key}": Measured(label=f"{by} {label}", value=value, error=error)
        for by, labels in found["labels"].items()
        for key, (label, value, error) in labels.items()
    }
    return {"": whole, **named} if named else {}


def _courses(
    every: Sequence[str], steps: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, list[list[float] | None]]]:
    """Returns by dimension and id the count and its error in every step, or nothing."""
    found: dict[str, dict[str, list[list[float] | None]]] = {}
    for at, step in enumerate(every):
        for by, labels in steps[step]["labels"].items() if step in steps else ():
            for key, (_, value, error) in labels.items():
                course = found.setdefault(by, {}).setdefault(key, [None] * len(every))
                course[at] = [round(max(value, 0.0), 2), round(error, 2)]
    return found
