"""The verb `revise`: a release of a series, fitted again with what all other steps say."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.other_steps import around, revised_terms
from hushway.families.refit import fitted_again
from hushway.families.sealed import read_facts, sealed_release
from hushway.families.write import write_release
from hushway.privacy.signing import Passphrase, load_signing_key
from hushway.progress import Progress, quiet
from hushway.release.folder.answers import ANSWERS, NOT_KEPT
from hushway.release.others import Vintage, is_revision
from hushway.steward.certify import release_name


def revise(
    release: Path | str,
    *,
    series: Path | str,
    to: Path | str,
    final: bool = False,
    signing_key: Path | str | None = None,
    passphrase: Passphrase | None = None,
    progress: Progress = quiet,
) -> Path:
    """Fits a release again with what all other steps of its series say, earlier and later ones.

    Privacy:
        It is given published folders alone: no plan, no rows and no ledger. It measures nothing and
        spends nothing: all events are those of the release that it revises.

    Args:
        release: A release of a series with its noisy answers; it stays as it is.
        series: The folder that holds the releases of the series.
        to: Where the revised release appears; nothing may be there yet.
        final: Says on its certificate that the publisher will not revise it again.
        signing_key: What signs it; nothing does if left out.
        passphrase: Asked for the signing key's passphrase if it has one.
        progress: Told in a few words what is being done.

    Returns:
        The folder of the revised release.

    Raises:
        ReleaseError: A release is not as it was sealed, is of no series, is a revision itself or
            has no noisy answers; there is nothing to learn from; or something is at `to`.
        PlanError: Releases of its type, or made as it was, do not learn from each other.

    Example:
        >>> hushway.revise("releases/2026-01", series="releases", to="revised/2026-01")
    """
    folder, key = Path(release), None
    if signing_key is not None:
        key = load_signing_key(Path(signing_key), passphrase=passphrase)
    progress("Reading the releases of the series")
    certificate, seal = sealed_release(folder)
    if is_revision(certificate):
        raise ReleaseError(
            f"The release {folder.name} is a revision itself.",
            advice="Revise the first release of its step.",
        )
    if not seal.names(ANSWERS):
        raise ReleaseError(NOT_KEPT, advice="Publish with noisy_answers = true in [release].")
    others = around(folder, Path(series), final=final)
    terms = revised_terms(folder, certificate, others)
    progress("Fitting")
    table = fitted_again(folder, certificate, read_facts(folder), others)
    revised = replace(
        certificate,
        release_id=release_name(terms.release_type),
        title=f"{certificate.title} ({Vintage.FINAL if final else Vintage.REVISED})",
        terms=terms,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return write_release(
        Path(to),
        table=table,
        certificate=revised,
        signing_key=key,
        answers=(folder / ANSWERS).read_bytes(),
        progress=progress,
    )
