"""The panels beside the map of a network: how riders travel, and the shuttles of each zone."""

import numpy as np
from matplotlib.axes import Axes

from hushway.arrays import IntArray
from hushway.geography.itineraries import MODES
from hushway.release.ground import colours_of
from hushway.transit.fleet import FleetPlan
from hushway.transit.picture.map import INK, SOFT

NO_ZONE = "(no zone)"

_BY_BUS, _BY_SHUTTLE = "#0b3c6f", "#8fb1c9"
_MOST_ZONES = 12
_MOST_LETTERS = 16
# Room for the words to the right of the longest bar, as a share of it.
_SHARE_ROOM, _FLEET_ROOM = 0.3, 1.15
_FEWEST_ROWS = 6


def draw_modes(axes: Axes, counts: IntArray) -> None:
    """Draws the share of trips that go by each mode; modes that nobody uses are left out."""
    used = [mode for mode in np.argsort(-counts, kind="stable").tolist() if counts[mode]]
    shares = counts[used] / max(1, int(counts.sum()))
    colours = [_BY_BUS if "bus" in MODES[mode] else _BY_SHUTTLE for mode in used]
    axes.barh(range(len(used)), shares, color=colours, height=0.68)
    for row, share in enumerate(shares.tolist()):
        words = f"{share:.0%}" if share >= 0.01 else "< 1%"  # noqa: PLR2004
        axes.text(share, row, f"  {words}", va="center", fontsize=9)
    axes.set_title("How riders travel", loc="left", fontsize=11.5, fontweight="bold", pad=8)
    _tidy(axes, [MODES[mode] for mode in used], (1 + _SHARE_ROOM) * float(shares.max(initial=0.01)))


def draw_fleet(axes: Axes, plan: FleetPlan) -> None:
    """Draws the shuttles of each zone, and how many of them any dispatching needs."""
    sizes = np.array(plan.sizes)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:_MOST_ZONES]).tolist()
    colours = colours_of(len(plan.zones))
    rows = range(len(largest))
    shown = [plan.zones[zone] for zone in largest]
    axes.barh(
        rows,
        [zone.shuttles for zone in shown],
        color=[colours[zone] for zone in largest],
        height=0.68,
    )
    for row, zone in zip(rows, shown, strict=True):
        least = zone.bound.shuttles
        axes.plot([least, least], [row - 0.44, row + 0.44], color=INK, lw=2.4)
        words = f"  {zone.shuttles:,}, at least {least:,}"
        axes.text(max(zone.shuttles, least), row, words, va="center", fontsize=9)
    title = "Shuttles of each zone"
    if len(largest) < len(plan.zones):
        title = f"Shuttles of the {len(largest)} largest zones of {len(plan.zones)}"
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", pad=8)
    _tidy(
        axes,
        [_short(zone.zone or NO_ZONE) for zone in shown],
        (1 + _FLEET_ROOM) * float(sizes.max(initial=1)),
    )


def _tidy(axes: Axes, names: list[str], right: float) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=9, color=INK, parse_math=False)
    axes.set_ylim(max(len(names), _FEWEST_ROWS) - 0.5, -0.5)
    axes.set_xlim(0, right)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.spines["left"].set_color(SOFT)
    axes.spines["left"].set_bounds(-0.5, len(names) - 0.5)


def _short(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"
