"""Reports the reproduction of the prefix-tree paper: tables beside printed numbers, and figures."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hushway.families.sequences.study.reproduce import (
    EPSILON,
    EPSILONS,
    HEIGHT,
    HEIGHTS,
    METHODS,
    MOST_PATTERNS,
    PATTERNS,
    QUERY_LENGTHS,
    Reproduction,
)
from hushway.privacy.measured import Internal
from hushway.study.drawing import finish, shared_legend
from hushway.study.results import Interval, Report, StudyTable, beside_printed

_DATA = ("Metro", "Bus")


def report(found: Internal[Reproduction]) -> Internal[Report]:
    """Returns what the reproduction found."""
    value = found.value
    return Internal(
        Report(
            facts=asdict(value) | {"figures": value.figures.facts()},
            headlines=headline_tables(value),
            statements=statements(value),
            pictures={"figures-3-5.png": partial(draw_figures, value)},
        )
    )


# Tables 3 to 5: how many of the k most frequent patterns of size above 1 are found, by method and
# data set. One column of numbers for each table, by what it varies.
Found = dict[str, dict[str, dict[str, int]]]

TABLE_3: Found = {
    "Hybrid": {
        "Metro": {"100": 100, "150": 149, "200": 185, "250": 220, "300": 257},
        "Bus": {"100": 100, "150": 144, "200": 177, "250": 209, "300": 233},
    },
    "Simple": {
        "Metro": {"100": 99, "150": 143, "200": 178, "250": 209, "300": 241},
        "Bus": {"100": 97, "150": 139, "200": 168, "250": 195, "300": 212},
    },
}
TABLE_4: Found = {
    "Hybrid": {
        "Metro": {"0.5": 244, "0.75": 253, "1": 257, "1.25": 259, "1.5": 261},
        "Bus": {"0.5": 215, "0.75": 224, "1": 233, "1.25": 238, "1.5": 242},
    },
    "Simple": {
        "Metro": {"0.5": 227, "0.75": 239, "1": 241, "1.25": 243, "1.5": 248},
        "Bus": {"0.5": 194, "0.75": 206, "1": 212, "1.25": 216, "1.5": 224},
    },
}
TABLE_5: Found = {
    "Hybrid": {
        "Metro": {
            "6": 241, "8": 254, "10": 255, "12": 257, "14": 258, "16": 258, "18": 255, "20": 254,
        },
        "Bus": {
            "6": 221, "8": 232, "10": 236, "12": 233, "14": 233, "16": 231, "18": 230, "20": 228,
        },
    },
    "Simple": {
        "Metro": {
            "6": 234, "8": 240, "10": 241, "12": 241, "14": 241, "16": 240, "18": 240, "20": 238,
        },
        "Bus": {
            "6": 212, "8": 217, "10": 215, "12": 212, "14": 212, "16": 210, "18": 209, "20": 206,
        },
    },
}  # fmt: skip

# Section 5.1: the mean relative error of Hybrid at epsilon 0.5 and queries of up to 3 locations is
# below this on both data sets; section 5.2: seconds of any release.
WORST_QUERY_ERROR = 0.082
MOST_SECONDS = 22.0


_COLOURS = {
    "Hybrid": "#08519c",
    "Simple": "#8a4b08",
    "tree": "#238b45",
    "completed": "#88419d",
    "learned": "#c51b8a",
}


_LABELS = {"tree": "hushway's tree", "completed": "its tree, completed", "learned": "its default"}


def draw_figures(found: Reproduction, path: Path) -> None:
    """Writes error against budget, error against height and seconds against size, as PNG."""
    figure = Figure(figsize=(12, 7), layout="constrained")
    axes = figure.subplots(2, 3)
    budgets: dict[float, _Setting] = {float(epsilon): (epsilon, HEIGHT) for epsilon in EPSILONS}
    heights: dict[float, _Setting] = {float(height): (EPSILON, height) for height in HEIGHTS}
    short, longer = QUERY_LENGTHS[:2]
    for row, data in zip(axes, _DATA, strict=True):
        _errors(row[0], found, data, short, budgets)
        finish(
            row[0],
            f"{data}: queries of up to {short}",
            "ε (one record)",
            "relative error",
            legend=False,
        )
        _errors(row[1], found, data, longer, heights)
        finish(
            row[1], f"{data}: queries of up to {longer}", "height h", "relative error", legend=False
        )
        times = found.seconds_by_records[data]
        _line(row[2], [(records / 1000, seconds) for records, seconds in times.items()], "learned")
        row[2].set_ylim(bottom=0)
        finish(row[2], f"{data}: time of a release", "thousand records", "seconds", legend=False)
    shared_legend(figure, axes[0][0], "outside lower center", ncols=len(METHODS))
    figure.savefig(path, dpi=140)


_Setting = tuple[str, int]


def _errors(
    axis: Axes, found: Reproduction, data: str, longest: int, settings: dict[float, _Setting]
) -> None:
    for method in METHODS:
        points = {
            across: found.of(data, method, *setting, f"queries.{longest}")
            for across, setting in settings.items()
        }
        _line(axis, [(x, y.mean) for x, y in points.items() if y is not None], method)
    axis.set_yscale("log")


def _line(axis: Axes, points: list[tuple[float, float]], method: str) -> None:
    axis.plot(
        [x for x, _ in points],
        [y for _, y in points],
        color=_COLOURS[method],
        marker="o",
        markersize=3,
        label=_LABELS.get(method, method),
    )


def headline_tables(found: Reproduction) -> list[StudyTable]:
    """Returns the tables that answer the paper's own."""
    return [
        _patterns(
            "Table 3: frequent patterns found, by k (ε = 1, h = 12)",
            found,
            TABLE_3,
            [(str(k), EPSILON, HEIGHT, f"patterns.{k}") for k in PATTERNS],
        ),
        _patterns(
            f"Table 4: found of the top {MOST_PATTERNS}, by ε (h = 12)",
            found,
            TABLE_4,
            [(e, e, HEIGHT, f"patterns.{MOST_PATTERNS}") for e in EPSILONS],
        ),
        _patterns(
            f"Table 5: found of the top {MOST_PATTERNS}, by height h (ε = 1)",
            found,
            TABLE_5,
            [(str(h), EPSILON, h, f"patterns.{MOST_PATTERNS}") for h in HEIGHTS],
        ),
        _queries_by_epsilon(found),
        _queries_by_height(found),
        _seconds(found),
    ]


