"""A picture of an OD release, drawn from the published numbers alone."""

from collections.abc import Sequence

from hushway.families.od.files.city_map import draw_map
from hushway.families.od.files.error_panel import MOST_SHOWN, draw_errors
from hushway.families.od.files.period_panel import draw_periods, measured_periods
from hushway.families.od.files.sums import PublishedSums, published_sums
from hushway.families.od.mechanism.table import ODTable
from hushway.privacy.certificate import Certificate
from hushway.release.ground import MOST_FLOWS
from hushway.release.poster import TALL, WIDE, png_of, poster, write_words
from hushway.release.wording import claim_text


def draw_picture(table: ODTable, certificate: Certificate) -> bytes:
    """Returns a PNG: the flows that stand out from the noise, and the trips of every period.

    A table with sums that add up has a third panel: how far they are from what was measured.
    """
    margins = published_sums(table)
    with poster(TALL if margins else WIDE) as figure:
        flows = figure.add_axes(
            (0.015, 0.165, 0.52, 0.72) if margins else (0.015, 0.135, 0.52, 0.735)
        )
        clear = draw_map(flows, table)
        flows.set_title("Flows that stand out from the noise", loc="left", fontsize=11, pad=6)
        if margins:
            draw_periods(figure.add_axes((0.605, 0.57, 0.38, 0.315)), table, margins)
            draw_errors(figure.add_axes((0.695, 0.185, 0.215, 0.235)), margins)
        else:
            draw_periods(figure.add_axes((0.605, 0.215, 0.38, 0.655)), table, margins)
        write_words(figure, certificate, _caption(table, certificate, clear, margins))
        return png_of(figure)


def _caption(
    table: ODTable, certificate: Certificate, clear: int, margins: Sequence[PublishedSums]
) -> str:
    shown = "all" if clear <= MOST_FLOWS else f"the {MOST_FLOWS} largest"
    flows = (
        f"Drawn from the published numbers alone; {claim_text(certificate)}. Lines bend to the "
        f"right of their way and are as wide as their trips: {shown} of the {clear:,} flows whose "
        "sum over all periods exceeds two standard errors of its noise; the weakest may be chance. "
    )
    return flows + (_sums_words(margins) if margins else _noise_words(table))


def _noise_words(table: ODTable) -> str:
    if table.zeros_left_out:
        lean = "cells without a row are published as 0"
    elif table.threshold is None:
        lean = "counts are never negative, so sums of many small ones lean upwards"
    else:
        lean = (
            f"only cells measured at {table.threshold} or more are in the table, so sums leave "
            "out the others and those near the threshold lean upwards"
        )
    return f"Sums take the errors of cells as independent. Intervals show noise alone: {lean}."


def _sums_words(margins: Sequence[PublishedSums]) -> str:
    periods = (
        "The periods were measured themselves: intervals show the noise of that measurement. "
        if measured_periods(margins) is not None
        else "The periods were not measured themselves, so no intervals are shown. "
    )
    which = "" if len(margins) <= MOST_SHOWN else f" (the {MOST_SHOWN} with the fewest sums)"
    return (
        "The noise of a flow is taken as that of its cells before the fit. "
        f"{periods}All sums add up exactly. Rings{which}: standard error of the noise that was "
        "added to a sum when it was measured. Dots: root mean square of published minus measured. "
        "A dot at or left of its ring means that the sums moved no further than the noise explains."
    )
