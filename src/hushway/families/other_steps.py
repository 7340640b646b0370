"""Other releases of a series: found in a folder, and handed to the release that learns from them.

Only releases are read whose files are as they were sealed. What is learnt from them is published
already, so that learning costs nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hushway.errors import ReleaseError
from hushway.families.registry import family_certified
from hushway.families.sealed import read_certificate, read_facts, read_seal, sealed_release
from hushway.families.step_days import days_of
from hushway.privacy.bound import Unit
from hushway.privacy.certificate import Certificate, Terms
from hushway.privacy.ledger.span import Span
from hushway.release.folder.seal import SEAL
from hushway.release.others import (
    LEARNT_FROM,
    OtherRelease,
    certified_others,
    is_revision,
    learnt_words,
    named,
)

if TYPE_CHECKING:
    from hushway.release.job import Job
    from hushway.release.mechanism import Mechanism

# Steps that are further away say next to nothing about this one.
MOST_AWAY: Final = 36


def earlier_releases(job: "Job", folder: Path) -> tuple[OtherRelease, ...]:
    """Returns the releases of earlier steps of a series, the latest one first.

    Args:
        folder: Holds releases; what else lies there is left alone.

    Raises:
        ReleaseError: A release there is not as it was sealed.
    """
    series = job.plan.series
    if series is None or not folder.is_dir():
        return ()
    kind = _Kind(
        release_type=job.plan.release_type, dataset=job.account.dataset, unit=job.account.unit
    )
    here = series.span.number(job.window.first_day)
    return tuple(other for other in _steps(folder, kind, series.span, here) if other.steps > 0)


def around(release: Path, folder: Path, *, final: bool = False) -> tuple[OtherRelease, ...]:
    """Returns a release, and those of all other steps of its series: earlier and later ones.

    Args:
        release: The release that is revised.
        folder: Holds the releases.
        final: Whether it is revised for the last time.

    Raises:
        ReleaseError: It is of no series, or a release there is not as it was sealed.
    """
    own = replace(_other(release, 0), final=final)
    certificate = own.certificate
    account = certificate.account
    if account.span is None:
        raise ReleaseError(
            f"The release {release.name} is of no series.",
            advice="Revise a release whose plan has a table [series].",
        )
    kind = _Kind(
        release_type=certificate.terms.release_type,
        dataset=account.dataset,
        unit=certificate.terms.unit,
    )
    span = Span.from_text(account.span)
    here = _number(release, span)
    if here is None:
        raise ReleaseError(
            f"The release {release.name} does not say which step it is.",
            advice="Revise a release whose plan has a table [series], and that says its days.",
        )
    others = _steps(folder, kind, span, here)
    return (own, *(other for other in others if other.steps != 0))


def named_releases(certificate: Certificate, folder: Path) -> tuple[OtherRelease, ...]:
    """Returns the releases that a certificate says it learnt from.

    Raises:
        ReleaseError: One of them is not in the folder, or not as it was sealed.
    """
    there = {read_seal(path)[0].digest: path for path in _releases(folder)}
    for name in named(certificate):
        if name["seal"] not in there:
            raise ReleaseError(
                f"The release learnt from {name['release']}, which is not in the folder.",
                advice="Ask the publisher for all releases of the series.",
            )
    return tuple(
        replace(_other(there[name["seal"]], name["steps_away"]), final="final" in name)
        for name in named(certificate)
    )


def learning_from(job: "Job", others: Sequence[OtherRelease]) -> "Job":
    """Returns a job whose fit learns from other releases, as far as these help.

    Raises:
        PlanError: Its mechanism learns from none.
    """
    if not others:
        return job
    family = family_certified(job.plan.release_type)
    mechanism = family.learning(job.mechanism, job.geography, others)
    settled = job.settled_terms
    return replace(
        job,
        mechanism=mechanism,
        terms=_learning_terms(job.terms, mechanism),
        settled_terms=None
        if settled is None
        else lambda found: _learning_terms(settled(found), mechanism),
    )


def revised_terms(release: Path, certificate: Certificate, others: Sequence[OtherRelease]) -> Terms:
    """Returns the terms of a revision of a release.

    Raises:
        ReleaseError: There is nothing that it could learn from.
    """
    family = family_certified(certificate.terms.release_type)
    mechanism, geography = family.refitting(release, certificate, read_facts(release))
    terms = _learning_terms(certificate.terms, family.learning(mechanism, geography, others))
    if len(terms.mechanism.parameters[LEARNT_FROM]) == 1:
        raise ReleaseError(
            "There is no other release that helps: of the same data set, unit, type and periods, "
            "and with its noisy answers.",
            advice="Name the folder that holds the releases of the series.",
        )
    return terms


def _learning_terms(terms: Terms, mechanism: "Mechanism[Any, Any]") -> Terms:
    """Returns the terms of a release that learns: what is measured, and how noisily, stays."""
    names = mechanism.parameters.get(LEARNT_FROM)
    if names is None:
        return terms
    before = terms.mechanism
    record = replace(before, parameters={**before.parameters, LEARNT_FROM: names})
    old, new = (learnt_words(certified_others(each.parameters)) for each in (before, record))
    first, *rest = (words for words in terms.post_processing if words not in old)
    return replace(terms, mechanism=record, post_processing=(first, *new, *rest))


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """What releases of one series have in common."""

    release_type: str
    dataset: str
    unit: Unit

    def has(self, certificate: Certificate) -> bool:
        """Whether a release is one of them, and holds answers of its own."""
        terms = certificate.terms
        kind = terms.release_type, certificate.account.dataset, terms.unit
        return kind == (self.release_type, self.dataset, self.unit) and not is_revision(certificate)


def _steps(folder: Path, kind: _Kind, span: Span, here: int) -> list[OtherRelease]:
    """Returns the releases of a series that are not too far from a step, the nearest one first."""
    found = []
    for path in _releases(folder):
        if kind.has(read_certificate(path)):
            number = _number(path, span)
            if number is not None and abs(here - number) <= MOST_AWAY:
                found.append(_other(path, here - number))
    return sorted(found, key=lambda other: (abs(other.steps), other.steps, other.seal))


def _releases(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if (path / SEAL).is_file())


def _other(folder: Path, steps: int) -> OtherRelease:
    certificate, seal = sealed_release(folder)
    return OtherRelease(
        folder=folder,
        certificate=certificate,
        facts=read_facts(folder),
        seal=seal.digest,
        steps=steps,
    )


def _number(folder: Path, span: Span) -> int | None:
    """Returns the number of the step that a release is of; None if it does not say its days."""
    days = days_of(folder, read_certificate(folder))
    return None if days is None else span.number(days[0])
