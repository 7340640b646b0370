"""A release as a data set of schema.org, with its tables in the words of Croissant 1.0.

Search engines read the first, programs that learn from data the second; both are one file of
JSON-LD. Croissant fixes the context: which short name stands for which term.
"""

import re
from collections.abc import Mapping
from typing import Any

from hushway.privacy.certificate import Certificate, canonical_json
from hushway.release.documents.listed import CROISSANT, PAPERS
from hushway.release.documents.publisher import address_of, licence_address
from hushway.release.folder.published_file import CSV_TYPE, PARQUET_TYPE, Description, Resource
from hushway.release.folder.seal import SealedFile
from hushway.release.wording import claim_text, guarantee

_OWN_TERMS = (
    "citeAs column data dataType equivalentProperty examples extract field fileObject fileProperty "
    "fileSet format includes isLiveDataset jsonPath key md5 parentField path recordSet references "
    "regex repeated replace samplingRate separator source subField transform"
)
_PLAIN_JSON = ("data", "examples")
_TYPES = {
    "string": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
    "array": "sc:Text",
}
# Croissant knows Parquet by the name that it had before it was registered.
_FORMATS = {PARQUET_TYPE: "application/x-parquet"}
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
_TABLES = (CSV_TYPE, PARQUET_TYPE)


def render_croissant(
    certificate: Certificate, description: Description, files: Mapping[str, SealedFile]
) -> bytes:
    """Returns croissant.json: the same bytes for the same release.

    Args:
        certificate: The certificate of the release.
        description: What its release type says about the files.
        files: Size and digest of every other file, by path.
    """
    heading = "" if certificate.banner is None else f"{certificate.banner}: "
    papers = (paper for paper in PAPERS if paper.path != CROISSANT)
    described = [*description.resources, *papers]
    return canonical_json(
        {
            "@context": _context(),
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": heading + certificate.title,
            "identifier": certificate.release_id,
            "description": f"{heading}{guarantee(certificate)} {claim_text(certificate)}. "
            f"{certificate.terms.error}",
            "datePublished": certificate.created_at[:10],
            "version": "1.0.0",
            "keywords": ["mobility", "differential privacy", certificate.terms.release_type],
            "isAccessibleForFree": True,
            **_publisher(certificate),
            "distribution": [_file(resource, files[resource.path]) for resource in described],
            "recordSet": [
                _records(resource)
                for resource in description.resources
                if resource.schema is not None and resource.mediatype in _TABLES
            ],
        }
    )


def _context() -> dict[str, Any]:
    own: dict[str, Any] = {term: f"cr:{term}" for term in _OWN_TERMS.split()}
    own |= {term: {"@id": f"cr:{term}", "@type": "@json"} for term in _PLAIN_JSON}
    return {
        **own,
        "@language": "en",
        "@vocab": "https://schema.org/",
        "conformsTo": "dct:conformsTo",
        "cr": "http://mlcommons.org/croissant/",
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "dct": "http://purl.org/dc/terms/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "sc": "https://schema.org/",
    }


def _publisher(certificate: Certificate) -> dict[str, Any]:
    """Returns who publishes the release, where and on what terms, as far as the plan says it."""
    facts: dict[str, Any] = {}
    if certificate.publisher is not None:
        kind, address = address_of(certificate)
        known = {} if kind is None else {"email" if kind == "email" else "url": address}
        organisation = {"@type": "sc:Organization", "name": certificate.publisher, **known}
        facts |= {"publisher": organisation, "creator": organisation}
    if certificate.licence is not None:
        facts["license"] = licence_address(certificate.licence) or certificate.licence
    if certificate.region is not None:
        facts["spatialCoverage"] = certificate.region
    return facts


def _file(resource: Resource, file: SealedFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": resource.path,
        "name": resource.path,
        "description": f"{resource.title}. {resource.description}",
        "contentUrl": resource.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": _FORMATS.get(resource.mediatype, resource.mediatype),
        "sha256": file.sha256,
    }


def _records(resource: Resource) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": resource.name,
        "name": resource.name,
        "description": resource.title,
        "field": [
            _field(resource, column, position)
            for position, column in enumerate(resource.columns)
            if column["type"] in _TYPES
        ],
    }


def _field(resource: Resource, column: Mapping[str, Any], position: int) -> dict[str, Any]:
    # Columns of public labels may be called anything, and names here must be like addresses.
    own = column["name"] if _PLAIN.fullmatch(column["name"]) else f"column/{position}"
    name = f"{resource.name}/{own}"
    repeated = {"repeated": True} if column["type"] == "array" else {}
    return {
        "@type": "cr:Field",
        "@id": name,
        "name": name,
        "description": column["description"],
        "dataType": _TYPES[column["type"]],
        "source": {
            "fileObject": {"@id": resource.path},
            "extract": {"column": column["name"]},
        },
        **repeated,
    }
