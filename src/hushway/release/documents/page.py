"""The certificate as one page that needs no network and prints on two sheets of A4."""

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from html import escape
from importlib import resources
from string import Template
from typing import Any

from hushway.privacy.certificate import AccountStatement, Certificate
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent
from hushway.privacy.loss import Measure
from hushway.privacy.signing import PublicKey
from hushway.release.documents.papers import INDEX
from hushway.release.folder.subject import signature_warning
from hushway.release.terms import PARAMETER, certified_features
from hushway.release.wording import (
    VARIANTS,
    conversion_text,
    counted_sentence,
    delta_text,
    epsilon_of,
    guarantee,
    loss_text,
    number_text,
)

# A deviation and what it belongs to, as certificates write them.
_DEVIATION = re.compile(r"[\d.,e+-]+ \([^()]*\)")
_MOST_IN_A_SENTENCE = 4
_FRACTION = re.compile(r"\d{1,300}/[1-9]\d{0,300}", re.ASCII)


def render_page(
    certificate: Certificate,
    picture: bytes,
    *,
    signer: PublicKey | None = None,
    known: str | None = None,
    has_map: bool = False,
) -> bytes:
    """Returns certificate.html: the same bytes for the same arguments.

    Args:
        certificate: What the page says in words.
        picture: What it shows, as PNG.
        signer: Who signed the seal.
        known: How much of what is published is known, in a sentence.
        has_map: Whether a page with a map lies beside it.
    """
    stamp, banner = certificate.stamp, certificate.banner
    account = certificate.account
    symbol = account.measure.symbol
    texts = {
        "heading": f"{banner}: {certificate.title}" if banner else certificate.title,
        "title": certificate.title,
        "meta": _meta(certificate),
        "counted": counted_sentence(certificate),
        "signed": signature_warning(signer),
        "guarantee": guarantee(certificate),
        "loss_head": "Privacy loss of this release" if not stamp else "Loss, if noise were secret",
        "unit_head": "Who is protected" if not stamp else "Who would be protected",
        "loss": loss_text(certificate.claim),
        "loss_note": _loss_note(certificate),
        "unit": str(certificate.terms.unit),
        "contribution": certificate.terms.contribution.words,
        "spent": f"{symbol} {number_text(account.spent)}",
        "budget_limit": f"{symbol} {number_text(account.budget_limit)}",
        "adjacency": ("If its noise were secret: " if stamp else "")
        + certificate.terms.unit.adjacency,
        "composition": certificate.composition,
        "release_id": certificate.release_id,
        "software": certificate.software,
    }
    markup = {
        "body_class": "unprotected" if stamp else "protected",
        "signed_class": "warning" if signer is None else "small",
        "stamp": f'<p class="stamp">{escape(banner)}</p>' if banner else "",
        "spent_percent": f"{min(100.0, 100 * float(account.spent / account.budget_limit)):.1f}",
        "picture": base64.b64encode(picture).decode(),
        "not_protected": _items(certificate.terms.not_protected),
        "assumed_public": _items(certificate.terms.domain.assumed_public),
        "known": f"<p>{escape(known)}</p>" if known else "",
        "map": f'<p><a href="{INDEX}">See it on a map</a></p>' if has_map else "",
        "error": _error(certificate.terms.error),
        "may": _items(_may(certificate)),
        "may_not": _items(_may_not(certificate)),
        "events": _events(certificate),
        "ruler": render_ruler(certificate),
        "made": _definitions(_made(certificate)),
        "ledger": _definitions(_ledger(certificate)),
    }
    escaped = {name: escape(text) for name, text in texts.items()}
    return _template().substitute(escaped | markup).encode()


@cache
def _template() -> Template:
    page = resources.files("hushway.release.documents").joinpath("page.html")
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
    return f"{variant}; {conversion_text(conversion)}"


def _may(certificate: Certificate) -> tuple[str, ...]:
    """Returns what a reader may conclude, one sentence each."""
    if certificate.stamp is not None:
        return ("How such a release looks. Nothing about real people should be in it.",)
    return (
        "What is true of many, such as busy places and busy hours.",
        "That one number is larger than another, if they differ by more than their stated errors.",
    )


