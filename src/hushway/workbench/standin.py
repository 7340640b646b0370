"""What a release would look like at a budget: the plan's mechanism on invented rows.

Privacy:
    Neither rows nor ledger are touched. Everything follows from public files and a guess, the noise
    from a fixed seed, and whatever is drawn is stamped as invented.
"""

import base64
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hushway.errors import HushwayError
from hushway.facts.price import crowd_of
from hushway.families.load import load_plan, prepare
from hushway.families.registry import contents_of, family_named
from hushway.privacy.certificate import Certificate
from hushway.privacy.curator import Curator
from hushway.privacy.ledger import Account
from hushway.privacy.loss import exact, total
from hushway.privacy.query import Counter
from hushway.privacy.randomness import SeededSource
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.forecast.study_budget import StudyBudget
from hushway.release.job import Job
from hushway.steward.certify import draft_certificate
from hushway.steward.curves.curve import FigureError, errors_at
from hushway.steward.price import can_be_foreseen
from hushway.workbench.standin_fleet import sized_fleet
from hushway.workbench.voice import Voice

_USUAL: Final = 10_000
_SEED: Final = 1


class InventedCertificate(Certificate):
    """What stands on a picture of invented rows. It is never written anywhere else."""

    @property
    def stamp(self) -> str:
        """What is written across the picture."""
        return "INVENTED"


def stand_in(file: Path, options: Mapping[str, Any], voice: Voice) -> dict[str, Any]:
    """Publishes invented rows at a budget, and draws what comes out.

    Raises:
        HushwayError: The plan or the guess makes no sense.
    """
    crowd = crowd_of(options.get("trips"), options.get("people"))
    if crowd is None:
        crowd = ExpectedPopulation(trips=_USUAL)
    planned = prepare(load_plan(file))
    family = family_named(planned.plan.release_type)
    job = _at(planned, exact(options["epsilon"]))
    answer: dict[str, Any] = {
        "picture": None,
        "caption": f"Invented {family.guessed} of about that number over your own public files: "
        "what the mechanism makes of them at this budget. Nothing here is about anybody.",
        "errors": [_facts(one) for one in _errors(job, crowd)],
        "fleet": None,
        "note": None,
    }
    invent = family.invented_rows
    if invent is None:
        answer["note"] = f"No rows are invented for the release type {family.name}."
        return answer
    voice.progress(f"Inventing {family.guessed}")
    try:
        counter = invent(job, crowd)
    except HushwayError as reason:
        answer["note"] = f"{reason} {reason.advice}"
        return answer
    table = _published(job, counter, voice)
    voice.progress("Drawing")
    picture = contents_of(table).picture(_certificate(job))
    answer["picture"] = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    answer["fleet"] = sized_fleet(job, table, counter, file.parent, voice)
    return answer


def _at(job: Job, epsilon: Fraction) -> Job:
    privacy = job.plan.privacy.model_copy(update={"epsilon": epsilon})
    plan = job.plan.model_copy(update={"privacy": privacy})
    return family_named(plan.release_type).replan(job, plan)


def _errors(job: Job, crowd: ExpectedPopulation) -> tuple[FigureError, ...]:
    """Returns errors of what is published where they can be foreseen, else noise."""
    foreseen = can_be_foreseen(job)
    try:
        return errors_at(job, job.plan.privacy.epsilon, crowd if foreseen else None)[0]
    except HushwayError:
        # Such as a density without a guess of people.
        return errors_at(job, job.plan.privacy.epsilon, None)[0]


def _facts(error: FigureError) -> dict[str, Any]:
    return {**vars(error), "share": error.share}


def _published(job: Job, counter: Counter, voice: Voice) -> Any:
    voice.progress("Counting them with noise")
    curator = Curator(counter=counter, budget=StudyBudget(), source=SeededSource(_SEED))
    measured = job.mechanism.measure(curator, job.geography)
    voice.progress("Fitting")
    return job.mechanism.fit(measured, job.geography)


def _certificate(job: Job) -> InventedCertificate:
    """Returns what the picture says about itself; its account is as invented as its rows."""
    account = Account(
        key=job.account,
        budget_limit=total(job.mechanism.losses),
        delta=None,
        spent=Fraction(0),
        opened_at=datetime.now(UTC),
    )
    draft = draft_certificate(job, account, SeededSource(_SEED))
    return InventedCertificate(**{one.name: getattr(draft, one.name) for one in fields(draft)})
