"""The reproduction of the paper on densities as tables, beside what the paper prints."""

import math

import numpy as np

from hushway.families.density.study import methods as printed
from hushway.families.density.study.methods import (
    BY_VISITS,
    DEFAULT,
    EPSILON,
    HISTOGRAMS,
    HONEST,
    MAX_VISITS,
    METHODS,
    PRINTED,
    SLOW,
    Reproduction,
)
from hushway.families.density.study.methods import EPSILONS as HISTOGRAM_EPSILONS
from hushway.families.density.study.reproduce import BOXED, EPSILONS, FEW_RUNS, KEYS, MOVED, VISITS
from hushway.study.results import StudyTable, by_budget, grid

_PARTS_OF_DAY = {
    "00:00-06:00": slice(0, 6),
    "06:00-09:00": slice(6, 9),
    "09:00-24:00": slice(9, 24),
}
_BUDGETS = [f"#ε = {epsilon}" for epsilon in EPSILONS]


def headline_tables(found: Reproduction) -> list[StudyTable]:
    """Returns the tables that answer what the paper prints in words."""
    return [published_table(found), _by_method(found, "mre"), _by_method(found, "pearson")]


def further_tables(found: Reproduction) -> list[StudyTable]:
    """Returns the tables behind the other figures, the costs, and the gains of each step."""
    return [
        *(_by_visits(found, figure) for figure in ("mre", "pearson")),
        *(_histograms(found, figure) for figure in ("divergence", "mre")),
        _by_hour(found),
        *(_boxes(found, figure) for figure in ("mre", "pearson")),
        costs_table(found),
        gains_table(found),
    ]


def published_table(found: Reproduction) -> StudyTable:
    """Returns the numbers that the paper prints, beside those of its method and of the default."""
    worst = {
        method: max(mean_of(found, method, "mre", visits=visits) for visits in VISITS)
        for method in BOXED
    }
    least = {
        method: min(mean_of(found, method, "pearson", visits=visits) for visits in VISITS)
        for method in BOXED
    }
    rows = [
        _row("MRE", f"{printed.MRE}", *(mean_of(found, name, "mre") for name in BOXED)),
        _row("MRE, worst l of 10, 30, 168", f"< {printed.MRE_BELOW}", *worst.values()),
        _row("PC, worst l of 10, 30, 168", f"> {printed.PEARSON_ABOVE}", *least.values()),
        *(
            [f"EMD in metres, {name}", f"{metres:.0f}", _mean_text(found, name, "metres"), ""]
            for name, metres in printed.EARTH_MOVERS.items()
        ),
        ["EMD in metres, default", "", "", _mean_text(found, DEFAULT, "metres")],
        *(
            [title, known, f"{_difference(found, title):+.3f}", ""]
            for title, known in _DIFFERENCES.items()
        ),
    ]
    return StudyTable(
        title="Published against ours (ε = 0.3, l = 30; differences: mean over all ε)",
        columns=["figure", "#printed", "#paper's method here", "#default"],
        rows=rows,
    )


def costs_table(found: Reproduction) -> StudyTable:
    """Returns what the variants claim and cost, and how they do if they keep their word."""
    rows = []
    for name, cost in found.costs.items():
        honest = f"{name}, honest"
        rows.append(
            [
                name,
                f"{cost.claimed:.3g}",
                f"{cost.witnessed:.3g}",
                f"{cost.at_most:.3g}",
                _mean_text(found, name, "mre"),
                _mean_text(found, honest if honest in METHODS else name, "mre"),
            ]
        )
    claimed = f"{float(EPSILON):.3g}"
    error = _mean_text(found, DEFAULT, "mre")
    rows.append([DEFAULT, claimed, "", claimed, error, error])
    return StudyTable(
        title="What is claimed, what it costs, and the MRE as printed and with a claim that holds",
        columns=["method", "#claimed ε", "#proven ε, at least", "#at most", "#MRE", "#MRE, honest"],
        rows=rows,
    )


def gains_table(found: Reproduction) -> StudyTable:
    """Returns what each way to fit the same noisy measurements gains."""
    return grid(
        "The same noisy measurements, fitted in other ways (ε = 0.3, l = 30)",
        "fit",
        found.gains,
        {"MRE": "mre", "PC": "pearson", "RSSE": "rsse"},
        lambda name, figure: found.gains[name][figure],
    )


def _by_method(found: Reproduction, figure: str) -> StudyTable:
    return by_budget(
        f"Figure 8: {_TITLES[figure]}, l = 30, mean and (standard deviation over runs)",
        "method",
        METHODS,
        EPSILONS,
        lambda name, epsilon: _spread_text(found, name, epsilon, MAX_VISITS, figure),
    )


def _by_visits(found: Reproduction, figure: str) -> StudyTable:
    return StudyTable(
        title=f"Figure 7: {_TITLES[figure]}, mean and (standard deviation over runs)",
        columns=["method", "#l", *_BUDGETS],
        rows=[
            [name, f"{visits}", *(_spread_text(found, name, e, visits, figure) for e in EPSILONS)]
            for name in BY_VISITS
            for visits in VISITS
        ],
    )