def _may_not(certificate: Certificate) -> tuple[str, ...]:
    """Returns what a reader may not conclude, one sentence each."""
    return (
        "That a number is exact: every one carries noise on purpose.",
        "That nobody was there where a number is small, 0 or missing.",
        f"Anything about one {certificate.terms.unit}: whether in the data, where or when.",
    )


def _error(words: str) -> str:
    """Returns the statement of typical errors: a sentence, or a list where it names many."""
    found = list(_DEVIATION.finditer(words))
    if len(found) <= _MOST_IN_A_SENTENCE:
        return f'<p class="small">{escape(words)}</p>'
    before, after = words[: found[0].start()].strip(), words[found[-1].end() :].lstrip(". ")
    listed = _items(match[0] for match in found)
    rest = f'<p class="small">{escape(after)}</p>' if after else ""
    return (
        f'<details class="small"><summary>{escape(before)}</summary>'
        f"<ul>{listed}</ul></details>{rest}"
    )


def _events(certificate: Certificate) -> str:
    asked = [(event, f"{event.cells:,}") for event in certificate.terms.events]
    asked += [(event, "not measured") for event in certificate.terms.not_taken]
    rows = [
        (event.query, cells, _bound_text(event), _noise_text(event), loss_text(event.loss))
        for event, cells in asked
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


def _shown(value: Fraction) -> str:
    return f"{float(value):.4g}"


def _bound_text(event: Event) -> str:
    bound = event.bound
    return f"{bound.l1} in all, {min(bound.each, bound.l1)} to one cell"


def _noise_text(event: Event) -> str:
    if isinstance(event, LaplaceEvent):
        return f"discrete Laplace, scale {_shown(event.scale)}"
    if isinstance(event, GaussianEvent):
        return f"discrete Gaussian, variance parameter {_shown(event.sigma_squared)}"
    return f"exponential mechanism, rate {_shown(event.rate)}"


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
    left: Fraction = account.budget_limit - account.spent
    return {
        "Account": f"{account.dataset}, {account.period}",
        "Spent": f"{number_text(account.spent)} of {number_text(account.budget_limit)} "
        f"({account.measure}){account.around}, this release included",
        # Rounded as losses are, it would be more than there is.
        "Left": _at_most(left) if left > 0 else "nothing",
        **_ever(account),
        "Entry": account.ledger_entry,
    }


def _ever(account: AccountStatement) -> dict[str, str]:
    """Says what a lifetime of releases has cost where only spans have a limit."""
    return {} if account.span is None else {"Ever": number_text(account.ever)}


def _plain(facts: Mapping[str, Any]) -> str:
    texts = [f"{key} = {_value_text(part)}" for key, part in sorted(facts.items())]
    return ", ".join(texts) or "none"


def _at_most(value: Fraction) -> str:
    down = Fraction(math.floor(value * 1000), 1000)
    return f"{float(down):g}" if down else "less than 0.001"


def _value_text(part: Any) -> str:
    plain = _without_fractions(part)
    return (
        plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False, sort_keys=True)
    )


def _without_fractions(part: Any) -> Any:
    """Returns a parameter with numbers that people can read; the exact ones are certified."""
    if isinstance(part, str) and _FRACTION.fullmatch(part):
        return _shown(Fraction(part))
    if isinstance(part, Mapping):
        return {key: _without_fractions(inside) for key, inside in part.items()}
    if isinstance(part, list | tuple):
        return [_without_fractions(inside) for inside in part]
    return part


def _items(sentences: Iterable[str]) -> str:
    return "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)


def _definitions(facts: Mapping[str, str]) -> str:
    return "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts.items()
    )


_WIDTH, _ROW, _TOP = 720, 30, 12
_LEFT, _RIGHT = 310, 650
# Colours of the page, which are others in the dark.
_INK, _SOFT, _LINE, _MAIN, _GREY = (
    f"var(--{name})" for name in ("ink", "soft", "line", "main", "grey")
)
_LOWEST, _HIGHEST = 0.01, 1000.0


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """One published use of differential privacy on movement data."""

    name: str
    epsilon: Fraction
    unit: str
    delta: str | None = None


