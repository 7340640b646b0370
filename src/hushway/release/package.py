"""The envelope: a Frictionless data package with a privacy block."""

import re
from collections.abc import Mapping
from typing import Any

from hushway.privacy.certificate import Certificate, canonical_json
from hushway.release.published_file import Description, Resource
from hushway.release.seal import SealedFile
from hushway.release.wording import VARIANTS, claim_text, promise

PACKAGE = "datapackage.json"
CERTIFICATE = "certificate.json"
PAGE = "certificate.html"
LABEL = "label.yaml"
PICTURE = "picture.png"

_CSV = "text/csv"
_GUARD = "A ' before =, +, - or @ keeps spreadsheets from running the text, and is no part of it."
_PROFILES = "https://datapackage.org/profiles/2.0/"

PAPERS = (
    Resource(
        path=CERTIFICATE,
        title="Certificate",
        description="What is promised, and everything needed to recompute it.",
        mediatype="application/json",
    ),
    Resource(
        path=PAGE,
        title="Certificate, to read",
        description="The certificate as a page that needs no network.",
        mediatype="text/html",
    ),
    Resource(
        path=LABEL,
        title="Release label",
        description="The certificate in the form of the OpenDP registry of deployments.",
        mediatype="application/yaml",
    ),
    Resource(
        path=PICTURE,
        title="Picture",
        description="A picture of the release, drawn from the published numbers alone.",
        mediatype="image/png",
    ),
)


def render_package(
    certificate: Certificate, description: Description, files: Mapping[str, SealedFile]
) -> bytes:
    """Returns datapackage.json: the same bytes for the same release.

    Args:
        certificate: The certificate of the release.
        description: What its family says about the files.
        files: Size and digest of every file that the package describes, by path.
    """
    heading = "" if certificate.stamp is None else f"{certificate.stamp}: "
    return canonical_json(
        {
            "$schema": _PROFILES + "datapackage.json",
            "name": _slug(certificate.release_id),
            "id": certificate.release_id,
            "title": heading + certificate.title,
            "description": heading + promise(certificate),
            "created": certificate.created_at,
            "privacy": _privacy(certificate),
            "table": dict(description.facts),
            "omitted": [
                {"path": path, "reason": reason} for path, reason in description.omitted.items()
            ],
            "resources": [
                _resource(resource, files[resource.path])
                for resource in (*description.resources, *PAPERS)
            ],
        }
    )


def _privacy(certificate: Certificate) -> dict[str, Any]:
    conversion = certificate.epsilon_delta
    return {
        "stamp": certificate.stamp,
        "summary": claim_text(certificate),
        "variant": VARIANTS[certificate.claim.measure],
        "measure": str(certificate.claim.measure),
        "amount": str(certificate.claim.amount),
        "epsilon": None if conversion is None else conversion.epsilon,
        "delta": None if conversion is None else conversion.delta,
        "unit": str(certificate.terms.unit),
        "adjacency": certificate.terms.unit.adjacency,
        "geography": certificate.terms.domain.digest,
        "not_protected": list(certificate.terms.not_protected),
        "certificate": CERTIFICATE,
    }


def _resource(resource: Resource, file: SealedFile) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "$schema": _PROFILES + "dataresource.json",
        "name": resource.name,
        "path": resource.path,
        "title": resource.title,
        "description": resource.description,
        "mediatype": resource.mediatype,
        "format": resource.path.rsplit(".", 1)[-1],
        "bytes": file.size,
        "hash": f"sha256:{file.sha256}",
    }
    if resource.schema is not None:
        facts |= {"type": "table", "schema": _schema(resource)}
    if resource.mediatype.startswith("text/"):
        facts["encoding"] = "utf-8"
    return facts


def _schema(resource: Resource) -> dict[str, Any]:
    """Returns the columns; of texts in CSV files it is said how spreadsheets are kept quiet."""
    schema = dict(resource.schema or {})
    if resource.mediatype == _CSV:
        schema["fields"] = [
            {**field, "description": f"{field['description']} {_GUARD}"}
            if field["type"] == "string"
            else field
            for field in schema["fields"]
        ]
    return schema


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-") or "release"
