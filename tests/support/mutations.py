"""Edits of certificates, one field at a time, as somebody who knows the software would make them.

Whoever edits a certificate can write page, label and data package anew and seal the folder again;
so that is what happens here before a verifier looks.
"""

import re
import shutil
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

from hushway.errors import ReleaseError
from hushway.families.registry import FAMILIES
from hushway.families.verify import verify
from hushway.privacy.certificate import Certificate, canonical_json, parsed_json
from hushway.release.documents.label import render_label
from hushway.release.documents.linked_data import _terms_of_use, render_croissant, render_dcat
from hushway.release.documents.package import render_package
from hushway.release.documents.page import render_page
from hushway.release.documents.papers import (
    CERTIFICATE,
    CROISSANT,
    DCAT,
    LABEL,
    PACKAGE,
    PAGE,
    PAPERS,
    PICTURE,
    README,
)
from hushway.release.documents.readme import render_readme
from hushway.release.folder.published_file import Description, Resource
from hushway.release.folder.seal import SEAL, SIGNATURE, Seal, SealedFile, files_of, sealed_file
from hushway.release.forecast.known import KNOWN

_FRACTION = re.compile(r"\d+(/\d+)?|\d+\.\d+")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00")
_OF_CERTIFICATE = (
    "name",
    "id",
    "title",
    "description",
    "created",
    "privacy",
    "contributors",
    "licenses",
)
_TERMS = ("dct:rights", "dct:license")
# Words that a certificate chooses from; any of them can stand in another's place.
_CHOICES = (
    ("person", "device", "record", "trip"),
    ("pure", "zcdp"),
    ("zcdp", "pld", "pure"),
    ("not stated", "without these rows", "with these rows"),
    ("dense", "lazy", "sparse"),
    ("controlled", "plain"),
    ("uniform", "size", "inverse_variance", "size_over_variance"),
    ("patterns", "sure", "cuts", "none"),
    ("day", "window", "row"),
    ("discrete Laplace", "discrete Gaussian"),
    tuple(FAMILIES),
    ("paper", "expected_false"),
)

Path_ = tuple[str | int, ...]


def fields_that_may_be_edited(release: Path, scratch: Path) -> set[str]:
    """Returns the fields of a certificate that can be edited without a verifier's notice."""
    facts = parsed_json((release / CERTIFICATE).read_bytes())
    found = set()
    for path, edited in edits(facts):
        folder = Path(shutil.copytree(release, scratch / "edited"))
        if passes(folder, canonical_json(edited)):
            found.add(".".join(str(step) for step in path if isinstance(step, str)))
        shutil.rmtree(folder)
    return found


def passes(folder: Path, certificate: bytes) -> bool:
    """Whether a release with an edited certificate, written anew and sealed again, adds up."""
    try:
        rewrite(folder, Certificate.from_json(certificate))
    except ReleaseError:
        return False
    return verify(folder).passed


def _described(package: Any) -> Description:
    """Returns what a data package says of the files that are no papers."""
    papers = {paper.path for paper in PAPERS}
    return Description(
        facts=package["table"],
        resources=tuple(
            Resource(
                path=each["path"],
                title=each["title"],
                description=each["description"],
                mediatype=each["mediatype"],
            )
            for each in package["resources"]
            if each["path"] not in papers
        ),
        omitted={},
    )


def rewrite(folder: Path, certificate: Certificate) -> None:
    """Puts another certificate into a release, with all papers, and seals it again."""
    old = parsed_json((folder / PACKAGE).read_bytes())
    picture = (folder / PICTURE).read_bytes()
    (folder / CERTIFICATE).write_bytes(certificate.to_json())
    known = old["table"].get(KNOWN)
    (folder / PAGE).write_bytes(render_page(certificate, picture, known=known))
    (folder / LABEL).write_bytes(render_label(certificate))
    (folder / README).write_bytes(render_readme(certificate, _described(old)))
    files = {name: sealed_file(folder, name) for name in files_of(folder)}
    stub = Description(facts=old["table"], resources=(), omitted={})
    _rewrite_dcat(folder, certificate, stub)
    files[DCAT] = sealed_file(folder, DCAT)
    _rewrite_croissant(folder, certificate, stub, files)
    files[CROISSANT] = sealed_file(folder, CROISSANT)
    new = parsed_json(render_package(certificate, stub, files))
    resources = [
        {
            **resource,
            "bytes": files[resource["path"]].size,
            "hash": f"sha256:{files[resource['path']].sha256}",
        }
        if "bytes" in resource
        else resource
        for resource in old["resources"]
    ]
    kept = {name: fact for name, fact in old.items() if name not in _OF_CERTIFICATE}
    package = {
        **kept,
        **{name: new[name] for name in _OF_CERTIFICATE if name in new},
        "resources": resources,
    }
    (folder / PACKAGE).write_bytes(canonical_json(package))
    seal(folder)


