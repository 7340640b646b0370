"""Releases of one city, step by step: sums over months, quarters and years, and what changed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, get_args

from hushway.errors import ReleaseError
from hushway.escaping import visible
from hushway.families.reader import Release, open_release
from hushway.families.step_days import days_of
from hushway.privacy.ledger.span import Span, Step
from hushway.release.folder.seal import SEAL
from hushway.release.others import Vintage, named, revised_by, vintage_of
from hushway.release.wording import plural

if TYPE_CHECKING:
    from hushway.release.questions.cells import AskedCells, Where
    from hushway.release.questions.steps import Change, Measured, Pair, StepAnswer

# What must be the same in all releases of a series, and how to call it.
_ALIKE: Final[Mapping[str, Callable[[Release], str]]] = {
    "types": lambda release: release.certificate.terms.release_type,
    "protected units": lambda release: str(release.certificate.terms.unit),
    "data sets": lambda release: visible(release.certificate.account.dataset),
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Series:
    """Releases of one city, one for each step. Made by `hushway.series`.

    Attributes:
        step: What a step is: a day, week, month or quarter.
        releases: The release of each step, by its name such as 2026-04, in order.
        missing: Steps between the first and the last that have no release.
    """

    step: Step
    releases: Mapping[str, Release]
    missing: tuple[str, ...]

    def __repr__(self) -> str:
        gaps = f", without {', '.join(self.missing)}" if self.missing else ""
        size = plural(len(self.steps), self.step)
        return f"Series({size}, {self.steps[0]} to {self.steps[-1]}{gaps})"

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of its steps, in order."""
        return tuple(self.releases)

    def sum(self, by: str = "step", **where: "str | Sequence[str]") -> "tuple[StepAnswer, ...]":
        """Returns sums of published numbers by step, quarter or year, with intervals of 95%.

        What a step answers is what its release answers, and longer sums are these added up. Steps
        whose release does not list what is asked for are left out.

        Args:
            by: "step", or what steps add up to: "week", "month", "quarter" or "year".
            where: Labels to add up, by dimension, as for `Release.sum`.

        Raises:
            ReleaseError: No release has such a label, or steps do not add up to that.
        """
        from hushway.release.questions.answers import total
        from hushway.release.questions.steps import added

        asked = self._listing(where)
        answers = {step: total(cells, where) for step, cells in asked.items()}
        independent = all(cells.noise_alone for cells in asked.values())
        return tuple(added(answers, self.span, by, independent=independent))

    def changes(
        self,
        by: str | None = None,
        *,
        between: tuple[str, str] | None = None,
        top: int | None = None,
        **where: "str | Sequence[str]",
    ) -> "tuple[Change, ...]":
        """Returns what changed from step to step by more than noise, the surest first.

        At most 5% of what is returned is noise, on average.

        Args:
            by: A dimension whose sums are compared one by one, such as "origins"; the whole sum
                unless said. Only labels that both releases list are compared.
            between: Two steps, the earlier one first; every step with the next one unless said.
            top: At most so many.
            where: What is added up, as for `sum`.

        Raises:
            ReleaseError: No release has such a label, or there is no such step.
        """
        from hushway.release.questions.steps import changes

        asked = self._listing(where)
        pairs = (
            pair_of(earlier, later, asked, where, by)
            for earlier, later in self._pairs(between)
            if earlier in asked and later in asked
        )
        return tuple(changes(pairs, top=top))

    def _pairs(self, between: tuple[str, str] | None) -> list[tuple[str, str]]:
        if between is None:
            return list(pairwise(self.steps))
        for step in between:
            if step not in self.releases:
                raise ReleaseError(
                    f"The series has no release of {step!r}.",
                    advice=f"Name one of its steps: {', '.join(self.steps)}.",
                )
        return [between]

    def _listing(self, where: "Where") -> "dict[str, AskedCells]":
        """Returns the numbers of the releases that have what is asked for."""
        found, refusal = {}, None
        for step, release in self.releases.items():
            cells = release.cells
            try:
                cells.chosen(where)
            except ReleaseError as problem:
                refusal = problem
            else:
                found[step] = cells
        if refusal is not None and not found:
            raise refusal
        return found

    @property
    def sentence(self) -> str:
        """What was counted, in which steps, of which data, and what unit is protected."""
        certificate, counted = self._first.certificate, self.counted
        first, last = self.steps[0], self.steps[-1]
        return (
            f"{counted[:1].upper()}{counted[1:]}, {plural(len(self.steps), self.step)}, {first} to "
            f"{last}. Data: {certificate.account.dataset}. "
            f"Protected unit: one {certificate.terms.unit}."
        )

    def notes(self, where: "Where") -> tuple[str, ...]:
        """Returns what readers of answers must know, one sentence each."""
        asked = self._listing(where)
        unlisted = [step for step in self.steps if step not in asked]
        fitted = not all(cells.noise_alone for cells in asked.values())
        revised, final = (
            [step for step, one in self.releases.items() if vintage_of(one.certificate) is kind]
            for kind in (Vintage.REVISED, Vintage.FINAL)
        )
        notes = {
            f"There is no release of {', '.join(self.missing)}.": self.missing,
            f"Left out, since what is asked for is not there: {', '.join(unlisted)}.": unlisted,
            f"Revised with what other steps say: {', '.join(revised)}.": revised,
            f"Revised for the last time: {', '.join(final)}.": final,
            "What a fit expects of a place is wrong in the same direction in every step, so that "
            "errors of steps are added up in longer sums.": fitted,
        }
        return tuple(note for note, holds in notes.items() if holds)

    @property
    def lengths(self) -> tuple[str, ...]:
        """A step, and what steps add up to, such as quarter and year."""
        from hushway.release.questions.steps import lengths

        return lengths(self.step)

    @property
    def counted(self) -> str:
        """What is counted, such as "trips"."""
        return self._first.cells.counted

    @property
    def _first(self) -> Release:
        return self.releases[self.steps[0]]

    @property
    def title(self) -> str:
        """What catalogues call it: the data set, and the account that pays for its releases."""
        account = self._first.certificate.account
        return f"{account.dataset}, {account.period}"

    @property
    def span(self) -> Span:
        """One step, as calendars know it."""
        return Span(step=self.step, steps=1)


