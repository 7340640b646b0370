"""A picture of a sized network: where buses and shuttles run, and how many shuttles it takes."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.arrays import FloatArray, IntArray
from hushway.geography.itineraries import MODES, NO_CHANGE, Itineraries
from hushway.geography.transit import TransitNetwork
from hushway.release.drawing.ground import colours_of, png_of, poster
from hushway.release.wording import plural
from hushway.transit.fleet import FleetPlan
from hushway.transit.legs import RiderTrips, planned_legs
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
    plan: FleetPlan, network: TransitNetwork, *, title: str, routes: Itineraries, trips: RiderTrips
) -> bytes:
    """Returns a PNG of 1600 x 1000 pixels: a map of the network in operation, and two panels.

    Privacy:
        The picture shows the trips that it is given. It may be published only if they may.
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
        shuttles, legs = plural(zone.shuttles, "shuttle"), plural(zone.legs, "leg")
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
        f"{plural(plan.shuttles, 'shuttle')}; no dispatching does with fewer than "
        f"{plan.at_least:,}. {plural(len(trips), 'trip')}{by_bus}."
    )


def riders_by_stretch(routes: Itineraries, trips: RiderTrips) -> tuple[IntArray, ...]:
    """Returns, for each line, the riders on its way from each stop to the next."""
    start, end = _bus_rides(routes, trips)
    rides, lines = routes.rides, routes.network.lines
    # The stops of all lines stand in one row; riders add 1 where they board and take it away where
    # they get off, so that sums from the left are the riders on board.
    first_stop = np.concatenate([[0], np.cumsum([len(line.stops) for line in lines])])
    first_stop = first_stop.astype(np.int64)
    line = rides.line[start, end]
    boarded = first_stop[line] + rides.board[start, end]
    left = first_stop[line] + rides.alight[start, end]
    stops = int(first_stop[-1])
    change = np.bincount(boarded, minlength=stops) - np.bincount(left, minlength=stops)
    on_board = np.cumsum(change)
    return tuple(
        on_board[first_stop[number] : first_stop[number + 1] - 1] for number in range(len(lines))
    )


def shuttle_pickups(routes: Itineraries, trips: RiderTrips) -> IntArray:
    """Returns how many riders a shuttle picks up at each place."""
    # When a leg is asked for does not matter here.
    legs = planned_legs(routes, trips, shuttle_wait_s=0)
    pickup = np.concatenate([each.pickup for each in legs])
    return np.bincount(pickup, minlength=len(routes.network.locations))


def trips_by_mode(routes: Itineraries, trips: RiderTrips) -> IntArray:
    """Returns how many trips go by each of the `MODES`."""
    mode = routes.mode[trips.origin, trips.destination]
    return np.bincount(mode[mode >= 0], minlength=len(MODES))


def bus_trips(routes: Itineraries, trips: RiderTrips) -> int:
    """Returns how many trips ride a bus."""
    ends = trips.origin, trips.destination
    return int((routes.first[ends] != routes.last[ends]).sum())


def _bus_rides(routes: Itineraries, trips: RiderTrips) -> tuple[IntArray, IntArray]:
    """Returns the hubs where each ride on one bus begins and ends."""
    ends = trips.origin, trips.destination
    first, last = routes.first[ends], routes.last[ends]
    by_bus = first != last
    first, last = first[by_bus], last[by_bus]
    change = routes.rides.change[first, last]
    changed = change != NO_CHANGE
    middle = change[changed]
    start = np.concatenate([first[~changed], first[changed], middle])
    return start, np.concatenate([last[~changed], middle, last[changed]])


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