def statements(found: Reproduction) -> list[str]:
    """Returns what a reader should know beside the tables."""
    lines = []
    for data in _DATA:
        error = found.of(data, "learned", EPSILONS[0], HEIGHT, f"queries.{QUERY_LENGTHS[0]}")
        if error is not None:
            lines.append(
                f"{data}: the mean relative error of learnt records at ε = {EPSILONS[0]} with "
                f"queries of up to {QUERY_LENGTHS[0]} places is {error.mean:.1%} (printed: "
                f"below {WORST_QUERY_ERROR:.1%})."
            )
        stopped = found.of(data, "Simple", EPSILON, HEIGHT, "stopped")
        if stopped is not None and stopped.mean > 0:
            lines.append(
                f"{data}: Simple with the paper's thresholds is supercritical: a false node has "
                "more than one false child on average. Its trees were cut off where they had too "
                "many nodes, so the numbers of Simple are not those of the whole tree."
            )
    lines.append(f"Printed: every release took less than {MOST_SECONDS:g} s (2012).")
    return lines


def _patterns(
    title: str, found: Reproduction, printed: Found, columns: Sequence[tuple[str, str, int, str]]
) -> StudyTable:
    rows = []
    for data in _DATA:
        for method in METHODS:
            row = [data, method]
            for label, epsilon, height, figure in columns:
                row.append(_text(found.of(data, method, epsilon, height, figure)))
                known = printed.get(method, {}).get(data, {}).get(label)
                row.append("" if known is None else f"{known}")
            rows.append(row)
    heads = beside_printed(label for label, *_ in columns)
    return StudyTable(title=title, columns=["data", "method", *heads], rows=rows)


def _queries_by_epsilon(found: Reproduction) -> StudyTable:
    rows = [
        [
            data,
            method,
            epsilon,
            *(
                _text(found.of(data, method, epsilon, HEIGHT, f"queries.{longest}"))
                for longest in QUERY_LENGTHS
            ),
        ]
        for data in _DATA
        for method in METHODS
        for epsilon in EPSILONS
    ]
    return StudyTable(
        title="Figure 3: mean relative error of count queries, by longest query (h = 12)",
        columns=["data", "method", "ε", *(f"#{longest}" for longest in QUERY_LENGTHS)],
        rows=rows,
    )


def _queries_by_height(found: Reproduction) -> StudyTable:
    figure = f"queries.{QUERY_LENGTHS[1]}"
    return StudyTable(
        title=f"Figure 4: mean relative error, queries of up to {QUERY_LENGTHS[1]} (ε = 1)",
        columns=["data", "method", *(f"#h = {height}" for height in HEIGHTS)],
        rows=[
            [data, method, *(_text(found.of(data, method, EPSILON, h, figure)) for h in HEIGHTS)]
            for data in _DATA
            for method in METHODS
        ],
    )


def _seconds(found: Reproduction) -> StudyTable:
    rows = [
        [data, f"{records:,} records", f"{seconds:.2f}"]
        for data, times in found.seconds_by_records.items()
        for records, seconds in times.items()
    ]
    rows += [
        ["Bus", f"{places:,} places", f"{seconds:.2f}"]
        for places, seconds in found.seconds_by_locations.items()
    ]
    return StudyTable(
        title="Figure 5: seconds of one release (ε = 1, h = 20, learned)",
        columns=["data", "size", "#seconds"],
        rows=rows,
    )


def _text(interval: Interval | None) -> str:
    return "" if interval is None else str(interval)
