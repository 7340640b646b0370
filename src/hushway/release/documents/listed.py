"""The papers that every release has, whatever it is about."""

from hushway.release.folder.published_file import Resource

PACKAGE = "datapackage.json"
CERTIFICATE = "certificate.json"
PAGE = "certificate.html"
LABEL = "label.yaml"
CROISSANT = "croissant.json"
DCAT = "mobilitydcat-ap.jsonld"
PICTURE = "picture.png"

PAPERS = (
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
