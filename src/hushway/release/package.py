"""What programs read of a release: a Frictionless data package, and a label for registries."""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from hushway.privacy.certificate import Certificate, canonical_json
from hushway.privacy.loss import Measure, exact
from hushway.release.published_file import Description, Resource
from hushway.release.seal import SealedFile
from hushway.release.terms import certified_features
from hushway.release.wording import VARIANTS, claim_text, decimal_of, guarantee, loss_text

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
            "description": heading + guarantee(certificate),
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


# A small writer of YAML: nested mappings and lists, every text in quotes.
#
# A quoted JSON string is a YAML string, apart from a few characters that YAML wants escaped; so
# text can never turn into a number, a date, a truth value or a new key.

Value = str | int | bool | Decimal | None | Mapping[str, "Value"] | Sequence["Value"]

# JSON leaves these as they are, YAML calls them unprintable or reads them as the end of a line.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
_NOT_TEXT = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


def yaml_text(facts: Mapping[str, Value]) -> str:
    """Returns facts as a YAML document."""
    return "".join(line + "\n" for line in _lines(facts))


def _lines(value: Value) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [line for key, part in value.items() for line in _entry(f"{_key(key)}:", part)]
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return [line for part in value for line in _entry("-", part)]
    return [_scalar(value)]


def _entry(head: str, part: Value) -> list[str]:
    lines = _lines(part)
    nested = not isinstance(part, str) and isinstance(part, Mapping | Sequence) and bool(part)
    return [head, *("  " + line for line in lines)] if nested else [f"{head} {lines[0]}"]


def _scalar(value: Value) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    return "{}" if isinstance(value, Mapping) else "[]"


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) and key not in _NOT_TEXT else _scalar(key)


_FLAVORS = {Measure.PURE: "Pure DP", Measure.ZCDP: "zCDP"}
_OUTPUT_MEASURES = {Measure.PURE: "Max divergence", Measure.ZCDP: "Zero-concentrated divergence"}


def render_label(certificate: Certificate) -> bytes:
    """Returns label.yaml: the same bytes for the same certificate."""
    stamp = certificate.stamp
    heading = "" if stamp is None else f"{stamp}: "
    head = "" if stamp is None else f"# {stamp}. {guarantee(certificate)}\n"
    facts: dict[str, Value] = {
        "status": "Released" if stamp is None else stamp,
        "deployment": {
            "name": heading + certificate.title,
            "data_curator": certificate.publisher,
            "intended_use": certificate.intended_use,
            "data_product_type": "Summary statistics",
            "data_product_sector": "Transportation",
            "description": heading + guarantee(certificate),
            "publication_date": certificate.created_at[:10],
            "release_id": certificate.release_id,
            "approver": certificate.approver,
            "dp_flavor": _flavor(certificate),
            "privacy_loss": _privacy_loss(certificate),
            "model": {
                "model_name": "Central",
                "actors": "A trusted curator holds the rows; readers see only the release.",
                "is_many_release": True,
                "is_many_release_description": "Every release of the data set is charged to one "
                "account of a ledger, and the account has a budget limit.",
                "is_interactive": False,
                "is_dynamic": False,
            },
            "accounting": {
                "composition": certificate.composition,
                "post_processing": list(certificate.terms.post_processing),
                "ledger": {
                    "dataset": certificate.account.dataset,
                    "period": certificate.account.period,
                    "spent": str(certificate.account.spent),
                    "budget_limit": str(certificate.account.budget_limit),
                    "measure": str(certificate.account.measure),
                    "entry": certificate.account.ledger_entry,
                },
            },
            "implementation": {
                "pre_processing_eda_hyperparameter_tuning": certificate.tuning.sentence,
                "contribution_bounds": certificate.terms.contribution.words,
                "mechanisms": _mechanisms(certificate),
                **_sums(certificate),
                "randomness": f"{certificate.sampler}, {certificate.randomness.source}",
                "floating_point": certificate.floating_point,
                "accuracy": certificate.terms.error,
                "software": certificate.software,
            },
        },
    }
    return (head + yaml_text(facts)).encode()


def _flavor(certificate: Certificate) -> dict[str, Value]:
    measure = certificate.claim.measure
    return {
        "name": _FLAVORS[measure],
        "input_metric": f"Number of {certificate.terms.unit}s whose records are added or removed"
        if certificate.terms.unit.has_many_records
        else "Symmetric distance",
        "bound_on_input_distance": 1,
        "output_measure": _OUTPUT_MEASURES[measure],
        "bound_on_output_distance": str(certificate.claim.amount),
        "data_domain": certificate.terms.domain.cells,
        "assumed_public": list(certificate.terms.domain.assumed_public),
        "unprotected_quantities": list(certificate.terms.not_protected),
    }


def _privacy_loss(certificate: Certificate) -> dict[str, Value]:
    parameters: dict[str, Value] = {}
    amount: Decimal = decimal_of(certificate.claim.amount)
    conversion = certificate.epsilon_delta
    if certificate.claim.measure is Measure.PURE:
        parameters["epsilon"] = amount
    else:
        parameters["rho"] = amount
    if conversion is not None:
        name = "epsilon" if "epsilon" not in parameters else "epsilon_at_delta"
        parameters[name] = decimal_of(exact(conversion.epsilon))
        parameters["delta"] = decimal_of(exact(conversion.delta))
    return {
        "privacy_unit": str(certificate.terms.unit).capitalize(),
        "privacy_unit_description": certificate.terms.unit.adjacency,
        "privacy_parameters": parameters,
        "privacy_parameters_description": f"{VARIANTS[certificate.claim.measure]}, "
        f"{claim_text(certificate)}; exactly {certificate.claim.amount}.",
    }


def _mechanisms(certificate: Certificate) -> list[Value]:
    events: list[Value] = [
        f"{event.kind.replace('_', ' ')}: {event.query}, {event.cells} cells, "
        f"{loss_text(event.loss)}"
        for event in certificate.terms.events
    ]
    reserved: list[Value] = [
        f"spent on, not measured: {event.query}, {loss_text(event.loss)}"
        for event in certificate.terms.not_taken
    ]
    return [certificate.terms.mechanism.name, *events, *reserved]


def _sums(certificate: Certificate) -> dict[str, Value]:
    """Returns what a reader may add up; nothing if only cells were measured."""
    sums: list[Value] = [feature.words for feature in certified_features(certificate)]
    return {"sums_that_add_up": sums} if sums else {}