# As listed in the OpenDP registry of deployments.
KNOWN = (
    Deployment(name="Google trip flows", epsilon=Fraction(66, 100), unit="user and trip"),
    Deployment(name="Meta Movement Range", epsilon=Fraction(2), unit="user and day"),
    Deployment(name="Google Community Mobility", epsilon=Fraction(264, 100), unit="user and day"),
    Deployment(name="Spectus", epsilon=Fraction(10), unit="user"),
)


def render_ruler(certificate: Certificate) -> str:
    """Returns the ruler as SVG; this release is on it when it has an epsilon and is private."""
    rows = [(known, False) for known in KNOWN]
    epsilon = epsilon_of(certificate)
    if epsilon is not None and certificate.stamp is None:
        ours = Deployment(
            name="This release",
            epsilon=epsilon,
            unit=str(certificate.terms.unit),
            delta=_delta_of(certificate),
        )
        rows.append((ours, True))
    rows.sort(key=lambda row: row[0].epsilon)
    low, high = _ends([float(row.epsilon) for row, _ in rows])
    bottom = _TOP + _ROW * len(rows)
    grid = [_tick(power, low, high, bottom) for power in range(low, high + 1)]
    dots = [
        _ruler_row(row, _TOP + _ROW * i + _ROW // 2, low, high, is_ours=is_ours)
        for i, (row, is_ours) in enumerate(rows)
    ]
    return (
        f'<svg viewBox="0 0 {_WIDTH} {bottom + 36}" role="img" font-size="13" style="fill:{_INK}" '
        'aria-label="Epsilon of this release beside known deployments, on a logarithmic scale">'
        f"{''.join(grid)}{''.join(dots)}"
        f'<text x="{(_LEFT + _RIGHT) / 2:g}" y="{bottom + 32}" text-anchor="middle" '
        f'font-size="12" style="fill:{_SOFT}">epsilon (smaller protects more)</text></svg>'
    )


def _delta_of(certificate: Certificate) -> str | None:
    """Returns the delta at which the epsilon on the ruler holds; None if it holds at every one."""
    conversion = certificate.epsilon_delta
    pure = certificate.claim.measure is Measure.PURE
    return None if pure or conversion is None else conversion.delta


def _tick(power: int, low: int, high: int, bottom: int) -> str:
    x = _position(10.0**power, low, high)
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}" style="stroke:{_LINE}"/>'
        f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle" font-size="12" '
        f'style="fill:{_SOFT}">{10.0**power:g}</text>'
    )


def _ruler_row(row: Deployment, y: int, low: int, high: int, *, is_ours: bool) -> str:
    x = _position(float(row.epsilon), low, high)
    weight, colour, radius = ("bold", _MAIN, 7) if is_ours else ("normal", _GREY, 5)
    return (
        f'<text x="0" y="{y + 4}" font-weight="{weight}">{escape(row.name)}'
        f'<tspan dx="6" font-size="12" font-weight="normal" style="fill:{_SOFT}">'
        f"per {escape(row.unit)}</tspan></text>"
        f'<line x1="{_LEFT}" x2="{x:.1f}" y1="{y}" y2="{y}" style="stroke:{_LINE}"/>'
        f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" style="fill:{colour}"/>'
        f'<text x="{x + 13:.1f}" y="{y + 4}" font-weight="{weight}">'
        f"{escape(_shown_epsilon(row))}</text>"
    )


def _shown_epsilon(row: Deployment) -> str:
    text = number_text(row.epsilon)
    return text if row.delta is None else f"{text}, δ {delta_text(row.delta)}"


def _ends(epsilons: list[float]) -> tuple[int, int]:
    low = math.floor(math.log10(max(_LOWEST, min(epsilons))))
    high = math.ceil(math.log10(min(_HIGHEST, max(epsilons))))
    return min(low, -1), max(high, 1)


def _position(epsilon: float, low: int, high: int) -> float:
    share = (math.log10(max(epsilon, 10.0**low)) - low) / (high - low)
    return _LEFT + (_RIGHT - _LEFT) * min(share, 1.0)
