"""Edits of certificates, one field at a time, as somebody who knows the software would make them.

Whoever edits a certificate can write page, label and data package anew and seal the folder again;
so that is what happens here before a verifier looks.
"""

import re
import shutil
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hushway.errors import ReleaseError
from hushway.families.readers import reader_files
from hushway.families.registry import FAMILIES, family_certified
from hushway.families.sealed import read_certificate, read_facts
from hushway.families.verify import verify
from hushway.privacy.certificate import Certificate, canonical_json, parsed_json
from hushway.release.documents.label import render_label
from hushway.release.documents.linked_data import render_croissant, render_dcat
from hushway.release.documents.package import render_package
from hushway.release.documents.page import render_page
from hushway.release.documents.papers import (
    CERTIFICATE,
    CROISSANT,
    DCAT,
    GEOPACKAGE,
    INDEX,
    LABEL,
    PACKAGE,
    PAGE,
    PICTURE,
    README,
    WORKBOOK,
)
from hushway.release.documents.readme import render_readme
from hushway.release.folder.answers import ANSWERS, with_answers
from hushway.release.folder.finding import Notes
from hushway.release.folder.published_file import Description
from hushway.release.folder.seal import SEAL, SIGNATURE, Seal, files_of, sealed_file
from hushway.release.forecast.known import KNOWN

_FRACTION = re.compile(r"\d+(/\d+)?|\d+\.\d+")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00")
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


def described(folder: Path) -> Description:
    """Returns what is said of the files of a release that is whole."""
    certificate, facts = read_certificate(folder), read_facts(folder)
    family = family_certified(certificate.terms.release_type)
    found = family.check(Notes(), folder, certificate, facts)
    assert found is not None
    return with_answers(replace(found, facts=facts), kept=(folder / ANSWERS).exists())


def rewrite(folder: Path, certificate: Certificate, files_of_it: Description | None = None) -> None:
    """Puts another certificate into a release, with all papers, and seals it again.

    What is said of its files must be given where these are not as they should be.
    """
    description, facts = files_of_it or described(folder), read_facts(folder)
    for name in (INDEX, WORKBOOK, GEOPACKAGE):
        (folder / name).unlink(missing_ok=True)
    readers = reader_files(folder, certificate, description, None)
    readers.write(folder)
    picture, has_map = (folder / PICTURE).read_bytes(), readers.index is not None
    page = render_page(certificate, picture, known=facts.get(KNOWN), has_map=has_map)
    (folder / CERTIFICATE).write_bytes(certificate.to_json())
    (folder / PAGE).write_bytes(page)
    (folder / LABEL).write_bytes(render_label(certificate))
    (folder / README).write_bytes(render_readme(certificate, readers.description))
    for name, render in (
        (DCAT, render_dcat),
        (CROISSANT, render_croissant),
        (PACKAGE, render_package),
    ):
        files = {path: sealed_file(folder, path) for path in files_of(folder)}
        (folder / name).write_bytes(render(certificate, readers.description, files))
    seal(folder)


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

    Its first table has rows such as `| od, sequences | account.measure | ... |`; the kind "all" is
    meant for every release.
    """
    page = Path(__file__).parents[2] / "docs" / "reference" / "verify.md"
    text = page.read_text(encoding="utf-8").split("### Columns\n")[0]
    rows = re.findall(r"^\| ([a-z, ]+) \| (`[^|]+`) \|", text, flags=re.MULTILINE)
    return {
        field
        for kind, fields in rows
        if {"all", *kinds} & set(kind.split(", "))
        for field in re.findall(r"`([^`]+)`", fields)
    }