def _rewrite_dcat(folder: Path, certificate: Certificate, stub: Description) -> None:
    old = parsed_json((folder / DCAT).read_bytes())["dcat:distribution"]
    terms = _terms_of_use(certificate)
    files = [
        {**{key: fact for key, fact in file.items() if key not in _TERMS}, **terms} for file in old
    ]
    new = parsed_json(render_dcat(certificate, stub, {}))
    (folder / DCAT).write_bytes(canonical_json({**new, "dcat:distribution": files}))


def _rewrite_croissant(
    folder: Path, certificate: Certificate, stub: Description, files: dict[str, SealedFile]
) -> None:
    old = parsed_json((folder / CROISSANT).read_bytes())
    distribution = [
        {
            **file,
            "contentSize": f"{files[file['@id']].size} B",
            "sha256": files[file["@id"]].sha256,
        }
        for file in old["distribution"]
    ]
    new = parsed_json(render_croissant(certificate, stub, files))
    facts = {**new, "distribution": distribution, "recordSet": old["recordSet"]}
    (folder / CROISSANT).write_bytes(canonical_json(facts))


def seal(folder: Path) -> None:
    """Seals a folder as it is now, as someone without the publisher's key could."""
    (folder / SEAL).unlink(missing_ok=True)
    (folder / SIGNATURE).unlink(missing_ok=True)
    files = tuple(sealed_file(folder, name) for name in files_of(folder))
    (folder / SEAL).write_bytes(Seal(files=files, signer=None).to_json())


def edits(facts: Any) -> Iterator[tuple[Path_, Any]]:
    """Yields a certificate with one field changed, again and again, and which one it was."""
    for path, value in _leaves(facts):
        for other in _others(value):
            if (type(other), other) == (type(value), value):
                continue
            edited = deepcopy(facts)
            place = edited
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = other
            yield path, edited


def _leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield (*path, key), part
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield (*path, number), part
            yield from _leaves(part, (*path, number))


def _others(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield from (value + 1, max(1, value // 2), 1)
        case float():
            yield from (value / 2, value * 2)
        case str():
            yield from _other_texts(value)
        case None:
            yield from ("somebody", 7)
        case [] | {}:
            yield None
        case list():
            yield from (value[:-1], [*value, value[0]], [])
        case dict():
            yield None


def _other_texts(text: str) -> Iterator[str]:
    yield f"{text} indeed"
    if _FRACTION.fullmatch(text):
        yield from (str(Fraction(text) / 2), str(Fraction(text) * Fraction(11, 10)))
    if _HASH.fullmatch(text):
        yield "sha256:" + "0" * 64
    if _MOMENT.fullmatch(text):
        yield "2020-01-01T00:00:00+00:00"
    for choices in _CHOICES:
        if text in choices:
            yield from (other for other in choices if other != text)


def documented_as_free(*kinds: str) -> set[str]:
    """Returns the fields that docs/reference/verify.md says nobody can check, for all and for some.

    Its table has rows such as `| od, sequences | account.measure | ... |`; the kind "all" is meant
    for every release.
    """
    page = Path(__file__).parents[2] / "docs" / "reference" / "verify.md"
    text = page.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z, ]+) \| (`[^|]+`) \|", text, flags=re.MULTILINE)
    return {
        field
        for kind, fields in rows
        if {"all", *kinds} & set(kind.split(", "))
        for field in re.findall(r"`([^`]+)`", fields)
    }
