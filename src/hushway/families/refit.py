"""Fits a release again from its noisy answers: nothing but these and public files went into it."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hushway.errors import ReleaseError
from hushway.families.other_steps import named_releases
from hushway.families.registry import contents_of, family_certified
from hushway.privacy.certificate import Certificate
from hushway.progress import quiet
from hushway.release.folder.answers import ANSWERS, measured_again
from hushway.release.folder.seal import sealed_file
from hushway.release.others import OtherRelease


def fitted_again(
    folder: Path,
    certificate: Certificate,
    facts: Mapping[str, Any],
    others: Sequence[OtherRelease] = (),
) -> Any:
    """Returns the table that follows from the noisy answers of a release.

    Args:
        others: The other releases that it learns from.

    Privacy:
        The mechanism is handed a curator that has no rows.

    Raises:
        ReleaseError: The answers are not those of the certificate, or cannot be read.
    """
    family = family_certified(certificate.terms.release_type)
    mechanism, geography = family.refitting(folder, certificate, facts)
    if others:
        mechanism = family.learning(mechanism, geography, others)
    measured = measured_again(folder, certificate, mechanism, geography)
    return mechanism.fit(measured, geography)


def check_refit(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any], series: Path | None = None
) -> str:
    """Makes sure that the published files follow from the noisy answers, bit by bit.

    Args:
        series: The folder that holds the releases that it learnt from, if there are any.

    Raises:
        ReleaseError: They do not.
    """
    others = () if series is None else named_releases(certificate, series)
    check_revised(folder, certificate, others)
    contents = contents_of(fitted_again(folder, certificate, facts, others))
    contents.check(certificate)
    with tempfile.TemporaryDirectory() as made:
        again = Path(made)
        contents.write(again, quiet)
        paths = [resource.path for resource in contents.description.resources]
        other = [path for path in paths if sealed_file(again, path) != sealed_file(folder, path)]
    if other:
        raise ReleaseError(
            f"Fitted again from the noisy answers, these are other files: {', '.join(other[:5])}.",
            advice="Do not trust this release; ask its publisher for one that adds up.",
        )
    also = f", and from those of {len(others)} other releases" if others else ""
    return (
        f"Fitted again from the noisy answers and the public files{also}, all {len(paths)} files "
        "of the table are the same to the last byte."
    )


def check_revised(folder: Path, certificate: Certificate, others: Sequence[OtherRelease]) -> None:
    """Makes sure that a revision has the noisy answers of the release that it revises.

    Raises:
        ReleaseError: It has others.
    """
    for other in others:
        same = sealed_file(folder, ANSWERS) == sealed_file(other.folder, ANSWERS)
        if other.steps == 0 and not (
            same and other.certificate.terms.events == certificate.terms.events
        ):
            raise ReleaseError(
                "The noisy answers are not those of the release that it says it revises.",
                advice="Do not trust this release; ask its publisher for one that adds up.",
            )
