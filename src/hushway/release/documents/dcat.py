"""A release as a data set of mobilityDCAT-AP 1.1, the profile of Europe's mobility data portals.

JSON-LD, so that a portal can take it as it is. Addresses of files are relative to that of this
one. A release is made once and never updated; what a portal wants to know and nobody has stated is
said to be not stated.
"""

from collections.abc import Mapping
from typing import Any

from hushway.privacy.certificate import Certificate, canonical_json
from hushway.release.documents.publisher import address_of, licence_address
from hushway.release.folder.published_file import Description, Resource
from hushway.release.folder.seal import SealedFile
from hushway.release.wording import claim_text, guarantee

_VOCABULARY = "https://w3id.org/mobilitydcat-ap/"
_FREQUENCY = "http://publications.europa.eu/resource/authority/frequency/NEVER"
_MEDIATYPES = "https://www.iana.org/assignments/media-types/"
_FORMATS = "http://publications.europa.eu/resource/authority/file-type/"
# The list knows no matrices of planners: to it they are bytes.
_FORMAT_NAMES = {"csv": "CSV", "geojson": "GEOJSON", "json": "JSON", "parquet": "PARQUET"}
_NOT_STATED = "Not stated"
_CONTEXT = {
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
        certificate: The certificate of the release.
        description: What its release type says about the files.
        files: Size and digest of the data files, by path.
    """
    heading = "" if certificate.banner is None else f"{certificate.banner}: "
    words = (
        f"{heading}{guarantee(certificate)} {claim_text(certificate)}. {certificate.terms.error}"
    )
    return canonical_json(
        {
            "@context": _CONTEXT,
            "@id": "#release",
            "@type": "dcat:Dataset",
            "dct:title": _english(heading + certificate.title),
            "dct:description": _english(words),
            "dct:identifier": certificate.release_id,
            "dct:issued": {"@type": "xsd:date", "@value": certificate.created_at[:10]},
            "dct:accrualPeriodicity": {"@id": _FREQUENCY},
            "dct:spatial": {
                "@type": "dct:Location",
                "skos:prefLabel": _english(certificate.region or _NOT_STATED),
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


def _publisher(certificate: Certificate) -> dict[str, Any]:
    kind, address = address_of(certificate)
    # The profile wants mail of every contact, so a page is that of the publisher.
    page = {"foaf:workplaceHomepage": {"@id": address}} if kind == "path" else {}
    return {"@type": "foaf:Agent", "foaf:name": certificate.publisher or _NOT_STATED, **page}


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
            "rdfs:label": _english(certificate.licence or _NOT_STATED),
        },
        **({} if address is None else {"dct:license": {"@id": address}}),
    }


def _english(words: str) -> dict[str, str]:
    return {"@language": "en", "@value": words}
