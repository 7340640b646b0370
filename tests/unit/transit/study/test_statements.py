"""What is said of the transit study, from numbers that were made up."""

from collections.abc import Mapping, Sequence

import pytest

from hushway.transit.study.report import Verdict, compared, headline_tables, statements
from hushway.transit.study.reproduce import EPSILONS, tasks_of
from hushway.transit.study.run import (
    DAYS,
    MECHANISMS,
    ORDER,
    SERVICE_FIGURES,
    TABLE_1,
    ODMTSReproduction,
    Outcome,
    Task,
)

TRUE = (99.0, 100.0, 101.0)
IN_ORDER = {
    name: [100.0 + 10 * place + run for run in range(3)] for place, name in enumerate(ORDER, 1)
}


def weekday(shuttles: Mapping[str, Sequence[float]], epsilon: str = "1") -> ODMTSReproduction:
    """A study of three runs."""
    outcomes = []
    for run, true in enumerate(TRUE):
        known: dict[str, float] = {"truth": true}
        known |= {name: values[run] for name, values in shuttles.items()}
        for name, value in known.items():
            task = Task(
                day="weekday", epsilon=None if name == "truth" else epsilon, mechanism=name, run=run
            )
            outcomes.append(Outcome(task=task, figures=dict.fromkeys(SERVICE_FIGURES, value)))
    return ODMTSReproduction(runs=3, trips={"weekday": 5}, outcomes=tuple(outcomes))


def test_the_study_sizes_what_the_paper_could() -> None:
    tasks = list(tasks_of(runs=2, days=DAYS, epsilons=EPSILONS, mechanisms=tuple(MECHANISMS)))
    assert len(tasks) == len(set(tasks)) == 2 * (1 + 9 + 3 * 5 + 1 + 9)
    assert [task.run for task in tasks] == sorted(task.run for task in tasks)
    small = {task.mechanism for task in tasks if task.epsilon not in {None, "1"}}
    assert small == {"O5", "O4", "O3", "default", "learned"}
    assert {task.day for task in tasks if task.epsilon == "0.1"} == {"weekday"}


def test_the_printed_order_is_that_of_the_printed_errors() -> None:
    for errors in TABLE_1.values():
        assert list(ORDER) == sorted(errors, key=lambda name: errors[name][0])


def test_errors_are_relative_to_the_mean_of_the_truth() -> None:
    found = weekday({"O5": [90, 110, 130]})
    assert found.errors("weekday", "1", "O5", "shuttles") == pytest.approx([0.1, 0.1, 0.3])
    assert found.error("weekday", "1", "O5", "shuttles").mean == pytest.approx(0.5 / 3)


def test_runs_are_compared_in_pairs() -> None:
    # Runs differ by far more than mechanisms do, and yet in each run the first is the better one.
    found = weekday({"O5": [110, 210, 310], "O4": [112, 213, 312]})
    assert compared(found, "weekday", "O5", "O4") is Verdict.COMES_OUT
    assert compared(found, "weekday", "O4", "O5") is Verdict.REVERSED


def test_what_luck_can_explain_is_not_told_apart() -> None:
    found = weekday({"O5": [110, 120, 110], "O4": [112, 110, 120], "O3": [110, 120, 110]})
    assert compared(found, "weekday", "O5", "O4") is Verdict.UNTOLD
    assert compared(found, "weekday", "O5", "O3") is Verdict.UNTOLD


def test_a_printed_order_that_comes_out_is_said_to() -> None:
    lines = statements(weekday(IN_ORDER))
    assert "that O5 is nearest to the true fleet of the seven comes out." in lines[0]
    assert "that Laplace is farthest from it comes out." in lines[1]
    assert "of the 21 pairs" in lines[2]
    assert "in the error of shuttles: 21 as printed. Errors: O5 0.110, O4 0.210" in lines[2]


def test_pairs_that_do_not_come_out_are_named() -> None:
    swapped = {**IN_ORDER, "H4": IN_ORDER["Laplace"], "Laplace": IN_ORDER["H4"]}
    luck = {**swapped, "O5": [140.0, 101.0, 110.0]}
    lines = statements(weekday(luck))
    assert "nearest to the true fleet of the seven cannot be told in so many runs" in lines[0]
    assert "(because of O4" in lines[0]
    assert "farthest from it does not come out (because of H4 and H3)" in lines[1]
    assert "3 the other way round (H4 < H3, H4 < Laplace and H3 < Laplace)" in lines[2]


def test_a_single_mechanism_is_not_ordered() -> None:
    assert statements(weekday({"O5": [110, 120, 130]})) == []


def test_one_run_tells_nothing() -> None:
    found = weekday(IN_ORDER)
    first = tuple(outcome for outcome in found.outcomes if outcome.task.run == 0)
    lines = statements(ODMTSReproduction(runs=1, trips=found.trips, outcomes=first))
    assert "0 as printed; 21 not to be told in so many runs. Errors" in lines[2]


def test_what_was_not_run_is_a_dash() -> None:
    one = weekday({"O5": [110, 120, 130], "Laplace": [200, 210, 220]})
    other = weekday({"O5": [110, 120, 130]}, epsilon="0.1")
    both = ODMTSReproduction(
        runs=3,
        trips=one.trips,
        outcomes=(*one.outcomes, *(o for o in other.outcomes if o.task.epsilon)),
    )
    table = headline_tables(both)[1]
    assert table.columns == ["mechanism", "#ε = 1", "#ε = 0.1"]
    assert [row[0] for row in table.rows] == ["O5", "Laplace", "truth"]
    assert table.rows[1][2] == "\N{EN DASH}"
    assert "within 24 hours either" in statements(both)[-1]
