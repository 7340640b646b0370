"""The certificate as one page that needs no network and prints on two sheets of A4."""

import base64
import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from html import escape
from importlib import resources
from string import Template
from typing import Any

from hushway.privacy.certificate import Certificate
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent
from hushway.release.certified import PARAMETER, certified_features
from hushway.release.ruler import render_ruler
from hushway.release.wording import VARIANTS, loss_text, number_text, promise


def render_page(certificate: Certificate, picture: bytes) -> bytes:
    """Returns certificate.html: the same bytes for the same certificate and picture."""
    stamp = certificate.stamp
    account = certificate.account
    symbol = account.measure.symbol
    texts = {
        "heading": f"{stamp}: {certificate.title}" if stamp else certificate.title,
        "title": certificate.title,
        "meta": _meta(certificate),
        "promise": promise(certificate),
        "loss_head": "Privacy loss of this release" if not stamp else "Loss, if noise were secret",
        "unit_head": "Who is protected" if not stamp else "Who would be protected",
        "loss": loss_text(certificate.claim),
        "loss_note": _loss_note(certificate),
        "unit": str(certificate.terms.unit),
        "contribution": certificate.terms.contribution.words,
        "spent": f"{symbol} {number_text(account.spent)}",
        "cap": f"{symbol} {number_text(account.cap)}",
        "adjacency": ("If its noise were secret: " if stamp else "")
        + certificate.terms.unit.adjacency,
        "error": certificate.terms.error,
        "composition": certificate.composition,
        "release_id": certificate.release_id,
        "software": certificate.software,
    }
    markup = {
        "body_class": "unprotected" if stamp else "protected",
        "stamp": f'<p class="stamp">{escape(stamp)}</p>' if stamp else "",
        "spent_percent": f"{min(100.0, 100 * float(account.spent / account.cap)):.1f}",
        "picture": base64.b64encode(picture).decode(),
        "not_protected": _items(certificate.terms.not_protected),
        "assumed_public": _items(certificate.terms.domain.assumed_public),
        "events": _events(certificate),
        "ruler": render_ruler(certificate),
        "made": _definitions(_made(certificate)),
        "ledger": _definitions(_ledger(certificate)),
    }
    escaped = {name: escape(text) for name, text in texts.items()}
    return _template().substitute(escaped | markup).encode()


@cache
def _template() -> Template:
    page = resources.files("hushway.release").joinpath("page.html")
    return Template(page.read_text(encoding="utf-8"))


def _meta(certificate: Certificate) -> str:
    parts = [
        f"Published by {certificate.publisher}" if certificate.publisher else "",
        f"approved by {certificate.approver}" if certificate.approver else "",
        certificate.created_at[:10],
        f"for {certificate.intended_use}" if certificate.intended_use else "",
    ]
    return " · ".join(part for part in parts if part)


def _loss_note(certificate: Certificate) -> str:
    conversion = certificate.epsilon_delta
    variant = VARIANTS[certificate.claim.measure]
    if conversion is None:
        return variant
    return f"{variant}; ε = {conversion.epsilon} at δ = {conversion.delta}"


def _events(certificate: Certificate) -> str:
    rows = [
        (
            event.query,
            f"{event.cells:,}",
            _bound_text(event),
            _noise_text(event),
            loss_text(event.loss),
        )
        for event in certificate.terms.events
    ]
    rows += [
        (event.query, "not measured", _bound_text(event), _noise_text(event), loss_text(event.loss))
        for event in certificate.terms.not_taken
    ]
    total = ("All together", "", "", "", loss_text(certificate.claim))
    return "".join(_row(row) for row in rows) + _row(total, kind=' class="sum"')


def _row(cells: tuple[str, str, str, str, str], *, kind: str = "") -> str:
    numeric = (False, True, False, False, True)
    inside = "".join(
        f'<td class="n">{escape(cell)}</td>' if right else f"<td>{escape(cell)}</td>"
        for cell, right in zip(cells, numeric, strict=True)
    )
    return f"<tr{kind}>{inside}</tr>"


def _bound_text(event: Event) -> str:
    bound = event.bound
    return f"{bound.l1} in all, {min(bound.each, bound.l1)} to one cell"


def _noise_text(event: Event) -> str:
    if isinstance(event, LaplaceEvent):
        return f"discrete Laplace, scale {number_text(event.scale)}"
    if isinstance(event, GaussianEvent):
        return f"discrete Gaussian, variance parameter {number_text(event.sigma_squared)}"
    return f"exponential mechanism, rate {number_text(event.rate)}"


def _made(certificate: Certificate) -> dict[str, str]:
    steps = " ".join(
        f"{i}. {step}" for i, step in enumerate(certificate.terms.post_processing, start=1)
    )
    domain, parameters = certificate.terms.domain, certificate.terms.mechanism.parameters
    features = certified_features(certificate)
    sums = {"Sums that add up": ", ".join(feature.words for feature in features)}
    return {
        "Mechanism": certificate.terms.mechanism.name,
        # Their digests are for machines, which read the certificate itself.
        "Parameters": _plain({key: parameters[key] for key in parameters if key != PARAMETER}),
        **(sums if features else {}),
        "Limits per unit": _plain(certificate.terms.contribution.limits),
        "After the noise": steps or "Nothing was changed after the noise was added.",
        "Randomness": f"{certificate.sampler}; {certificate.randomness.source}",
        "Floating point": certificate.floating_point,
        "Tuning": certificate.tuning.sentence,
        "Public cells": f"{domain.cells}: {domain.size:,} cells",
        "Public geography": domain.digest,
        "Input": certificate.input_digest,
    }


def _ledger(certificate: Certificate) -> dict[str, str]:
    account = certificate.account
    left: Fraction = account.cap - account.spent
    return {
        "Account": f"{account.dataset}, {account.period}",
        "Spent": f"{account.spent} of {account.cap} ({account.measure}), this release included",
        "Left": number_text(left) if left > 0 else "nothing",
        "Entry": account.ledger_entry,
    }


def _plain(facts: Mapping[str, Any]) -> str:
    texts = [f"{key} = {_value_text(part)}" for key, part in sorted(facts.items())]
    return ", ".join(texts) or "none"


def _value_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    return json.dumps(part, ensure_ascii=False, sort_keys=True)


def _items(sentences: Iterable[str]) -> str:
    return "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)


def _definitions(facts: Mapping[str, str]) -> str:
    return "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items()
    )
