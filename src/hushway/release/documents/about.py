"""What workbook and GeoPackage say about themselves, as a first table of their own."""

from collections.abc import Sequence

import pyarrow as pa

from hushway.privacy.certificate import Certificate
from hushway.release.documents.papers import NOT_STATED, PAGE, README, titled
from hushway.release.folder.published_file import Description
from hushway.release.forecast.known import KNOWN
from hushway.release.formats.columns import TEXT, Column, Columns
from hushway.release.formats.layers import Layer
from hushway.release.formats.places import text_array
from hushway.release.wording import claim_text, counted_sentence, guarantee

_COLUMNS = Columns((Column("about", TEXT, "About what."), Column("words", TEXT, "What is said.")))


def with_about(certificate: Certificate, description: Description) -> tuple[Layer, ...]:
    """Returns the layers of a release behind one that says what they are."""
    rows = [*_facts(certificate, description), *_described(description.layers)]
    columns = [text_array(column) for column in zip(*rows, strict=True)]
    batch = pa.RecordBatch.from_arrays(columns, schema=_COLUMNS.schema)
    about = Layer(
        name="about",
        title="About this release",
        columns=_COLUMNS,
        rows=len(rows),
        batches=lambda: [batch],
    )
    return (about, *description.layers)


def _facts(certificate: Certificate, description: Description) -> list[tuple[str, str]]:
    return [
        ("title", titled(certificate)),
        ("what is counted", counted_sentence(certificate)),
        ("protection", f"{guarantee(certificate)} {claim_text(certificate)}."),
        ("errors", certificate.terms.error),
        ("what is known", str(description.facts.get(KNOWN, NOT_STATED))),
        ("publisher", certificate.publisher or NOT_STATED),
        ("licence", certificate.licence or NOT_STATED),
        ("more", f"{PAGE} and {README} beside this file; hushway verify FOLDER checks it."),
    ]


def _described(layers: Sequence[Layer]) -> list[tuple[str, str]]:
    """Returns what is in every table and column."""
    found = []
    for layer in layers:
        found.append((layer.name, f"{layer.title}."))
        found += [(f"{layer.name}: {one.name}", one.words) for one in layer.columns.columns]
    return found