def pair_of(
    earlier: str, later: str, asked: "Mapping[str, AskedCells]", where: "Where", by: str | None
) -> "Pair":
    """Returns sums of two steps.

    Where the surest numbers only are published, sums would differ by which ones are: there they are
    of what both releases publish.
    """
    from hushway.release.questions.steps import Pair

    one, other = asked[earlier], asked[later]
    if one.selected or other.selected:
        one, other = one.shared_with(other), other.shared_with(one)
    before, after = measured(one, where, by), measured(other, where, by)
    learnt = one.learnt or other.learnt
    return Pair(earlier=earlier, later=later, before=before, after=after, learnt=learnt)


def measured(cells: "AskedCells", where: "Where", by: str | None) -> "dict[str, Measured]":
    """Returns sums of a release with their errors: one of each label, or one of all."""
    from hushway.release.questions.answers import label_of, sums_by, total
    from hushway.release.questions.steps import Measured

    if by is None:
        whole = total(cells, where)
        return {"": Measured(label=whole.label, value=whole.value, error=whole.standard_error)}
    asked, sums, errors = sums_by(cells, where, by)
    dimension = cells.dimension(by)
    return {
        key: Measured(label=label_of(dimension, i), value=float(sums[i]), error=float(errors[i]))
        for i, key in enumerate(dimension.ids)
        if asked[i] and key not in dimension.rest
    }


def open_series(releases: Path | str | Sequence[Path | str]) -> Series:
    """Opens releases of one city as a series.

    Raises:
        ReleaseError: As `hushway.series` says.
    """
    opened = _newest([open_release(folder) for folder in folders_of(releases)])
    _refuse_unlike(opened)
    windows = {release.folder: window_of(release) for release in opened}
    opened.sort(key=lambda release: windows[release.folder])
    span = span_of([*windows.values()])
    steps: dict[str, Release] = {}
    for release in opened:
        name = span.name(windows[release.folder][0])
        if name in steps:
            raise ReleaseError(
                f"Two releases are of {name}: {steps[name].folder.name} and {release.folder.name}.",
                advice="Give one release of every step.",
            )
        steps[name] = release
    every = span.names(windows[opened[0].folder][0], windows[opened[-1].folder][1])
    return Series(
        step=span.step,
        releases=MappingProxyType(steps),
        missing=tuple(name for name in every if name not in steps),
    )


def _newest(releases: Sequence[Release]) -> list[Release]:
    """Returns of each release and its revisions the final one, or else what has learnt from most.

    Of equals both are returned, so that nobody is told one of them as if there were no other.
    """
    vintages: dict[str, list[Release]] = {}
    for release in releases:
        first = revised_by(named(release.certificate))
        own = release.certificate.release_id
        vintages.setdefault(own if first is None else first["release"], []).append(release)
    return [
        one
        for same in vintages.values()
        for one in same
        if _newness(one) == max(map(_newness, same))
    ]


def _newness(release: Release) -> tuple[int, int]:
    vintage = vintage_of(release.certificate)
    return [*Vintage].index(vintage), len(named(release.certificate))


def _refuse_unlike(releases: Sequence[Release]) -> None:
    """Makes sure that releases count the same."""
    for words, fact in _ALIKE.items():
        found = sorted({fact(release) for release in releases})
        if len(found) > 1:
            raise ReleaseError(
                f"The releases are of different {words}: {' and '.join(found)}.",
                advice="Give releases of one series.",
            )


def folders_of(releases: Path | str | Sequence[Path | str]) -> list[Path]:
    """Returns release folders that are named, or that lie in a folder that is named.

    Raises:
        ReleaseError: There is none.
    """
    named = [releases] if isinstance(releases, Path | str) else releases
    found = []
    for folder in map(Path, named):
        inside = sorted(each.parent for each in folder.glob(f"*/{SEAL}"))
        found += [folder] if (folder / SEAL).exists() or not inside else inside
    if not found:
        raise ReleaseError("A series needs releases.", advice="Name their folders.")
    return found


def window_of(release: Release) -> tuple[date, date]:
    """Returns the first and the last day of a release.

    Raises:
        ReleaseError: It does not say them.
    """
    days = days_of(release.folder, release.certificate)
    if days is None:
        raise ReleaseError(
            f"The release {release.folder.name} holds no times, so it is no step of a series.",
            advice="Ask it by itself.",
        )
    return days


def span_of(windows: Sequence[tuple[date, date]]) -> Span:
    """Returns what one step is, if all windows are steps of one length of the calendar.

    Raises:
        ReleaseError: They are not.
    """
    for step in get_args(Step):
        span = Span(step=step, steps=1)
        if all(span.days(span.name(days[0])) == days for days in windows):
            return span
    lengths = {last - first: f"{first} to {last}" for first, last in windows}
    raise ReleaseError(
        "The releases are not of one day, week (from Monday), month or quarter each: they cover "
        f"{' and '.join(lengths.values())}.",
        advice="Give releases of steps of the same length.",
    )
