"""The data package of a release, as the tools of Frictionless read it."""

import re
from collections.abc import Mapping
from typing import Any

from hushway.privacy.certificate import Certificate, canonical_json
from hushway.privacy.loss import Measure
from hushway.release.documents.papers import (
    CERTIFICATE,
    GEOPACKAGE,
    PACKAGE,
    WORKBOOK,
    address_of,
    heading,
    licence_address,
    papers_of,
    titled,
)
from hushway.release.folder.published_file import PARQUET_TYPE, Description, Resource
from hushway.release.folder.seal import SealedFile
from hushway.release.wording import (
    VARIANTS,
    claim_text,
    decimal_of,
    delta_text,
    guarantee,
    plain_text,
)

_PROFILES = "https://datapackage.org/profiles/2.0/"


def render_package(
    certificate: Certificate, description: Description, files: Mapping[str, SealedFile]
) -> bytes:
    """Returns datapackage.json: the same bytes for the same release.

    Args:
        files: Size and digest of every file that the package describes, by path.
    """
    return canonical_json(
        {
            **package_facts(certificate),
            "name": _slug(certificate.release_id),
            "id": certificate.release_id,
            "title": titled(certificate),
            "description": f"{heading(certificate)}{guarantee(certificate)} What is counted: "
            f"{certificate.terms.domain.cells}.",
            "privacy": _privacy(certificate),
            "table": dict(description.facts),
            "omitted": [
                {"path": path, "reason": reason} for path, reason in description.omitted.items()
            ],
            "resources": [
                described_file(resource, files[resource.path])
                for resource in (*description.resources, *papers_of(description))
            ],
        }
    )


def package_facts(certificate: Certificate) -> dict[str, Any]:
    """Returns what packages of releases and of series have: when they were made, and by whom."""
    return {
        "$schema": _PROFILES + "datapackage.json",
        "created": certificate.created_at,
        **_publisher(certificate),
    }


def _publisher(certificate: Certificate) -> dict[str, Any]:
    """Returns who publishes the release and on what terms, as far as the plan says it."""
    facts: dict[str, Any] = {}
    if certificate.publisher is not None or certificate.contact is not None:
        name = certificate.publisher or certificate.contact
        kind, address = address_of(certificate)
        known = {} if kind is None else {kind: address}
        facts["contributors"] = [{"title": name, "roles": ["publisher"], **known}]
    if certificate.licence is not None:
        place = licence_address(certificate.licence)
        # What is neither a name nor an address is text for people.
        named = {"title": certificate.licence} if place is None else {"path": place}
        if place not in (None, certificate.licence):
            named["name"] = certificate.licence
        facts["licenses"] = [named]
    return facts


def _epsilon_delta(certificate: Certificate) -> tuple[str | None, str | None]:
    """Returns the epsilon and delta that readers compare: a pure epsilon has a delta of 0."""
    conversion = certificate.epsilon_delta
    if conversion is not None:
        return conversion.epsilon, delta_text(conversion.delta)
    if certificate.claim.measure is Measure.PURE:
        return plain_text(decimal_of(certificate.claim.amount)), "0"
    return None, None


def _privacy(certificate: Certificate) -> dict[str, Any]:
    epsilon, delta = _epsilon_delta(certificate)
    return {
        "stamp": certificate.banner,
        "summary": claim_text(certificate),
        "variant": VARIANTS[certificate.claim.measure],
        "measure": str(certificate.claim.measure),
        "amount": str(certificate.claim.amount),
        "epsilon": epsilon,
        "delta": delta,
        "unit": str(certificate.terms.unit),
        "adjacency": certificate.terms.unit.adjacency,
        "geography": certificate.terms.domain.digest,
        "not_protected": list(certificate.terms.not_protected),
        "certificate": CERTIFICATE,
    }


def described_file(resource: Resource, file: SealedFile) -> dict[str, Any]:
    """Returns what a data package says about a file."""
    facts: dict[str, Any] = {
        "$schema": _PROFILES + "dataresource.json",
        "name": resource.name,
        "path": resource.path,
        "title": resource.title,
        "description": resource.description,
        "mediatype": resource.mediatype,
        "format": resource.path.rsplit(".", 1)[-1],
    }
    # Frictionless counts no bytes of a Parquet file and calls any number wrong. The seal has them.
    if resource.mediatype != PARQUET_TYPE:
        facts |= {"bytes": file.size, "hash": f"sha256:{file.sha256}"}
    if resource.schema is not None:
        facts |= {"type": "table", "schema": _schema(resource)}
    elif resource.path.endswith((f"/{PACKAGE}", WORKBOOK, GEOPACKAGE)):
        # A package of another standard within ours is a file to Frictionless: it would look up that
        # standard on the network. Workbooks and databases it would read if it could.
        facts["type"] = "file"
    if resource.mediatype.startswith("text/"):
        facts["encoding"] = "utf-8"
    return facts


def _schema(resource: Resource) -> dict[str, Any]:
    """Returns the columns in types that Frictionless finds in files.

    It reads lists in Parquet as something that is no array to it, and can make no key of them.
    """
    lists = {column["name"] for column in resource.columns if column["type"] == "array"}
    fields = [
        {**column, "type": "any"} if column["name"] in lists else column
        for column in resource.columns
    ]
    key = (resource.schema or {}).get("primaryKey", [])
    keyed = {} if not key or lists.intersection(key) else {"primaryKey": key}
    return {"fields": fields, **keyed}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "release"
