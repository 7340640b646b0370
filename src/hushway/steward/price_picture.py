"""The picture of a price curve."""

import io
from pathlib import Path
from typing import Final

import matplotlib as mpl

from hushway.errors import PlanError
from hushway.release.drawing.ground import COLOURS, png_of, poster
from hushway.release.wording import at_delta_text
from hushway.steward.price_curve import PriceCurve

FORMATS: Final = (".png", ".svg")
_MARKS: Final = "osD^vP*"


def refuse_format(file: Path) -> None:
    """Refuses a file that is no picture.

    Raises:
        PlanError: Its name ends in something else.
    """
    if file.suffix.lower() not in FORMATS:
        raise PlanError(
            f"{file.name} is not the name of a picture.", advice="End it in .png or .svg."
        )


def draw_curve(curve: PriceCurve, file_format: str) -> bytes:
    """Returns a picture of errors by epsilon, as "png" or "svg": the same bytes for the same curve.

    Errors are shares of their figures where sizes are known, and amounts elsewhere.
    """
    with poster((10, 5)) as figure:
        # The names stand beside the lines, where they hide none of them.
        axes = figure.add_axes((0.08, 0.12, 0.54, 0.8))
        for number, name in enumerate(curve.figures):
            budgets, errors = _line(curve, name)
            axes.plot(
                budgets,
                errors,
                marker=_MARKS[number // len(COLOURS) % len(_MARKS)],
                color=COLOURS[number % len(COLOURS)],
                label=name,
            )
        axes.set_xscale("log")
        ticks = [float(epsilon) for epsilon in sorted(curve.points)]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(_plain)
        axes.yaxis.set_minor_formatter(_plain)
        axes.set_xlabel(f"ε{at_delta_text(curve.delta)}")
        axes.set_ylabel(_axis(curve))
        axes.grid(visible=True, alpha=0.3)
        names = axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False)
        for text in names.get_texts():
            text.set_parse_math(False)
        axes.set_title(
            "A forecast for a guessed crowd, not a guarantee" if curve.foreseen else "Noise alone",
            loc="left",
            fontsize=11,
        )
        if file_format == "png":
            return png_of(figure)
        written = io.BytesIO()
        # Ids and the date of an SVG would differ from run to run.
        with mpl.rc_context({"svg.hashsalt": "hushway"}):
            figure.savefig(written, format="svg", metadata={"Date": None})
        return written.getvalue()


def _plain(value: float, _position: float | None) -> str:
    """Writes 20 rather than 2 x 10^1, and only where a reader of a log scale looks."""
    return f"{value:g}" if f"{value:e}"[0] in "125" else ""


def _line(curve: PriceCurve, name: str) -> tuple[list[float], list[float]]:
    budgets, errors = [], []
    for epsilon in sorted(curve.points):
        found = curve.at(epsilon, name)
        off = None if found is None else found.share if curve.foreseen else found.error
        if off:
            budgets.append(float(epsilon))
            errors.append(100 * off if curve.foreseen else off)
    return budgets, errors


def _axis(curve: PriceCurve) -> str:
    if curve.foreseen:
        return "off by, on average (% of the figure)"
    return f"noise (1 standard deviation, in {curve.counted})"
