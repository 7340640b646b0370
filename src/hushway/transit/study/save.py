"""Saves the transit study: numbers, tables, figure 5(c, d) and the sized network."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hushway.privacy.internal import Internal
from hushway.study.interval import Interval
from hushway.transit.study.day import WINDOW_S, study_day
from hushway.transit.study.numbers import ODMTSReproduction
from hushway.transit.study.reproduce import DAY_OF_ALL_BUDGETS
from hushway.transit.study.run import SERVICE_FIGURES, TABLE_FIGURES, true_fleet
from hushway.transit.study.statements import statements
from hushway.transit.study.tables import further_tables, headline_tables

NUMBERS = "odmts-numbers.json"
TABLES = "odmts-tables.md"
FIGURE = "figure-5cd.png"
NETWORK = "network-weekday.png"


def save_odmts(found: Internal[ODMTSReproduction], folder: Path) -> None:
    """Writes odmts-numbers.json, odmts-tables.md and the pictures into a folder.

    Pictures are of the weekday; a study without it has none.
    """
    value = found.value
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(_facts(value), indent=1, ensure_ascii=False, allow_nan=False)
    (folder / NUMBERS).write_text(text + "\n", encoding="utf-8")
    tables = "\n".join(
        table.markdown() for table in (*headline_tables(value), *further_tables(value))
    )
    notes = "\n".join(f"- {line}" for line in statements(value))
    (folder / TABLES).write_text(f"{tables}\n{notes}\n", encoding="utf-8")
    if DAY_OF_ALL_BUDGETS in value.days:
        _draw(value, folder)


def _draw(value: ODMTSReproduction, folder: Path) -> None:
    # Matplotlib takes longest of all to load.
    from hushway.transit.picture.picture import draw_network
    from hushway.transit.study.picture import draw_figure_5cd

    draw_figure_5cd(value, folder / FIGURE)
    routes = study_day(DAY_OF_ALL_BUDGETS).routes
    plan, trips = true_fleet(DAY_OF_ALL_BUDGETS).value
    title = f"Sized by the exact trips, {_hours()}"
    picture = draw_network(plan, routes.network, title=title, routes=routes, trips=trips)
    (folder / NETWORK).write_bytes(picture)


def _hours() -> str:
    start_s, end_s = WINDOW_S
    return f"{DAY_OF_ALL_BUDGETS} {start_s // 3600:02d}:00-{end_s // 3600:02d}:00"


def _facts(value: ODMTSReproduction) -> dict[str, Any]:
    figures = []
    for day, epsilon, name in value.settings:
        for figure in (*SERVICE_FIGURES, *TABLE_FIGURES):
            facts: dict[str, Any] = {
                "day": day,
                "epsilon": epsilon,
                "mechanism": name,
                "figure": figure,
                **_known(value.of(day, epsilon, name, figure)),
            }
            if epsilon is not None and figure in SERVICE_FIGURES and value.true(day, figure).mean:
                facts["relative_error"] = _known(value.error(day, epsilon, name, figure))
            figures.append(facts)
    return {
        "runs": value.runs,
        "trips": value.trips,
        "figures": figures,
        "statements": statements(value),
    }


def _known(interval: Interval) -> dict[str, float | None]:
    """Returns an interval as JSON can hold it: what is not a number is left empty."""
    return {name: None if math.isnan(x) else x for name, x in asdict(interval).items()}
