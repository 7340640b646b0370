"""A ruler beside known deployments: epsilons on one scale, each with the unit it protects."""

import math
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from hushway.privacy.certificate import Certificate
from hushway.release.wording import epsilon_of, number_text

_WIDTH, _ROW, _TOP = 720, 30, 12
_LEFT, _RIGHT = 310, 650
_INK, _SOFT, _LINE, _MAIN, _GREY = "#1c2430", "#5a6675", "#d9dee5", "#0b5a6e", "#8592a3"
_LOWEST, _HIGHEST = 0.01, 1000.0


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """One published use of differential privacy on movement data."""

    name: str
    epsilon: Fraction
    unit: str


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
        ours = Deployment(name="This release", epsilon=epsilon, unit=str(certificate.terms.unit))
        rows.append((ours, True))
    rows.sort(key=lambda row: row[0].epsilon)
    low, high = _ends([float(row.epsilon) for row, _ in rows])
    bottom = _TOP + _ROW * len(rows)
    grid = [_tick(power, low, high, bottom) for power in range(low, high + 1)]
    dots = [
        _row(row, _TOP + _ROW * i + _ROW // 2, low, high, is_ours=is_ours)
        for i, (row, is_ours) in enumerate(rows)
    ]
    return (
        f'<svg viewBox="0 0 {_WIDTH} {bottom + 36}" role="img" font-size="13" fill="{_INK}" '
        'aria-label="Epsilon of this release beside known deployments, on a logarithmic scale">'
        f"{''.join(grid)}{''.join(dots)}"
        f'<text x="{(_LEFT + _RIGHT) / 2:g}" y="{bottom + 32}" text-anchor="middle" '
        f'font-size="12" fill="{_SOFT}">epsilon (smaller protects more)</text></svg>'
    )


def _tick(power: int, low: int, high: int, bottom: int) -> str:
    x = _position(10.0**power, low, high)
    return (
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}" stroke="{_LINE}"/>'
        f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle" font-size="12" '
        f'fill="{_SOFT}">{10.0**power:g}</text>'
    )


def _row(row: Deployment, y: int, low: int, high: int, *, is_ours: bool) -> str:
    x = _position(float(row.epsilon), low, high)
    weight, colour, radius = ("bold", _MAIN, 7) if is_ours else ("normal", _GREY, 5)
    return (
        f'<text x="0" y="{y + 4}" font-weight="{weight}">{escape(row.name)}'
        f'<tspan dx="6" font-size="12" font-weight="normal" fill="{_SOFT}">'
        f"per {escape(row.unit)}</tspan></text>"
        f'<line x1="{_LEFT}" x2="{x:.1f}" y1="{y}" y2="{y}" stroke="{_LINE}"/>'
        f'<circle cx="{x:.1f}" cy="{y}" r="{radius}" fill="{colour}"/>'
        f'<text x="{x + 13:.1f}" y="{y + 4}" font-weight="{weight}">'
        f"{escape(number_text(row.epsilon))}</text>"
    )


def _ends(epsilons: list[float]) -> tuple[int, int]:
    low = math.floor(math.log10(max(_LOWEST, min(epsilons))))
    high = math.ceil(math.log10(min(_HIGHEST, max(epsilons))))
    return min(low, -1), max(high, 1)


def _position(epsilon: float, low: int, high: int) -> float:
    share = (math.log10(max(epsilon, 10.0**low)) - low) / (high - low)
    return _LEFT + (_RIGHT - _LEFT) * min(share, 1.0)
