"""The panel of a picture that shows how many records have how many stops."""

import math

import numpy as np
from matplotlib.axes import Axes

from hushway.families.sequences.files.ways import records_by_length
from hushway.families.sequences.mechanism.table import SequenceTable

_LINE, _BAR = "#d9dee5", "#3a7c8b"
_MOST_LABELS = 20
# Left of the axes, in their widths: titles of all panels stand in one line.
_TITLE_AT = -0.106


def draw_lengths(axes: Axes, table: SequenceTable) -> None:
    """Draws the published records by their number of stops."""
    records = records_by_length(table)
    stops = np.arange(1, len(records) + 1)
    axes.bar(stops, records, width=0.82, color=_BAR, linewidth=0)
    axes.set_xticks(stops[:: math.ceil(len(stops) / _MOST_LABELS)])
    axes.set_xlim(0.3, len(stops) + 0.7)
    axes.set_ylim(0, max(1.0, 1.05 * int(records.max())))
    axes.tick_params(axis="both", length=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="y", color=_LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("number of stops", fontsize=8.5)
    axes.set_title(
        "Published records by number of stops", loc="left", fontsize=11, pad=6, x=_TITLE_AT
    )
