"""The frame of every picture: size, style, title, claim and caption."""

import io
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hushway.privacy.certificate import Certificate
from hushway.release.wording import claim_text

WIDE, TALL = (12.0, 6.6), (12.0, 7.4)

_DPI = 140
_INK, _SOFT, _ALARM = "#1c2430", "#5a6675", "#b3001b"
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.usetex": False,
    "text.color": _INK,
    "axes.edgecolor": _SOFT,
    "axes.labelcolor": _SOFT,
    "xtick.color": _SOFT,
    "ytick.color": _SOFT,
    "axes.linewidth": 0.8,
}


@contextmanager
def poster(inches: tuple[float, float]) -> Iterator[Figure]:
    """Gives an empty figure in the style of all pictures."""
    with warnings.catch_warnings(), mpl.rc_context(cast("Any", _STYLE)):
        # A title in a script that the font lacks must not stop a release.
        warnings.simplefilter("ignore", UserWarning)
        figure = Figure(figsize=inches, dpi=_DPI, facecolor="white")
        FigureCanvasAgg(figure)
        yield figure


def png_of(figure: Figure) -> bytes:
    """Returns a figure as PNG: the same bytes for the same figure."""
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def write_words(figure: Figure, certificate: Certificate, caption: str) -> None:
    """Writes title, claim and caption, and stamps what protects nobody."""
    claim = claim_text(certificate)
    # The claim stands on the same line and is never cut.
    title = textwrap.shorten(certificate.title, max(30, 96 - len(claim)), placeholder=" …")
    figure.text(0.015, 0.945, title, fontsize=16, fontweight="bold", parse_math=False)
    figure.text(0.985, 0.95, claim, fontsize=11, color=_SOFT, ha="right", parse_math=False)
    figure.text(
        0.015,
        0.1,
        textwrap.fill(caption, 172),
        fontsize=8,
        color=_SOFT,
        va="top",
        linespacing=1.45,
        parse_math=False,
    )
    if certificate.stamp is not None:
        figure.text(
            0.5,
            0.5,
            certificate.stamp,
            fontsize=84,
            fontweight="bold",
            color=_ALARM,
            alpha=0.6,
            rotation=24,
            ha="center",
            va="center",
        )
