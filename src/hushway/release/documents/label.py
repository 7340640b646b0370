"""The label of a release: an entry for the OpenDP registry of deployments.

Keys, kinds and words to choose from are those of the registry's schema, deployments-schema.yaml of
opendp/deployments-registry-data, as of 15 July 2026. It has no place for digests and entries of the
ledger; they stay in the certificate. What a registry wants to know and nobody has stated is said to
be not stated.
"""

import re
from decimal import Decimal

from hushway.privacy.certificate import Certificate
from hushway.privacy.loss import Measure, exact
from hushway.release.documents.papers import CERTIFICATE, NOT_STATED, address_of, titled
from hushway.release.formats.yaml import Value, yaml_text
from hushway.release.terms import certified_features
from hushway.release.wording import (
    VARIANTS,
    claim_text,
    decimal_of,
    guarantee,
    loss_text,
    number_text,
)

_VARIANTS = {Measure.PURE: "Pure DP", Measure.ZCDP: "Zero-concentrated DP"}
# All that the registry asks for.
_TIER = 3


def render_label(certificate: Certificate) -> bytes:
    """Returns label.yaml: the same bytes for the same certificate."""
    banner = certificate.banner
    warning = "" if banner is None else f"# {banner}. {guarantee(certificate)}\n"
    facts: dict[str, Value] = {
        # A word of the registry's own: nobody there has looked at it yet.
        "status": "Draft",
        "tier": _TIER,
        "deployment": {
            "basic": _basic(certificate),
            "dp_variant": {
                "variant_name": _VARIANTS[certificate.claim.measure],
                "data_domain": f"{certificate.terms.domain.cells}. Taken as public:\n"
                + _listed(certificate.terms.domain.assumed_public),
                "unprotected_quantities": _listed(certificate.terms.not_protected),
            },
            "privacy_loss": _privacy_loss(certificate),
            "deployment_model": _model(certificate),
            "accounting": {
                "post_processing": _listed(certificate.terms.post_processing)
                or "Nothing was changed after the noise was added.",
                "composition": certificate.composition,
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": certificate.tuning.sentence,
                "mechanisms": _mechanisms(certificate),
            },
            "administrative": _administrative(certificate),
        },
    }
    # The registry's own tools look for the bare slug in the first line.
    return f"url_slug: {_slug(certificate)}\n{warning}{yaml_text(facts)}".encode()


def _slug(certificate: Certificate) -> str:
    """Returns the address that the registry makes of name, curator and year."""
    basic = (titled(certificate), certificate.publisher or NOT_STATED, certificate.created_at[:4])
    return "_".join(re.sub(r"\W+", "_", text.lower()) for text in basic).replace("_", "-")


def _basic(certificate: Certificate) -> dict[str, Value]:
    return {
        "name": titled(certificate),
        "data_curators": [certificate.publisher or NOT_STATED],
        "intended_use": certificate.intended_use or NOT_STATED,
        "data_product_type": "Summary statistics",
        "data_product_region": certificate.region or NOT_STATED,
        "description": f"{guarantee(certificate)} {certificate.terms.error}",
        "publication_date": certificate.created_at[:10],
    }


def _privacy_loss(certificate: Certificate) -> dict[str, Value]:
    claim, conversion = certificate.claim, certificate.epsilon_delta
    amount: Decimal = decimal_of(claim.amount)
    parameters: dict[str, Value] = {}
    if claim.measure is Measure.PURE:
        parameters["epsilon"] = amount
    else:
        parameters["rho"] = amount
        if conversion is not None:
            parameters["epsilon"] = decimal_of(exact(conversion.epsilon))
            parameters["delta"] = decimal_of(exact(conversion.delta))
    return {
        "privacy_unit": str(certificate.terms.unit).capitalize(),
        "privacy_unit_details": f"{certificate.terms.unit.adjacency} "
        f"{certificate.terms.contribution.words}",
        "privacy_parameters": parameters,
        "privacy_parameters_details": f"{VARIANTS[claim.measure]}, {claim_text(certificate)}; "
        f"exactly {claim.amount}.",
    }


def _model(certificate: Certificate) -> dict[str, Value]:
    account = certificate.account
    spent, limit = number_text(account.spent), number_text(account.budget_limit)
    return {
        "model_name": "Central",
        "actors": "A trusted curator holds the rows; readers see only the release.",
        "release_type": "Many releases",
        "release_type_details": "Every release of the data set is charged to one account of a "
        f"ledger, which has a budget limit. With this release {account.measure.symbol} {spent} of "
        f"{limit} is spent for {account.period}{account.around}.",
        "data_source_type": "Static",
        "access_type": "Non-interactive",
    }


def _mechanisms(certificate: Certificate) -> str:
    terms = certificate.terms
    events = [
        f"{event.kind.replace('_', ' ')}: {event.query}, {event.cells} cells, "
        f"{loss_text(event.loss)}"
        for event in terms.events
    ]
    reserved = [
        f"spent, and not measured: {event.query}, {loss_text(event.loss)}"
        for event in terms.not_taken
    ]
    sums = [f"a sum that adds up: {total.words}" for total in certified_features(certificate)]
    made = (
        f"Mechanism {terms.mechanism.name} of {certificate.software}. Noise: "
        f"{certificate.sampler}, {certificate.randomness.source}. {certificate.floating_point}"
    )
    return f"{made}\n{_listed([*events, *reserved, *sums])}"


def _administrative(certificate: Certificate) -> dict[str, Value]:
    _, contact = address_of(certificate)
    author = certificate.approver or certificate.publisher or NOT_STATED
    return {
        **({"sources": contact} if contact else {}),
        "notes": f"Release {certificate.release_id}. Its {CERTIFICATE} says more, and what it says "
        "can be computed again.",
        "registry_authors": [author],
    }


def _listed(sentences: tuple[str, ...] | list[str]) -> str:
    """Returns sentences as a list in Markdown, which the registry shows."""
    return "\n".join(f"- {sentence}" for sentence in sentences)
