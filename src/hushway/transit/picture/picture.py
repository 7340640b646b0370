"""A picture of a sized network: where buses and shuttles run, and how many shuttles it takes."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.arrays import FloatArray, IntArray
from hushway.geography.itineraries import Itineraries
from hushway.geography.transit import TransitNetwork
from hushway.release.poster import png_of, poster
from hushway.transit.fleet import FleetPlan
from hushway.transit.picture.labels import Box, Labels, Words
from hushway.transit.picture.map import (
    INK,
    SOFT,
    DrawnStretch,
    draw_ground,
    draw_hubs,
    draw_line_names,
    draw_lines,
    draw_scale_bar,
    points_along,
    positions_m,
    stretches_of,
)
from hushway.transit.picture.panels import NO_ZONE, draw_fleet, draw_modes
from hushway.transit.picture.riders import (
    bus_trips,
    riders_by_stretch,
    shuttle_pickups,
    trips_by_mode,
)
from hushway.transit.rider_trips import RiderTrips

# 1600 x 1000 pixels in the resolution of all pictures.
_INCHES = (1600 / 140, 1000 / 140)
_MAP = (0.012, 0.085, 0.665, 0.805)
_MOST_HUB_NAMES, _MOST_NUMBERS, _MOST_ZONE_LABELS = 24, 30, 40
_FEW_ZONES = 8
_HUB_PIXELS, _HUB_LETTERS = 14, 18


@dataclass(frozen=True, kw_only=True, eq=False)
class _Drawn:
    """What is on the map: places in metres, stretches, and the shuttle pickups of each place."""

    at: FloatArray
    stretches: Sequence[DrawnStretch]
    pickups: IntArray


def draw_network(
    plan: FleetPlan,
    network: TransitNetwork,
    *,
    title: str,
    routes: Itineraries,
    trips: RiderTrips,
) -> bytes:
    """Returns a PNG of 1600 x 1000 pixels: a map of the network at work, and two panels.

    Privacy:
        The picture shows the trips that it is given. It may be published only if they may.

    Args:
        plan: The shuttles of each zone.
        network: The network.
        title: What the picture is called.
        routes: The ways through the network.
        trips: The trips that the fleet was planned for.
    """
    at = positions_m(network)
    pickups = shuttle_pickups(routes, trips)
    stretches = stretches_of(network, riders_by_stretch(routes, trips))
    with poster(_INCHES) as figure:
        axes = figure.add_axes(_MAP)
        draw_ground(axes, network, at, pickups)
        lines = draw_lines(axes, at, stretches)
        draw_hubs(axes, network, at, pickups)
        draw_line_names(axes, network, lines)
        draw_scale_bar(axes)
        drawn = _Drawn(at=at, stretches=lines, pickups=pickups)
        _label(figure, axes, network, plan, drawn)
        draw_modes(figure.add_axes((0.815, 0.51, 0.175, 0.36)), trips_by_mode(routes, trips))
        draw_fleet(figure.add_axes((0.815, 0.11, 0.175, 0.31)), plan)
        facts = _facts(plan, routes, trips)
        _write_words(figure, title, facts=facts, has_lines=bool(network.lines))
        return png_of(figure)


def _label(
    figure: Figure, axes: Axes, network: TransitNetwork, plan: FleetPlan, drawn: _Drawn
) -> None:
    """Writes the names of zones and hubs and the riders of stretches, in this order."""
    at = axes.transData.transform(drawn.at)
    frame = Box(*axes.get_window_extent().extents)
    labels = Labels(figure, frame, points_along(axes, drawn.stretches))
    legend = axes.get_legend()
    if legend is not None:
        labels.keep_clear(Box(*legend.get_window_extent().extents))
    for x, y in at[list(network.hubs)].tolist():
        labels.keep_clear(Box(x - _HUB_PIXELS, y - _HUB_PIXELS, x + _HUB_PIXELS, y + _HUB_PIXELS))
    _label_zones(labels, network, plan, at)
    busiest = sorted(network.hubs, key=lambda hub: -int(drawn.pickups[hub]))
    for hub in busiest[:_MOST_HUB_NAMES]:
        name = textwrap.wrap(network.locations.places[hub].name, _HUB_LETTERS, max_lines=2)
        rows = [Words(text=row, size=8.5, colour=INK) for row in name]
        labels.around(at[hub], rows, gap=_HUB_PIXELS - 2)
    if len(drawn.stretches) <= _MOST_NUMBERS:
        for each in drawn.stretches:
            riders = f"{each.stretch.riders:,}"
            row = Words(text=riders, size=8.5, colour=each.colour, weight="bold")
            middle = axes.transData.transform(each.ends).mean(axis=0)
            labels.around(middle, [row], gap=each.width)


def _label_zones(labels: Labels, network: TransitNetwork, plan: FleetPlan, at: FloatArray) -> None:
    """Says at every zone how many shuttles it has; the largest zones choose their spot first."""
    order = np.argsort([-zone.legs for zone in plan.zones], kind="stable")
    size = 1.0 if len(plan.zones) <= _FEW_ZONES else 0.65
    # More labels would hide the map.
    for number in order[:_MOST_ZONE_LABELS].tolist():
        zone = plan.zones[number]
        shuttles, legs = _many(zone.shuttles, "shuttle"), _many(zone.legs, "leg")
        words = (
            Words(text=zone.zone or NO_ZONE, size=10 * size, colour=SOFT, weight="bold"),
            Words(text=shuttles, size=17 * size, colour=INK, weight="bold"),
            Words(text=legs, size=10 * size, colour=SOFT),
        )
        here = network.zone == number
        labels.among(at[here], at[~here], words)


def _write_words(figure: Figure, title: str, *, facts: str, has_lines: bool) -> None:
    shown = textwrap.shorten(title, 72, placeholder=" …")
    figure.text(0.015, 0.945, shown, fontsize=18, fontweight="bold", parse_math=False)
    figure.text(0.015, 0.908, facts, fontsize=11.5, color=SOFT, parse_math=False)
    places = "Dots: places, as large as the shuttle rides that begin there. "
    buses = (
        "Squares: hubs, likewise. Bus lines are as wide as their riders both ways, who are counted "
        "beside them where there is room; a triangle shows that buses run one way only. "
    )
    bound = "A dark tick on a bar: no fewer shuttles can serve that zone, whoever dispatches them."
    figure.text(
        0.015,
        0.055,
        textwrap.fill(places + (buses if has_lines else "") + bound, 188),
        fontsize=8,
        color=SOFT,
        va="top",
        linespacing=1.45,
        parse_math=False,
    )


def _facts(plan: FleetPlan, routes: Itineraries, trips: RiderTrips) -> str:
    share = bus_trips(routes, trips) / max(1, len(trips))
    by_bus = f", {share:.0%} of them by bus" if routes.network.lines else ""
    return (
        f"{_many(plan.shuttles, 'shuttle')}; no dispatching does with fewer than "
        f"{plan.at_least:,}. {_many(len(trips), 'trip')}{by_bus}."
    )


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
