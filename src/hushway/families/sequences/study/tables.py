"""The reproduction of the prefix-tree paper as tables, beside what the paper prints."""

from collections.abc import Sequence

from hushway.families.sequences.study.published import (
    MOST_SECONDS,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    WORST_QUERY_ERROR,
    Found,
)
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
from hushway.study.interval import Interval
from hushway.study.study_table import StudyTable

_DATA = ("Metro", "Bus")


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
        error = found.of(data, "completed", EPSILONS[0], HEIGHT, f"queries.{QUERY_LENGTHS[0]}")
        if error is not None:
            lines.append(
                f"{data}: the mean relative error of completed records at ε = {EPSILONS[0]} with "
                f"queries of up to {QUERY_LENGTHS[0]} locations is {error.mean:.1%} (printed: "
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
    title: str,
    found: Reproduction,
    printed: Found,
    columns: Sequence[tuple[str, str, int, str]],
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
    heads = [head for label, *_ in columns for head in (f"#{label}", "#printed")]
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
        ["Bus", f"{places:,} locations", f"{seconds:.2f}"]
        for places, seconds in found.seconds_by_locations.items()
    ]
    return StudyTable(
        title="Figure 5: seconds of one release (ε = 1, h = 20, default)",
        columns=["data", "size", "#seconds"],
        rows=rows,
    )


def _text(interval: Interval | None) -> str:
    return "" if interval is None else str(interval)
