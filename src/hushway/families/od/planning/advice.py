"""What to put into an OD plan: published totals, a contribution limit, and whether that is enough.

Everything follows from public files and a guess, so it costs nothing and may be printed anywhere.
"""

import json
from contextlib import suppress
from typing import Any, Final

from hushway.errors import HushwayError, PlanError
from hushway.families.od.job import possible_features, prepare_od
from hushway.families.od.mechanism.cbdp import CBDPOptions
from hushway.families.od.mechanism.learned import LearnedOptions
from hushway.families.od.mechanism.options import CELLS, FeaturePlan, known_features
from hushway.families.od.plan import ODPlan
from hushway.families.od.planning.forecast import forecast_od
from hushway.families.od.planning.recommend import Candidate, make_stand_in, plan_lines, recommend
from hushway.families.od.public.cells import ODCells
from hushway.privacy.accounting import rho_for
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, total
from hushway.progress import Progress
from hushway.release.forecast.advice import Advice, Choice, enough_for_crowd
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.job import Job
from hushway.tables.first_lines import read_header

# Each of them makes everything be tried once more.
_MOST_COLUMNS: Final = 3
_OTHER_NOISE: Final = {
    "laplace": "Laplace noise has the smaller errors here, and its guarantee needs no delta.",
    "gaussian": "Gaussian noise has the smaller errors here: its account is kept in rho.",
}
# About ten fits of a table of so many cells take half a minute.
MOST_TRIED: Final = 1 << 19


def recommend_od(job: Job, crowd: ExpectedPopulation, *, runs: int, progress: Progress) -> Advice:
    """Tries mechanism, published totals and contribution limit on invented trips.

    Totals that the plan does not name are tried too: by origin and destination, and by columns that
    its public file of places has and the plan makes nothing of.

    Privacy:
        Reads no row and spends nothing: the trips are invented, and so is the budget.

    Raises:
        PlanError: The guess is not that of a city, or says nothing of people.
    """
    if crowd.people is None:
        raise PlanError(
            "Which contribution limit is best depends on the people behind the trips.",
            advice="Give --people too: a public guess, never a count.",
        )
    plan = job.plan
    assert isinstance(plan, ODPlan)  # noqa: S101  what an OD job is made from
    if job.geography.size > MOST_TRIED:
        return _untried(job, crowd)
    wider, added = _widened(plan)
    cells = prepare_od(wider).geography
    assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
    progress("Inventing trips")
    stand_in = make_stand_in(
        cells,
        possible_features(wider, cells),
        budgets=_budgets(job, plan),
        unit=plan.privacy.unit,
        trips=crowd.trips,
        people=crowd.people,
        runs=runs,
    )
    tried = recommend(stand_in, progress=progress)
    best = tried[0].candidate
    progress("Asking whether that is enough")
    settled = prepare_od(_settled(wider, best))
    return Advice(
        measured="Trips misplaced on invented rows, as a share of all trips (less is better)",
        tried=tuple(
            Choice(options=_options(one.candidate), score=one.score, details=one.misplaced)
            for one in tried
        ),
        lines=plan_lines(best) + _definitions(best, added),
        could_add=tuple(_could_add(plan, best, added)),
        enough=tuple(enough_for_crowd(forecast_od(settled, crowd), job.wording.counted)),
    )


def _budgets(job: Job, plan: ODPlan) -> dict[str, Loss]:
    """Returns what the plan may cost with each kind of noise that it allows."""
    epsilon, delta = plan.privacy.epsilon, plan.privacy.delta
    if delta is None:
        spent = total(job.mechanism.losses)
        return {spent.measure.noise.removeprefix("discrete ").lower(): spent}
    return {"laplace": PureLoss(epsilon), "gaussian": ZCDPLoss(rho_for(epsilon, delta))}


def _untried(job: Job, crowd: ExpectedPopulation) -> Advice:
    """Says of a table that is too large to be tried many times whether the plan is enough."""
    too_large = (
        f"Published totals are tried on tables of at most {MOST_TRIED:,} cells, and this one has "
        f"{job.geography.size:,}: the plan's own are kept."
    )
    enough = enough_for_crowd(forecast_od(job, crowd), job.wording.counted)
    return Advice(measured="", tried=(), lines="", could_add=(too_large,), enough=tuple(enough))


def _widened(plan: ODPlan) -> tuple[ODPlan, tuple[str, ...]]:
    """Returns the plan with totals by columns of the places that it makes nothing of."""
    wider = plan.model_copy(update={"mechanism": LearnedOptions()})
    added: list[str] = []
    for column in _spare_columns(plan):
        more = wider.model_copy(
            update={
                "published_totals": {**wider.published_totals, column: FeaturePlan(places=column)}
            }
        )
        # A column with gaps cannot be summed by: somebody's notes, or nothing at all.
        with suppress(HushwayError):
            cells = prepare_od(more).geography
            assert isinstance(cells, ODCells)  # noqa: S101  what an OD plan makes
            if 1 < len(set(cells.locations.labels_in(column))) < len(cells.locations):
                wider = more
                added.append(column)
        if len(added) == _MOST_COLUMNS:
            break
    return wider, tuple(added)


def _spare_columns(plan: ODPlan) -> list[str]:
    """Returns columns of the public file of places that the plan does not speak of."""
    if plan.places.file is None:
        return []
    file = plan.path(plan.places.file)
    if not file.name.endswith((".csv", ".csv.gz")):
        return []
    _, header = read_header(file)
    taken = {*dict(plan.places.columns).values(), *known_features(plan.published_totals), CELLS}
    used = {feature.places for feature in plan.defined_features.values()}
    return [name for name in header if name.strip() and name not in taken | used]


def _options(candidate: Candidate) -> dict[str, Any]:
    """Returns what was chosen, by the words of the plan."""
    return {
        "mechanism": candidate.mechanism,
        "published_totals": candidate.features,
        "max_trips": candidate.max_trips,
        "noise": candidate.noise,
    }


def _settled(wider: ODPlan, best: Candidate) -> ODPlan:
    options = CBDPOptions if best.mechanism == "cbdp" else LearnedOptions
    mechanism = options.model_validate(
        {"name": best.mechanism, "published_totals": best.features, "noise": best.noise}
    )
    privacy = wider.privacy.model_copy(update={"max_trips": best.max_trips})
    return wider.model_copy(update={"mechanism": mechanism, "privacy": privacy})


def _definitions(best: Candidate, added: tuple[str, ...]) -> str:
    return "".join(
        f"\n[published_totals.{json.dumps(name)}]\nplaces = {json.dumps(name)}\n"
        for name in added
        if name in best.features
    )


def _could_add(plan: ODPlan, best: Candidate, added: tuple[str, ...]) -> list[str]:
    words = [
        f"Totals by {name!r}, a column of your file of places, {_verdict(name, best)}."
        for name in added
    ]
    if plan.places.pairs is None:
        words.append(
            "Totals by what is public about pairs of places, such as a mode or a corridor, could "
            "be tried too: name a table of them as places.pairs."
        )
    if best.noise != plan.mechanism.asked_noise:
        words.append(_OTHER_NOISE[best.noise])
    return words


def _verdict(name: str, best: Candidate) -> str:
    return "make the others better" if name in best.features else "cost more than they tell"
