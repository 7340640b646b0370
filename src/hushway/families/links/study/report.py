"""Reports the reproduction of the DP-ANI paper: tables beside printed numbers, and figures."""

from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as Canvas

from hushway.families.links.study import methods as printed
from hushway.families.links.study.methods import (
    DAY,
    HOUR_LIMITS,
    METHODS,
    METRIC,
    PRINTED,
    REMOVAL,
    SOUND,
    Reproduction,
)
from hushway.privacy.measured import Internal
from hushway.study.drawing import draw_means, finish, finish_map, mark_internal
from hushway.study.results import Report, StudyTable, by_budget, grid


def report(found: Internal[Reproduction]) -> Internal[Report]:
    """Returns what the reproduction found."""
    value = found.value
    facts = asdict(value) | {"figures": value.figures.facts()}
    # The pictures show them; as numbers they would be most of the file.
    del facts["drawn"]
    return Internal(
        Report(
            facts=facts,
            headlines=headline_tables(value),
            further=further_tables(value),
            statements=statements(value),
            pictures={"figures-4-8.png": partial(draw_figures, value)},
        )
    )


_COLOURS = {
    "original": "#111111",
    "DP-ANI": "#b2182b",
    "DP-ANI-Fix": "#ef8a62",
    "DP-ANI-Max": "#d8b365",
    REMOVAL: "#9e9e9e",
    SOUND: "#1a7837",
    METRIC: "#7fbf7b",
    DAY: "#08519c",
}


def draw_figures(found: Reproduction, path: Path) -> None:
    """Writes all figures into one PNG, marked as internal."""
    canvas = Canvas(figsize=(20, 17), layout="constrained")
    axes = canvas.subplots(3, 4)
    for axis, name in zip(axes[0], ("original", "DP-ANI", REMOVAL, SOUND), strict=True):
        _network(axis, found, name, f"Figure 5: {name}")
    _network(axes[1][0], found, METRIC, METRIC)
    _network(axes[1][1], found, DAY, DAY)
    _lines(axes[1][2], found, "length_ratio", "Figure 4: length of the network")
    _lines(axes[1][3], found, "moved", "Figure 6: end links that moved")
    _lines(axes[2][0], found, "counts_distance", "Figure 7: Wasserstein, link counts")
    _lines(axes[2][1], found, "class_distance", "Figure 8: Wasserstein, classes")
    _lines(axes[2][2], found, "top_share", "Busiest 5% of links found")
    _homes(axes[2][3], found)
    mark_internal(canvas)
    canvas.savefig(path, dpi=80)


def _network(axis: Axes, found: Reproduction, name: str, title: str) -> None:
    segments = np.array(found.drawn.segments).reshape(-1, 2, 2)
    counts = np.array(found.drawn.counts[name])
    shown = counts > 0
    axis.add_collection(LineCollection(list(segments), colors="#e4e4e4", linewidths=0.4))
    widths = 0.4 + np.log1p(counts[shown]) / 2
    axis.add_collection(
        LineCollection(list(segments[shown]), colors=_COLOURS[name], linewidths=widths.tolist())
    )
    finish_map(axis, title if name == "original" else f"{title} (ε = 1)")


def _lines(axis: Axes, found: Reproduction, figure: str, title: str) -> None:
    tried = budgets(found)
    for name in PRINTED if figure == "moved" else METHODS:
        draw_means(
            axis,
            [float(epsilon) for epsilon in tried],
            [found.of(name, epsilon, figure) for epsilon in tried],
            color=_COLOURS[name],
            label=name,
        )
    axis.set_xscale("log")
    finish(axis, title, "ε")


def _homes(axis: Axes, found: Reproduction) -> None:
    styles = dict(zip(found.attacks.homes, ("-", "--", ":"), strict=False))
    for epsilon, by_trips in found.attacks.homes.items():
        axis.plot(
            [int(trips) for trips in by_trips],
            list(by_trips.values()),
            color=_COLOURS["DP-ANI"],
            linestyle=styles.get(epsilon, "-"),
            label=f"DP-ANI, ε = {epsilon}",
        )
    axis.axhline(found.attacks.sound_home, color=_COLOURS[SOUND], label="sound, ε = 1")
    axis.axhline(found.attacks.guessed_home, color="#999999", linestyle=":", label="a guess")
    axis.set_xscale("log")
    axis.set_yscale("log")
    finish(axis, "Metres from a home", "trips of its owner")


