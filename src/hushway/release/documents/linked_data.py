"""A release as JSON-LD for catalogues: Croissant 1.0 with schema.org, and mobilityDCAT-AP 1.1."""

import re
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from hushway.privacy.certificate import Certificate, canonical_json
from hushway.privacy.ledger.span import Span
from hushway.release.documents.papers import (
    CROISSANT,
    DCAT,
    NOT_STATED,
    address_of,
    described,
    licence_address,
    papers_of,
    titled,
)
from hushway.release.folder.published_file import CSV_TYPE, PARQUET_TYPE, Description, Resource
from hushway.release.folder.seal import SealedFile
from hushway.release.others import named, revised_by, vintage_of

# Search engines read schema.org, programs that learn from data Croissant; both are one file.
# Croissant fixes the context: which short name stands for which term.

_OWN_TERMS = (
    "citeAs column data dataType equivalentProperty examples extract field fileObject fileProperty "
    "fileSet format includes isLiveDataset jsonPath key md5 parentField path recordSet references "
    "regex repeated replace samplingRate separator source subField transform"
)
_PLAIN_JSON = ("data", "examples")
_COLUMN_TYPES = {
    "string": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
    "array": "sc:Text",
}
# Croissant knows Parquet by the name that it had before it was registered.
_CROISSANT_FORMATS = {PARQUET_TYPE: "application/x-parquet"}
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
_TABLES = (CSV_TYPE, PARQUET_TYPE)


def render_croissant(
    certificate: Certificate, description: Description, files: Mapping[str, SealedFile]
) -> bytes:
    """Returns croissant.json: the same bytes for the same release.

    Args:
        files: Size and digest of every other file, by path.
    """
    papers = (paper for paper in papers_of(description) if paper.path != CROISSANT)
    every = [*description.resources, *papers]
    return canonical_json(
        {
            "@context": _croissant_context(),
            "@type": "sc:Dataset",
            "conformsTo": "http://mlcommons.org/croissant/1.0",
            "name": titled(certificate),
            "identifier": certificate.release_id,
            "description": described(certificate),
            "datePublished": certificate.created_at[:10],
            "version": "1.0.0",
            "keywords": ["mobility", "differential privacy", certificate.terms.release_type],
            "isAccessibleForFree": True,
            **_schema_org_publisher(certificate),
            "distribution": [_file(resource, files[resource.path]) for resource in every],
            "recordSet": [
                _records(resource)
                for resource in description.resources
                if resource.schema is not None and resource.mediatype in _TABLES
            ],
        }
    )


def _croissant_context() -> dict[str, Any]:
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


def _schema_org_publisher(certificate: Certificate) -> dict[str, Any]:
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
        "encodingFormat": _CROISSANT_FORMATS.get(resource.mediatype, resource.mediatype),
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
            if column["type"] in _COLUMN_TYPES
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
        "dataType": _COLUMN_TYPES[column["type"]],
        "source": {"fileObject": {"@id": resource.path}, "extract": {"column": column["name"]}},
        **repeated,
    }


# mobilityDCAT-AP 1.1 is the profile of Europe's mobility data portals, which can take the file as
# it is. Addresses of files are relative to that of this one. A release is made once and never
# updated; what a portal wants to know and nobody has stated is said to be not stated.

_VOCABULARY = "https://w3id.org/mobilitydcat-ap/"
_FREQUENCY = "http://publications.europa.eu/resource/authority/frequency/"
_EVERY = {"day": "DAILY", "week": "WEEKLY", "month": "MONTHLY", "quarter": "QUARTERLY"}
_MEDIATYPES = "https://www.iana.org/assignments/media-types/"
_FORMATS = "http://publications.europa.eu/resource/authority/file-type/"
# The list knows no matrices of planners: to it they are bytes.
_FORMAT_NAMES = {"csv": "CSV", "geojson": "GEOJSON", "json": "JSON", "parquet": "PARQUET"}
_DCAT_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "mobilitydcatap": "https://w3id.org/mobilitydcat-ap#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def render_dcat(
    certificate: Certificate, description: Description, files: Mapping[str, SealedFile]
) -> bytes:
    """Returns mobilitydcat-ap.jsonld: the same bytes for the same release.

    Args:
        files: Size and digest of the data files, by path.
    """
    return canonical_json(
        {
            "@context": _DCAT_CONTEXT,
            "@id": "#release",
            "@type": "dcat:Dataset",
            "dct:title": _english(titled(certificate)),
            "dct:description": _english(described(certificate)),
            "dct:identifier": certificate.release_id,
            "dct:issued": {"@type": "xsd:date", "@value": certificate.created_at[:10]},
            "dct:accrualPeriodicity": {"@id": f"{_FREQUENCY}NEVER"},
            **_series(certificate),
            "dct:spatial": {
                "@type": "dct:Location",
                "skos:prefLabel": _english(certificate.region or NOT_STATED),
            },
            "dct:publisher": _publisher(certificate),
            **_contact(certificate),
            # None of its themes is about counts of people who move.
            "mobilitydcatap:mobilityTheme": {"@id": f"{_VOCABULARY}mobility-theme/other"},
            "dcat:distribution": [
                _distribution(certificate, resource, files[resource.path])
                for resource in description.resources
            ],
        }
    )


