"""The reproduction of the DP-ANI paper as tables, beside what the paper prints."""

from hushway.families.links.study import published as printed
from hushway.families.links.study.methods import METHODS, PRINTED, REMOVAL, SOUND
from hushway.families.links.study.numbers import Reproduction
from hushway.study.study_table import StudyTable

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
    return StudyTable(
        title=_TITLES[figure],
        columns=["method", *(f"#ε = {epsilon}" for epsilon in budgets(found))],
        rows=[
            [name, *(str(found.of(name, epsilon, figure)) for epsilon in budgets(found))]
            for name in names
        ],
    )


def homes_table(found: Reproduction) -> StudyTable:
    """Returns how far off the attacker is who averages where trips of one person begin."""
    homes = found.attacks.homes
    trips = list(next(iter(homes.values())))
    sound = [["sound, ε = 1", *(f"{found.attacks.sound_home:.0f}" for _ in trips)]]
    guess = [["a guess without data", *(f"{found.attacks.guessed_home:.0f}" for _ in trips)]]
    return StudyTable(
        title="Metres from a home, by number of trips of its owner",
        columns=["published", *(f"#{number}" for number in trips)],
        rows=[
            *(
                [f"DP-ANI, ε = {epsilon}", *(f"{metres:.0f}" for metres in by_trips.values())]
                for epsilon, by_trips in homes.items()
            ),
            *sound,
            *guess,
        ],
    )


def gains_table(found: Reproduction) -> StudyTable:
    """Returns what each step of the fit gains."""
    fits = list(next(iter(found.gains.values())))
    return StudyTable(
        title="Root mean square error of links, by number of people with one trip each (ε = 1)",
        columns=["fit", *(f"#{int(trips):,}" for trips in found.gains)],
        rows=[[fit, *(f"{errors[fit]:.3g}" for errors in found.gains.values())] for fit in fits],
    )


def budgets(found: Reproduction) -> tuple[str, ...]:
    """Returns the budgets that were tried."""
    return tuple(dict.fromkeys(figure.epsilon for figure in found.figures))


def mean_of(found: Reproduction, method: str, epsilon: str, figure: str) -> float:
    """Returns the mean of one number."""
    return found.of(method, epsilon, figure).mean


def _miles(found: Reproduction, method: str) -> str:
    return f"{mean_of(found, method, '1', 'length_ratio') * found.miles:.1f}"
