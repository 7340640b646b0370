"""What a page draws of a release whose files lie in a folder."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hushway.errors import HushwayError, ReleaseError, damaged
from hushway.families.registry import facts_fit, family_certified, outside_words
from hushway.privacy.certificate import Certificate
from hushway.privacy.signing import PublicKey
from hushway.release.documents.papers import PACKAGE
from hushway.release.drawing.atlas import Atlas, Download, Drawing
from hushway.release.folder.subject import signature_warning
from hushway.release.forecast.known import KNOWN
from hushway.release.wording import claim_text, counted_sentence, guarantee


def drawn(
    folder: Path,
    certificate: Certificate,
    facts: Mapping[str, Any],
    *,
    signer: PublicKey | None,
    downloads: Sequence[Download] = (),
) -> Atlas:
    """Returns the atlas of a release.

    Args:
        folder: Its tables and public lists.
        certificate: Its certificate.
        facts: What its data package says about the table.
        signer: Who signs the seal.
        downloads: The files that a page offers.
    """
    return Atlas(
        drawing=_drawing(folder, certificate, facts),
        facts=_facts(certificate),
        sentences=_sentences(certificate, signer),
        downloads=downloads,
    )


@contextmanager
def undrawable() -> Iterator[None]:
    """Turns whatever keeps a release from being drawn into one error.

    Raises:
        ReleaseError: It cannot be drawn.
    """
    try:
        yield
    except ReleaseError:
        raise
    except HushwayError as problem:
        # The advice of such errors is for authors of plans, not for readers of a release.
        raise damaged(f"The release cannot be drawn. {problem}") from None
    except (MemoryError, RecursionError):
        raise damaged("The release takes more memory than a page may have.") from None
    except Exception as problem:  # noqa: BLE001 - a hostile folder must not stop its reader
        kind = type(problem).__name__
        raise damaged(
            f"The release cannot be drawn: a file is not as hushway writes it ({kind})."
        ) from None


def _drawing(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> Drawing:
    family = family_certified(certificate.terms.release_type)
    if not facts_fit(family.name, facts):
        raise damaged(f"{PACKAGE} does not describe its table.")
    drawing = family.drawing(folder, certificate, facts)
    known = [facts[KNOWN]] if KNOWN in facts else []
    outside = outside_words(family)
    drawn = [] if outside is None else [f"Read and drawn by {outside}."]
    return replace(drawing, notes=(*drawing.notes, *known, *drawn))


def _facts(certificate: Certificate) -> Mapping[str, str | None]:
    return {
        "id": certificate.release_id,
        "title": certificate.title,
        "release_type": certificate.terms.release_type,
        "publisher": certificate.publisher,
        "licence": certificate.licence,
        "contact": certificate.contact,
    }


def _sentences(certificate: Certificate, signer: PublicKey | None) -> Mapping[str, str | None]:
    return {
        # A page compares no key, so there is always something to beware of.
        "warning": signature_warning(signer),
        "guarantee": guarantee(certificate),
        "counted_sentence": counted_sentence(certificate),
        "claim": claim_text(certificate),
        "error": certificate.terms.error,
        "stamp": certificate.banner,
        "digest": certificate.digest.removeprefix("sha256:"),
    }