def _histograms(found: Reproduction, figure: str) -> StudyTable:
    title = {
        "divergence": "Figure 6a: Jensen-Shannon divergence of the histogram of sites, in bits",
        "mre": "Figure 6b: mean relative error of the visits of a site",
    }[figure]
    return grid(
        title,
        "noise on",
        HISTOGRAMS,
        {f"ε' = {epsilon}": epsilon for epsilon in HISTOGRAM_EPSILONS},
        lambda name, epsilon: found.of(name, epsilon, MAX_VISITS, figure),
    )


def _by_hour(found: Reproduction) -> StudyTable:
    rows = []
    for name, errors in found.details.error_by_hour.items():
        days = np.array(errors).reshape(-1, 24)
        parts = [f"{days[:, hours].mean():.3f}" for hours in _PARTS_OF_DAY.values()]
        rows.append([name, *parts, _mean_text(found, name, "metres") if name in MOVED else ""])
    return StudyTable(
        title="Figure 9: relative error by time of day, and earth mover's distance (ε = 0.3)",
        columns=["method", *(f"#{part}" for part in _PARTS_OF_DAY), "#EMD, metres"],
        rows=rows,
    )


def _boxes(found: Reproduction, figure: str) -> StudyTable:
    rows = []
    for name in BOXED:
        for part in ("high_quartile", "median", "low_quartile"):
            row = [f"{getattr(found.boxes[name][e][figure], part):.3f}" for e in EPSILONS]
            rows.append([name, part.replace("_", " "), *row])
    return StudyTable(
        title=f"Figure 10: {_TITLES[figure]}, over the areas of all runs",
        columns=["method", "of areas", *_BUDGETS],
        rows=rows,
    )


_DIFFERENCES = {
    "MRE, EFPAG less EFPA": f"-{printed.EFPAG_MRE_GAIN}",
    "PC, EFPAG less EFPA": f"+{printed.EFPAG_PEARSON_GAIN}",
    "MRE, EFPA less EFPA-": f"-{printed.IMPROVEMENTS_MRE_GAIN}",
    "PC, EFPA less EFPA-": f"+{printed.IMPROVEMENTS_PEARSON_GAIN}",
}
_TITLES = {"mre": "mean relative error (MRE)", "pearson": "Pearson's correlation (PC)"}


def _row(figure: str, known: str, *ours: float) -> list[str]:
    return [figure, known, *(f"{number:.3f}" for number in ours)]


def _difference(found: Reproduction, title: str) -> float:
    """Returns the difference that a title names, mean over all budgets."""
    figure, methods = title.split(", ")
    with_it, without = methods.split(" less ")
    name = {"MRE": "mre", "PC": "pearson"}[figure]
    gains = [
        mean_of(found, with_it, name, epsilon=e) - mean_of(found, without, name, epsilon=e)
        for e in EPSILONS
    ]
    return float(np.mean(gains))


def _mean_text(found: Reproduction, method: str, figure: str) -> str:
    return str(found.of(method, EPSILON, MAX_VISITS, figure))


def _spread_text(found: Reproduction, method: str, epsilon: str, visits: int, figure: str) -> str:
    key = method, epsilon, visits, figure
    text, deviation = f"{found.of(*key).mean:.3f}", found.figures.deviation(*key)
    gap = "\N{NO-BREAK SPACE}"
    return text if math.isnan(deviation) else f"{text}{gap}({deviation:.3f})"


def mean_of(
    found: Reproduction,
    method: str,
    figure: str,
    *,
    epsilon: str = EPSILON,
    visits: int = MAX_VISITS,
) -> float:
    """Returns the mean of a figure over runs."""
    return found.of(method, epsilon, visits, figure).mean


def statements(found: Reproduction) -> list[str]:
    """Returns the claims that the numbers bear out, or do not."""
    best = min(PRINTED, key=lambda name: mean_of(found, name, "mre"))
    mean = mean_of(found, DEFAULT, "mre")
    closest = mean_of(found, best, "mre")
    first = (
        f"At the claimed budget the default (MRE {mean:.3f}) {_does(closest > mean, 'beats')} "
        f"every printed variant (best: {best}, {closest:.3f})."
    )
    lines = [first]
    for name in HONEST:
        as_printed = name.removesuffix(", honest")
        honest, printed = mean_of(found, name, "mre"), mean_of(found, as_printed, "mre")
        lines.append(
            f"{as_printed} with a claim that holds {_is(honest > printed)} worse than as printed "
            f"(MRE {honest:.3f} against {printed:.3f}), and {_is(honest > mean)} worse than the "
            "default."
        )
    coverage = mean_of(found, DEFAULT, "coverage")
    lines.append(f"{coverage:.1%} of the true counts lie within 1.96 published standard errors.")
    for name, errors in found.keys.items():
        noise = found.figures.deviation(name, EPSILON, MAX_VISITS, "mre")
        lines.append(
            f"{name}: drawing other visits of the same people moves the MRE by "
            f"{np.std(errors, ddof=1):.4f} (standard deviation over {KEYS} draws, noise the same); "
            f"other noise with the same visits by {noise:.4f}. Visits were drawn once for all runs."
        )
    lines.append(
        f"Earth mover's distances are means over all hours of {min(found.runs, FEW_RUNS)} runs; "
        f"so many runs are behind {', '.join(repr(name) for name in SLOW)} as well."
    )
    return lines


def _is(holds: bool) -> str:
    return "is" if holds else "is not"


def _does(holds: bool, verb: str) -> str:
    return verb if holds else f"does not {verb.removesuffix('s')}"
