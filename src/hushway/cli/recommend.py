"""Advice for a plan: what to measure, and how many trips of a person to count."""

from typing import Annotated

import typer

from hushway.cli.addresses import PlanFile
from hushway.cli.screen import AsJson, answer_json, say, table, working
from hushway.errors import PlanError

_SHOWN = 8


def recommend(
    plan_file: PlanFile,
    *,
    trips: Annotated[int, typer.Option(help="A guess: trips in the window.", min=1)],
    people: Annotated[int, typer.Option(help="A guess: people who make them.", min=1)],
    runs: Annotated[int, typer.Option(help="How often each choice is tried.", min=1)] = 3,
    as_json: AsJson = False,
) -> None:
    """Try features, split and cap on a synthetic twin; neither rows nor budget are touched."""
    from hushway.families.load import load_plan, prepare
    from hushway.families.od.job_features import possible_features
    from hushway.families.od.plan import ODPlan
    from hushway.families.od.public.cells import ODCells
    from hushway.families.od.study.recommend import make_twin, plan_lines
    from hushway.families.od.study.recommend import recommend as try_all
    from hushway.privacy.loss import total

    plan = load_plan(plan_file)
    if not isinstance(plan, ODPlan):
        raise PlanError(
            "There is nothing to recommend for this family yet.", advice="Give an OD plan."
        )
    job = prepare(plan)
    budget = total(job.mechanism.losses)
    cells = job.geography
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    with working() as show:
        show("Inventing a twin")
        twin = make_twin(
            cells,
            possible_features(plan, cells),
            budget=budget,
            unit=plan.privacy.unit,
            trips=trips,
            people=people,
            runs=runs,
        )
        tried = try_all(twin, progress=show)
    best = tried[0].candidate
    if as_json:
        answer_json(
            {
                "best": vars(best),
                "tried": [
                    {**vars(one.candidate), "misplaced": one.misplaced, "score": one.score}
                    for one in tried
                ],
            }
        )
        return
    figures = list(tried[0].misplaced)
    table(
        "Trips misplaced on the twin, as a share of all trips (less is better)",
        ["features", "split", "#max_trips", "#mean", *(f"#{figure}" for figure in figures)],
        [
            [
                ", ".join(one.candidate.features),
                one.candidate.split,
                f"{one.candidate.max_trips}",
                f"{one.score:.3f}",
                *(f"{one.misplaced[figure]:.3f}" for figure in figures),
            ]
            for one in tried[:_SHOWN]
        ],
    )
    say("For your plan (invented trips decided this; your own were not looked at):")
    for line in plan_lines(best, budget).split("\n"):
        say(line)