def _series(certificate: Certificate) -> dict[str, Any]:
    """Says which series a release is of, how often that goes on, and what came before.

    The step before is known to those that learnt from it; whoever puts a series together knows all.
    """
    if certificate.account.span is None:
        return {}
    before = [one for one in named(certificate) if one["steps_away"] > 0]
    nearest = min(before, key=itemgetter("steps_away"), default=None)
    return {
        "dcat:inSeries": _a_series(certificate, Span.from_text(certificate.account.span)),
        "dcat:version": str(vintage_of(certificate)),
        **_known("dcat:prev", nearest),
        **_known("dcat:previousVersion", revised_by(named(certificate))),
    }


def _known(relation: str, release: Mapping[str, Any] | None) -> dict[str, Any]:
    """Names another release by its id: where it lies, its publisher knows."""
    if release is None:
        return {}
    return {relation: {"@type": "dcat:Dataset", "dct:identifier": release["release"]}}


def _a_series(certificate: Certificate, span: Span) -> dict[str, Any]:
    """Describes a series in the same words in all of its releases."""
    account = certificate.account
    return {
        "@type": "dcat:DatasetSeries",
        "dct:identifier": f"{account.dataset} / {certificate.terms.unit} / {account.period}",
        "dct:title": _english(f"{account.dataset}, {account.period}"),
        "dct:accrualPeriodicity": {"@id": _FREQUENCY + _EVERY[span.step]},
    }


def render_dcat_series(
    certificates: Mapping[str, Certificate], span: Span, description: str
) -> bytes:
    """Returns the metadata of a series: the same bytes for the same releases.

    Members are named by their own metadata, in folders of their steps, each with the one before.

    Args:
        certificates: Those of the releases by step, in order.
        span: What a step is.
        description: What was counted.
    """
    steps = [*certificates]
    newest = certificates[steps[-1]]
    return canonical_json(
        {
            "@context": _DCAT_CONTEXT,
            "@id": "#series",
            **_a_series(newest, span),
            "dct:description": _english(description),
            "dct:temporal": _days(span, steps[0], steps[-1]),
            "dct:publisher": _publisher(newest),
            **_contact(newest),
            "dcat:first": {"@id": _member(steps[0])},
            "dcat:last": {"@id": _member(steps[-1])},
            "dcat:seriesMember": [
                {
                    "@id": _member(step),
                    "@type": "dcat:Dataset",
                    "dct:title": _english(titled(certificate)),
                    "dct:identifier": certificate.release_id,
                    "dct:temporal": _days(span, step, step),
                    "dcat:inSeries": {"@id": "#series"},
                    **({"dcat:prev": {"@id": _member(before)}} if before else {}),
                    **_known("dcat:previousVersion", revised_by(named(certificate))),
                }
                for before, (step, certificate) in zip(
                    ["", *steps], certificates.items(), strict=False
                )
            ],
        }
    )


def _member(step: str) -> str:
    return f"{step}/{DCAT}#release"


def _days(span: Span, first: str, last: str) -> dict[str, Any]:
    ends = {"dcat:startDate": span.days(first)[0], "dcat:endDate": span.days(last)[1]}
    return {
        "@type": "dct:PeriodOfTime",
        **{name: {"@type": "xsd:date", "@value": f"{day}"} for name, day in ends.items()},
    }


def _publisher(certificate: Certificate) -> dict[str, Any]:
    kind, address = address_of(certificate)
    # The profile wants mail of every contact, so a page is that of the publisher.
    page = {"foaf:workplaceHomepage": {"@id": address}} if kind == "path" else {}
    return {"@type": "foaf:Agent", "foaf:name": certificate.publisher or NOT_STATED, **page}


def _contact(certificate: Certificate) -> dict[str, Any]:
    kind, address = address_of(certificate)
    if kind != "email":
        return {}
    contact = {
        "@type": "vcard:Kind",
        "vcard:fn": certificate.publisher or address,
        "vcard:hasEmail": {"@id": f"mailto:{address}"},
    }
    return {"dcat:contactPoint": contact}


def _distribution(certificate: Certificate, resource: Resource, file: SealedFile) -> dict[str, Any]:
    ending = resource.path.rsplit(".", 1)[-1]
    return {
        "@type": "dcat:Distribution",
        "dct:title": _english(resource.title),
        "dct:description": _english(resource.description),
        "dcat:accessURL": {"@id": resource.path},
        "dcat:byteSize": {"@type": "xsd:nonNegativeInteger", "@value": str(file.size)},
        "dcat:mediaType": {"@id": _MEDIATYPES + resource.mediatype},
        "dct:format": {"@id": _FORMATS + _FORMAT_NAMES.get(ending, "OCTET")},
        "mobilitydcatap:mobilityDataStandard": {
            "@id": f"{_VOCABULARY}mobility-data-standard/other"
        },
        **_terms_of_use(certificate),
    }


def _terms_of_use(certificate: Certificate) -> dict[str, Any]:
    stated = certificate.licence is not None
    conditions = "licence-provided" if stated else "other"
    address = licence_address(certificate.licence) if certificate.licence is not None else None
    return {
        "dct:rights": {
            "@type": "dct:RightsStatement",
            "dct:type": {"@id": f"{_VOCABULARY}conditions-for-access-and-usage/{conditions}"},
            "rdfs:label": _english(certificate.licence or NOT_STATED),
        },
        **({} if address is None else {"dct:license": {"@id": address}}),
    }


def _english(words: str) -> dict[str, str]:
    return {"@language": "en", "@value": words}
