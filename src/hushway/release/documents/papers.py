"""The papers that every release has, and what several of them say about its publisher."""

import re
from typing import Literal

from hushway.privacy.certificate import Certificate
from hushway.release.folder.published_file import Description, Resource
from hushway.release.wording import claim_text, guarantee

PACKAGE = "datapackage.json"
README = "README.md"
CERTIFICATE = "certificate.json"
PAGE = "certificate.html"
LABEL = "label.yaml"
CROISSANT = "croissant.json"
DCAT = "mobilitydcat-ap.jsonld"
PICTURE = "picture.png"
INDEX = "index.html"
WORKBOOK = "tables.xlsx"
GEOPACKAGE = "map.gpkg"

# What registries and portals are told where the publisher states nothing.
NOT_STATED = "Not stated"

PAPERS = (
    Resource(
        path=README,
        title="Read this first",
        description="What the release is, and what is in every file.",
        mediatype="text/markdown",
    ),
    Resource(
        path=CERTIFICATE,
        title="Certificate",
        description="What is guaranteed, and everything needed to recompute it.",
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
        path=CROISSANT,
        title="Metadata for search engines and machine learning",
        description="The release as a data set of schema.org, its tables in the words of "
        "Croissant 1.0.",
        mediatype="application/ld+json",
    ),
    Resource(
        path=DCAT,
        title="Metadata for mobility data portals",
        description="The release as a data set of mobilityDCAT-AP 1.1.",
        mediatype="application/ld+json",
    ),
    Resource(
        path=PICTURE,
        title="Picture",
        description="A picture of the release, drawn from the published numbers alone.",
        mediatype="image/png",
    ),
)


def papers_of(description: Description) -> tuple[Resource, ...]:
    """Returns the papers of a release: those that every one has, and those for its readers."""
    return (*PAPERS, *description.further)


def index_paper(size: int) -> Resource:
    """Returns what is said of the page of a release that has so many bytes."""
    return Resource(
        path=INDEX,
        title="The release on a map",
        description=f"A page for any browser, in one file that loads nothing: {size / 1e6:.1f} MB.",
        mediatype="text/html",
    )


def workbook_paper() -> Resource:
    """Returns what is said of the workbook."""
    return Resource(
        path=WORKBOOK,
        title="Tables for spreadsheets",
        description="A workbook of Excel and LibreOffice: what the release is, then its tables.",
        mediatype="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    )


def geopackage_paper() -> Resource:
    """Returns what is said of the GeoPackage."""
    return Resource(
        path=GEOPACKAGE,
        title="Layers for maps",
        description="A GeoPackage of the same tables, with points, lines or areas (WGS84).",
        mediatype="application/geopackage+sqlite3",
    )


def titled(certificate: Certificate) -> str:
    """Returns the title, with NOT PRIVATE or LARGE DELTA in front where readers must know it."""
    return heading(certificate) + certificate.title


def described(certificate: Certificate) -> str:
    """Returns guarantee, claim and typical errors in one paragraph, for catalogues."""
    claim = f"{guarantee(certificate)} {claim_text(certificate)}."
    return f"{heading(certificate)}{claim} {certificate.terms.error}"


def heading(certificate: Certificate) -> str:
    """Returns the warning that stands in front of titles and descriptions; mostly nothing."""
    return "" if certificate.banner is None else f"{certificate.banner}: "


# Plans are asked for more. Here it is only told which is which, also in a stranger's certificate.
_MAIL = re.compile(r"[^\s@:/<>]+@[^\s@:/<>]+")
_WEB = re.compile(r"https?://[^\s<>\"{}|\\^`]+", re.ASCII)
_SPDX = re.compile(r"[A-Za-z0-9.+-]+", re.ASCII)


def address_of(certificate: Certificate) -> tuple[Literal["email", "path"] | None, str]:
    """Returns the publisher's address, and whether it is one for mail or on the web.

    The names are those of the data package. Text that is neither is no address.
    """
    contact = certificate.contact or ""
    if _WEB.fullmatch(contact):
        return "path", contact
    return ("email", contact) if _MAIL.fullmatch(contact) else (None, contact)


def licence_address(licence: str) -> str | None:
    """Returns where the text of a licence is; nothing if it is neither a name nor an address."""
    if _WEB.fullmatch(licence):
        return licence
    return f"https://spdx.org/licenses/{licence}.html" if _SPDX.fullmatch(licence) else None