def statements(found: Reproduction) -> list[str]:
    """Returns the sentences."""
    attacks = found.attacks
    homes = attacks.homes["1"]
    trips = list(homes)
    away = abs(mean_of(found, "DP-ANI", "1", "length_ratio") - 1)
    length = {name: mean_of(found, name, "1", "length_ratio") for name in (SOUND, DAY)}
    top = {name: mean_of(found, name, "1", "top_share") for name in (SOUND, DAY)}
    return [
        f"DP-ANI at ε = 1 is off by {away:.1%} in the length of the network.",
        f"A lone driver is found in DP-ANI with advantage {attacks.faithful_presence:.2f} of 1.",
        f"In the sound release the advantage is {attacks.sound_presence:.2f}.",
        f"The guarantee of the sound release allows {attacks.most_presence:.2f}.",
        (
            f"{trips[-1]} trips from one home give it away to {homes[trips[-1]]:.0f} metres in "
            f"DP-ANI (one trip: {homes[trips[0]]:.0f}). The sound release leads to a place "
            f"{attacks.sound_home:.0f} metres off, a guess to one {attacks.guessed_home:.0f} off."
        ),
        (
            f"With {found.trips:,} trajectories of an hour and at most {HOUR_LIMITS.max_items} "
            f"items of a person, the sound release at ε = 1 shows {length[SOUND]:.1%} of the "
            f"network and finds {top[SOUND]:.0%} of the busiest links."
        ),
        (
            f"With the {found.day_trips:,} trajectories of the day it shows {length[DAY]:.0%} "
            f"and finds {top[DAY]:.0%}."
        ),
    ]


_TITLES = {
    "length_ratio": "Figure 4: length of the network, over that of the original",
    "moved": "Figure 6: share of end links that moved",
    "counts_distance": "Figure 7: Wasserstein distance of link counts, over their mean",
    "class_distance": "Figure 8: Wasserstein distance of functional classes",
    "top_share": "Busiest 5% of links found",
    "major_share": "Kilometres on the busiest 5% of links found",
    "relative_error": "Absolute errors of all links over the sum of the truth",
    "widened": "Share of ends without a link of their class in the circle",
}
_HEADLINES = ("length_ratio", "moved", "counts_distance", "class_distance")


def headline_tables(found: Reproduction) -> list[StudyTable]:
    """Returns the printed numbers beside ours, and the paper's figures."""
    return [published_table(found), *(figure_table(found, name) for name in _HEADLINES)]


def further_tables(found: Reproduction) -> list[StudyTable]:
    """Returns what a city would look at, the attacks, and the gains of each step of the fit."""
    return [
        *(figure_table(found, name) for name in _TITLES if name not in _HEADLINES),
        homes_table(found),
        gains_table(found),
    ]


def published_table(found: Reproduction) -> StudyTable:
    """Returns the numbers that the paper prints, beside those of its methods and of the product."""
    worst = max(abs(mean_of(found, "DP-ANI", e, "length_ratio") - 1) for e in budgets(found))
    moved = ""
    if printed.MOVED_EPSILON in budgets(found):
        moved = f"{mean_of(found, 'DP-ANI', printed.MOVED_EPSILON, 'moved'):.0%}"
    return StudyTable(
        title="Published against ours",
        columns=["figure", "#printed", "#here"],
        rows=[
            ["trajectories", f"about {printed.TRAJECTORIES:,}", f"{found.trips:,}"],
            ["original, miles", f"{printed.ORIGINAL_MILES}", f"{found.miles:.1f}"],
            ["DP-ANI, ε = 1, miles", f"{printed.DP_ANI_MILES}", _miles(found, "DP-ANI")],
            ["OD-successive, miles", f"{printed.REMOVED_MILES}", _miles(found, REMOVAL)],
            ["sound, ε = 1, miles", "", _miles(found, SOUND)],
            ["DP-ANI, largest deviation", f"{printed.MOST_DEVIATION:.0%}", f"{worst:.1%}"],
            ["DP-ANI, ends moved at ε = 0.1 (z_init chosen so)", f"{printed.MOVED:.0%}", moved],
        ],
    )


def figure_table(found: Reproduction, figure: str) -> StudyTable:
    """Returns one figure of all methods that have it."""
    names = PRINTED if figure in {"moved", "widened"} else METHODS
    return by_budget(
        _TITLES[figure],
        "method",
        names,
        budgets(found),
        lambda name, epsilon: found.of(name, epsilon, figure),
    )


def homes_table(found: Reproduction) -> StudyTable:
    """Returns how far off the attacker is who averages where trips of one person begin."""
    attacks = found.attacks
    trips = list(next(iter(attacks.homes.values())))
    metres = {f"DP-ANI, ε = {epsilon}": home for epsilon, home in attacks.homes.items()}
    metres["sound, ε = 1"] = dict.fromkeys(trips, attacks.sound_home)
    metres["a guess without data"] = dict.fromkeys(trips, attacks.guessed_home)
    return grid(
        "Metres from a home, by number of trips of its owner",
        "published",
        metres,
        dict(zip(trips, trips, strict=True)),
        lambda name, number: f"{metres[name][number]:.0f}",
    )


def gains_table(found: Reproduction) -> StudyTable:
    """Returns what each step of the fit gains."""
    return grid(
        "Root mean square error of links, by number of people with one trip each (ε = 1)",
        "fit",
        next(iter(found.gains.values())),
        {f"{int(trips):,}": errors for trips, errors in found.gains.items()},
        lambda fit, errors: f"{errors[fit]:.3g}",
    )


def budgets(found: Reproduction) -> list[str]:
    """Returns the budgets that were tried."""
    return found.figures.tried("epsilon")


def mean_of(found: Reproduction, method: str, epsilon: str, figure: str) -> float:
    """Returns the mean of one number."""
    return found.of(method, epsilon, figure).mean


def _miles(found: Reproduction, method: str) -> str:
    return f"{mean_of(found, method, '1', 'length_ratio') * found.miles:.1f}"
