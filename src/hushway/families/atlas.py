"""Opens a sealed release and returns its atlas: what a page draws, whatever the release type."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hushway.errors import HushwayError, ReleaseError, damaged
from hushway.families.registry import facts_fit, family_certified, outside_words
from hushway.families.verify import read_facts, sealed_release
from hushway.privacy.certificate import Certificate, parsed_json
from hushway.privacy.signing import PublicKey
from hushway.release.documents.papers import PACKAGE
from hushway.release.drawing.atlas import Atlas, Download, Drawing
from hushway.release.folder.seal import SEAL, SIGNATURE, Seal, sealed_file
from hushway.release.folder.subject import signature_warning
from hushway.release.forecast.known import KNOWN
from hushway.release.untrusted.limits import PAPER_BYTES, read_plain
from hushway.release.wording import claim_text, counted_sentence, guarantee

_SEALS = {SEAL: "Seal: size and digest of every file", SIGNATURE: "Signature of the seal"}


def atlas_of(folder: Path | str) -> Atlas:
    """Returns the atlas of a release whose files are as they were sealed.

    That shows changes. Whether all that the release claims adds up is for `hushway.verify` to say.

    Args:
        folder: The release. It may be a stranger's: files are read with limits, and none outside.

    Raises:
        ReleaseError: There is no release, a file was changed, added or taken away, its signature is
            not valid, or it cannot be drawn.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ReleaseError(f"There is no folder {place.name}.", advice="Give a release's folder.")
    certificate, seal = sealed_release(place)
    try:
        drawing = _drawing(place, certificate)
        downloads = tuple(_downloads(place))
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
    return Atlas(
        drawing=drawing,
        facts=_facts(certificate),
        sentences=_sentences(certificate, seal.signer),
        downloads=downloads,
    )


def _drawing(folder: Path, certificate: Certificate) -> Drawing:
    family, facts = family_certified(certificate.terms.release_type), read_facts(folder)
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


def _downloads(folder: Path) -> Iterator[Download]:
    """Yields the sealed files with their titles, and the seal itself."""
    seal = Seal.from_json(read_plain(folder / SEAL, PAPER_BYTES))
    titles = _titles(parsed_json(read_plain(folder / PACKAGE, PAPER_BYTES)))
    titles[PACKAGE] = "Data package: what is in every file"
    for file in seal.files:
        yield Download(
            path=file.path,
            title=titles.get(file.path, file.path),
            size=file.size,
            sha256=file.sha256,
        )
    for path in (SEAL,) if seal.signer is None else (SEAL, SIGNATURE):
        file = sealed_file(folder, path)
        yield Download(path=path, title=_SEALS[path], size=file.size, sha256=file.sha256)


def _titles(package: Any) -> dict[str, str]:
    return {str(resource["path"]): str(resource["title"]) for resource in package["resources"]}
